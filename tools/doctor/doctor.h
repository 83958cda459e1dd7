/*
 * `variopath doctor`: what this machine and this Open MPI offer, and what is in
 * the way. Each part looks at one subject and adds findings; what it learns for
 * later parts and for the bundle stays in vp_doctor_t.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_DOCTOR_H
#define VP_TOOLS_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "catalog/model.h"
#include "tools/doctor/outside.h"

typedef enum vp_level { VP_LEVEL_OK, VP_LEVEL_NOTE, VP_LEVEL_WARNING, VP_LEVEL_ERROR } vp_level_t;

/* "ok", "note", "warning", "error" */
const char *vp_level_text(vp_level_t level);

typedef struct vp_finding {
    vp_level_t level;
    const char *section;
    char *what;
    const char *remedy;   /* "": there is nothing to do */
    const char *document; /* "docs/troubleshooting.md#containers" */
} vp_finding_t;

typedef struct vp_doctor {
    /* What the user asked for. */
    const char *root;   /* before /sys, /proc and /dev: "", or a copy of a machine's */
    const char *mpirun; /* its Open MPI is looked at */
    int timeout_ms;     /* of each program and of each library that is asked */

    vp_finding_t *findings;
    size_t n_findings;
    size_t capacity;
    const char *section;
    bool is_incomplete; /* memory ran out */

    /* What the parts have learnt. */
    char *versions;    /* lines "what: version" */
    char *parameters;  /* of ompi_info; NULL: not to be had */
    char *component;   /* path of the component that Open MPI loads; NULL: none */
    char *topology;    /* text of a topology file of this machine; NULL: not found out */
    vp_model_t *model; /* of the configured topology or catalog, else of this machine */
    bool is_listed;    /* ompi_info shows the component */
    bool has_driver;
    bool has_ucx_cuda;
    bool has_peers;
    unsigned n_gpus;
} vp_doctor_t;

/* A finding in the current section; remedy and document are not copied. */
void vp_doctor_add(vp_doctor_t *doctor, vp_level_t level, const char *remedy, const char *document,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A line for the versions. */
void vp_doctor_note_version(vp_doctor_t *doctor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* First line of a file below the root, in static storage; NULL: it cannot be read. */
const char *vp_doctor_line(const vp_doctor_t *doctor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Value of a parameter of the component, in static storage; NULL: not known. */
const char *vp_doctor_parameter(const vp_doctor_t *doctor, const char *name);

/* Runs the ompi_info of the Open MPI that is looked at; arguments end with NULL, 8 at most. */
vp_outcome_t vp_doctor_ask_ompi(const vp_doctor_t *doctor, char *const *arguments, char **text_p);

/* The parts, in the order in which they are to run. */
void vp_doctor_look_at_ompi(vp_doctor_t *doctor);
void vp_doctor_look_at_ucx(vp_doctor_t *doctor);
void vp_doctor_look_at_gpus(vp_doctor_t *doctor);
void vp_doctor_look_at_topology(vp_doctor_t *doctor);
void vp_doctor_look_at_bus(vp_doctor_t *doctor);
void vp_doctor_look_at_limits(vp_doctor_t *doctor);
void vp_doctor_look_at_slurm(vp_doctor_t *doctor);
void vp_doctor_look_at_calls(vp_doctor_t *doctor);

/* {"findings": [...], "errors": N, "warnings": N}; NULL: out of memory. */
json_t *vp_doctor_pack(const vp_doctor_t *doctor);
size_t vp_doctor_count(const vp_doctor_t *doctor, vp_level_t level);
void vp_doctor_release(vp_doctor_t *doctor);

/* Writes a .tar.gz with all of it and the trace (NULL: none), without host and user names. */
vp_status_t vp_doctor_bundle(const vp_doctor_t *doctor, const char *trace, const char *path,
                             vp_error_t *error) VP_MUST_CHECK;
/*
 * Replaces, in new memory, names of this host, this user and the home directory,
 * where they stand as words, by HOST, USER and HOME. NULL: out of memory.
 */
char *vp_doctor_scrub(const char *text);

#endif
