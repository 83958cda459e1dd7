/*
 * A topology file as read: one node, to be copied; private to this room.
 * Texts are borrowed from the JSON document.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_TOPOLOGY_SPEC_H
#define VP_CATALOG_TOPOLOGY_SPEC_H

#include "catalog/json_read.h"
#include "catalog/model.h"

/* Limits of one file; they keep every product far below 32 bits. */
enum {
    VP_SPEC_MAX_NICS = 1024,
    VP_SPEC_MAX_LINKS = 4096,
    VP_SPEC_MAX_PATHS = 4096,
    VP_SPEC_MAX_CLASSES = 256,
    VP_SPEC_MAX_CONTENTION = 64,
    VP_SPEC_NAME_BYTES = 128, /* leaves room for "node1023/" and ":tx" */
    VP_SPEC_TEXT_BYTES = 1023,
    VP_SPEC_MAX_INSTANCES = 8 * 1024 * 1024
};
#define VP_SPEC_MAX_BYTES_PER_S UINT64_C(1000000000000000)
#define VP_SPEC_MAX_NS UINT64_C(1000000000)

typedef struct vp_spec_rate {
    uint64_t bytes_per_s;
    const char *origin;
} vp_spec_rate_t;

typedef struct vp_spec_switch {
    const char *name;
    uint32_t n_gpus;
} vp_spec_switch_t;

typedef struct vp_spec_nic {
    const char *name;
    uint32_t switch_idx;
    uint32_t rail; /* its position among the NICs of its switch */
    uint32_t path_class;
    vp_spec_rate_t rate;
} vp_spec_nic_t;

typedef struct vp_spec_link {
    const char *name;
    vp_resource_kind_t kind;
    vp_spec_rate_t rate;
} vp_spec_link_t;

typedef struct vp_spec_path {
    vp_path_kind_t kind;
    uint32_t from;
    uint32_t to;
    uint32_t path_class;
    uint32_t n_links;
    uint32_t links[VP_MAX_FOOTPRINT]; /* ascending */
    vp_spec_rate_t rate;
} vp_spec_path_t;

typedef struct vp_spec_class {
    const char *name;
    const char *tls;
    const char *devices;
} vp_spec_class_t;

typedef struct vp_spec_contention {
    const char *name;
    uint32_t n_entries[VP_N_CONTENTION_TABLES];
    uint32_t share_ppm[VP_N_CONTENTION_TABLES][VP_MAX_CONTENTION_ENTRIES];
    const char *origin[VP_N_CONTENTION_TABLES];
} vp_spec_contention_t;

typedef struct vp_spec {
    const char *name;
    const char *rates;     /* name of the rate set in use */
    const char *transport; /* name of the transport set in use */
    uint32_t n_nodes;
    uint64_t alpha_ns;
    uint64_t put_overhead_ns;
    vp_spec_rate_t gpu_link;
    bool is_any_nic_pair; /* every NIC to every NIC, not rail to rail */
    uint32_t n_switches;
    uint32_t n_nics;
    uint32_t n_links;
    uint32_t n_paths;
    uint32_t n_classes;
    uint32_t n_contention;
    vp_spec_switch_t *switches;
    vp_spec_nic_t *nics;
    vp_spec_link_t *links;
    vp_spec_path_t *paths;
    vp_spec_class_t *classes;
    vp_spec_contention_t *contention;
} vp_spec_t;

/* What a TOPOLOGY argument chooses. */
typedef struct vp_spec_choice {
    uint32_t n_nodes; /* 0: the file's */
    const char *rates;
    const char *transport;
} vp_spec_choice_t;

/*
 * Reads the document into a zeroed spec, which the caller clears whatever
 * comes back. VP_ERR_BAD_INPUT; VP_ERR_USAGE: no such set; VP_ERR_LIMIT;
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_spec_read(vp_json_document_t *document, const vp_spec_choice_t *choice,
                         vp_spec_t *spec) VP_MUST_CHECK;
void vp_spec_clear(vp_spec_t *spec);

/* The sets that rates and path classes are looked up in, validated before anything names them. */
typedef struct vp_spec_sets {
    vp_spec_t *spec;
    vp_json_t rates;      /* $.rates */
    vp_json_t transports; /* $.transports */
} vp_spec_sets_t;

/* Validates all sets and that the chosen ones are there; sets->spec is set before. */
void vp_spec_read_sets(const vp_json_t *root, const vp_spec_choice_t *choice, vp_spec_sets_t *sets);
/* Resolves the member `key`, the name of a rate, in the chosen rate set. */
vp_spec_rate_t vp_spec_find_rate(const vp_json_t *json, const char *key,
                                 const vp_spec_sets_t *sets);
/* Resolves the member "class" to its index; a class gets one when it is first named. */
uint32_t vp_spec_find_class(const vp_json_t *json, const vp_spec_sets_t *sets);

/* Reads "contention" ($) into spec->contention; mistakes stay in the document. */
void vp_spec_read_contention(const vp_json_t *root, vp_spec_t *spec);

/* Zeroed array for a list of n elements; without memory, a mistake at this place and NULL. */
void *vp_spec_array(const vp_json_t *json, size_t n, size_t size);

/* Copies the node n_nodes times into a finished, checked model. */
vp_status_t vp_spec_expand(const vp_spec_t *spec, const char *file, vp_model_t **model_p,
                           vp_error_t *error) VP_MUST_CHECK;

#endif
