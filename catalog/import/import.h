/*
 * Importers: what a user already has about a machine, read into one tree.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_IMPORT_H
#define VP_CATALOG_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "catalog/import/machine.h"

typedef enum vp_import_format {
    VP_IMPORT_AUTO,
    VP_IMPORT_HWLOC,
    VP_IMPORT_NCCL,
    VP_IMPORT_NVIDIA_SMI,
    VP_IMPORT_JSON, /* the native topology file, which is not turned into a tree */
    VP_IMPORT_N_FORMATS
} vp_import_format_t;

/* "auto", "hwloc", "nccl", "nvidia-smi", "json", and back (false: unknown text). */
const char *vp_import_format_text(vp_import_format_t format);
bool vp_import_format_parse(const char *text, vp_import_format_t *format_p);

/*
 * The format that a text is in, by its first characters. VP_ERR_BAD_INPUT
 * when it is none of them.
 */
vp_status_t vp_import_detect(const char *where, const char *text, size_t n_bytes,
                             vp_import_format_t *format_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * Reads a text (zero byte behind its n_bytes) of one format, none of AUTO and
 * JSON, into a finished machine that the caller destroys. `where` is named in
 * messages. *machine_p is untouched on failure. VP_ERR_BAD_INPUT: what is
 * wrong and in which line; VP_ERR_UNSUPPORTED: this build has no reader of the
 * format, or the library behind it does not know this version;
 * VP_ERR_LIMIT; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_import_read(const char *where, const char *text, size_t n_bytes,
                           vp_import_format_t format, vp_hardware_t **machine_p,
                           vp_error_t *error) VP_MUST_CHECK;

/*
 * Reads the machine that this runs on, by hwloc. Quick: from the kernel alone,
 * without asking GPU drivers, which takes seconds on some machines and tells
 * only that there is NVLink. VP_ERR_IO: discovery failed.
 */
vp_status_t vp_import_live(bool is_quick, vp_hardware_t **machine_p,
                           vp_error_t *error) VP_MUST_CHECK;

/* The readers: each fills an empty machine, which vp_import_read finishes. */
vp_status_t vp_import_hwloc(const char *where, const char *text, size_t n_bytes,
                            vp_hardware_t *machine, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_import_hwloc_live(bool is_quick, vp_hardware_t *machine,
                                 vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_import_nccl(const char *where, const char *text, size_t n_bytes,
                           vp_hardware_t *machine, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_import_nvidia_smi(const char *where, const char *text, size_t n_bytes,
                                 vp_hardware_t *machine, vp_error_t *error) VP_MUST_CHECK;

#endif
