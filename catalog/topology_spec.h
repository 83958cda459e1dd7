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
    VP_SPEC_MAX_PORTS = 4096,
    VP_SPEC_MAX_CLASSES = 256,
    VP_SPEC_MAX_CONTENTION = 64,
    VP_SPEC_NAME_BYTES = 128, /* leaves room for "node1023/" and ":tx" */
    VP_SPEC_TEXT_BYTES = 1023
};
#define VP_SPEC_MAX_BYTES_PER_S UINT64_C(1000000000000000)
#define VP_SPEC_MAX_NS UINT64_C(1000000000)

typedef struct vp_spec_rate {
    uint64_t bytes_per_s;
    const char *origin;
} vp_spec_rate_t;

/* A set of links of the node, ascending. */
typedef struct vp_spec_links {
    uint32_t n;
    uint32_t links[VP_MAX_FOOTPRINT];
} vp_spec_links_t;

/* A GPU and the ranks that use it. */
typedef struct vp_spec_gpu {
    vp_pci_t pci;
    uint32_t n_ranks;
    uint32_t first_rank; /* of the node; set by populate */
} vp_spec_gpu_t;

/* A switch of the file; once populated, a rank group. */
typedef struct vp_spec_switch {
    const char *name;
    char suffix[16];    /* behind the name; "": the GPUs of the switch that have one rank each */
    uint32_t first_gpu; /* in gpus; of the file's switches only */
    uint32_t n_gpus;    /* once populated: ranks */
    bool has_host;      /* are the next two given? */
    vp_spec_links_t to_host;
    vp_spec_links_t from_host;
} vp_spec_switch_t;

typedef struct vp_spec_nic {
    const char *name;
    uint32_t switch_idx;
    uint32_t rail; /* its position among the NICs of its switch */
    uint32_t path_class;
    vp_pci_t pci;
    vp_spec_rate_t rate;
    bool is_direct; /* does it reach the memory of GPUs? */
    vp_spec_links_t to_host;
    vp_spec_links_t from_host;
} vp_spec_nic_t;

/* One way of the GPUs of a switch through a NIC. */
typedef struct vp_spec_port {
    uint32_t nic;
    uint32_t switch_idx;
    bool is_staged;      /* through host memory */
    bool is_far;         /* the NIC is of another switch, and :nics=all lets it serve this one */
    vp_spec_links_t out; /* from the GPUs to the NIC */
    vp_spec_links_t in;
    uint64_t out_bytes_per_s;
    uint64_t in_bytes_per_s;
} vp_spec_port_t;

typedef struct vp_spec_link {
    const char *name;
    char suffix[16]; /* behind the name */
    vp_resource_kind_t kind;
    vp_spec_rate_t rate;
} vp_spec_link_t;

typedef struct vp_spec_path {
    vp_path_kind_t kind;
    uint32_t from;
    uint32_t to;
    uint32_t path_class;
    vp_spec_links_t links;
    uint64_t bytes_per_s;
    bool is_direct; /* is it there, or refused and to be staged? */
} vp_spec_path_t;

/* How bytes are staged through host memory. */
typedef struct vp_spec_host {
    bool is_given;
    bool is_alternative; /* also where direct paths are there */
    uint32_t path_class;
    uint64_t bytes_per_s;
} vp_spec_host_t;

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
    bool is_peer_to_peer; /* what holds where a path does not say */
    bool is_gpu_direct;   /* what holds where a NIC does not say */
    vp_spec_host_t host;
    uint32_t n_switches;
    uint32_t n_nics;
    uint32_t n_ports;
    uint32_t n_links;
    uint32_t n_paths;
    uint32_t n_classes;
    uint32_t n_contention;
    uint32_t n_gpus;
    uint32_t n_ranks;    /* of a node; set by populate, as is rank_pci */
    vp_spec_gpu_t *gpus; /* switch by switch of the file */
    vp_pci_t *rank_pci;  /* [n_ranks] */
    vp_spec_switch_t *switches;
    vp_spec_nic_t *nics;
    vp_spec_port_t *ports;
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
    bool is_all_nics;          /* every NIC of a node serves every switch */
    const uint32_t *gpu_ranks; /* [n_gpu_ranks] for vp_spec_populate; NULL: as the file says */
    uint32_t n_gpu_ranks;
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

/* A name of an element: the member `key`. */
const char *vp_spec_read_name(const vp_json_t *json, const char *key);
/* Are the names at the start of n_before elements of `size` bytes all different from `name`? */
void vp_spec_check_unique(const vp_json_t *json, const void *elements, size_t n_before, size_t size,
                          const char *name);
/* Reads the optional member "pci". */
vp_pci_t vp_spec_read_pci(const vp_json_t *json);
/* Resolves the member `key`, the name of a switch. */
uint32_t vp_spec_find_switch(const vp_json_t *json, const char *key, const vp_spec_t *spec);

/* Reads "switches" ($) into spec->switches and spec->gpus; links are there. */
void vp_spec_read_switches(const vp_json_t *root, vp_spec_t *spec);

/* Reads "links" ($) into spec->links. */
void vp_spec_read_links(const vp_json_t *root, const vp_spec_sets_t *sets);
/* Reads the member `key`, a list of names of links; false: it is absent. */
bool vp_spec_read_link_set(const vp_json_t *json, const char *key, const vp_spec_t *spec,
                           vp_spec_links_t *set);
/* Adds the links of another set; only those of that kind, unless it is VP_N_RESOURCE_KINDS. */
bool vp_spec_links_add(const vp_spec_t *spec, vp_spec_links_t *set, const vp_spec_links_t *other,
                       vp_resource_kind_t kind);
/* The slowest of a rate and the rates of the links. */
uint64_t vp_spec_links_rate(const vp_spec_t *spec, const vp_spec_links_t *set, uint64_t rate);

/* Reads "nics" ($) into spec->nics and spec->ports; links and switches are there. */
void vp_spec_read_nics(const vp_json_t *root, const vp_spec_sets_t *sets);

/* Lets every NIC serve every switch that it does not serve yet; paths and NICs are there. */
void vp_spec_serve_all(const vp_json_t *root, vp_spec_t *spec);

/* Reads "host" ($). */
void vp_spec_read_host(const vp_json_t *root, const vp_spec_sets_t *sets);
/*
 * Replaces refused paths and ports by staged ones, and adds staged ones where
 * the file wants alternatives. Everything else has been read.
 */
void vp_spec_stage(const vp_json_t *root, vp_spec_t *spec);

/*
 * Turns switches into rank groups: the GPUs of a switch that have one rank
 * each, and one group for each GPU that several ranks share, whose two
 * directions become links. GPUs without ranks are gone, and what only they
 * used. Everything else has been read and staged; done once.
 */
void vp_spec_populate(const vp_json_t *root, const vp_spec_choice_t *choice, vp_spec_t *spec);

/*
 * May a lane leave a node of one kind by port `out`, one of its ports, and
 * arrive on one of another (or the same, or itself) by port `in`?
 */
bool vp_spec_is_pair(const vp_spec_t *from, const vp_spec_port_t *out, const vp_spec_t *to,
                     const vp_spec_port_t *in, bool is_same_node);
/* The number of such pairs. */
size_t vp_spec_count_pairs(const vp_spec_t *from, const vp_spec_t *to, bool is_same_node);
/* Verifies that all nodes together keep the limits and that every switch reaches another node. */
void vp_spec_check_size(const vp_json_t *root, const vp_spec_t *spec);

/*
 * Makes the document of "KEY=VALUE,...", a synthetic machine. VP_ERR_USAGE
 * names the key and what it takes; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_spec_synthesize(const char *text, json_t **root_p, vp_error_t *error) VP_MUST_CHECK;

/* Reads "contention" ($) into spec->contention; mistakes stay in the document. */
void vp_spec_read_contention(const vp_json_t *root, vp_spec_t *spec);

/* Zeroed array for a list of n elements; without memory, a mistake at this place and NULL. */
void *vp_spec_array(const vp_json_t *json, size_t n, size_t size);

/* Nodes of a machine: which spec each is a copy of. */
typedef struct vp_spec_nodes {
    const vp_spec_t *specs; /* [n_specs], populated; the first one gives names and profiles */
    uint32_t n_specs;
    const uint32_t *node_spec; /* [n_nodes]; NULL: all are the first */
    uint32_t n_nodes;
} vp_spec_nodes_t;

/*
 * Makes a finished, checked model of them. Its path classes are those of all
 * specs, each once. VP_ERR_LIMIT: too large; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_spec_expand(const vp_spec_nodes_t *nodes, const char *file, vp_model_t **model_p,
                           vp_error_t *error) VP_MUST_CHECK;
/* Copies the node spec->n_nodes times. */
vp_status_t vp_spec_expand_one(const vp_spec_t *spec, const char *file, vp_model_t **model_p,
                               vp_error_t *error) VP_MUST_CHECK;

#endif
