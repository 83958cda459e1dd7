/*
 * The topology model and the catalog tree: what exists on a machine, and which
 * sets of paths can run together without contention.
 *
 * Source: VarioPath (arXiv 2609.34340), section 4. Terms are the paper's: rank
 * group V_a, path instance r with footprint L(r), resource set U, channel
 * shape M, channel family B. Deviations: groups may be of different size, and
 * an instance states how often it can be selected (`n_copies`) instead of
 * being listed several times.
 *
 * Everything here is immutable once built, may be shared between threads, and
 * is plain integers: two ranks with equal fingerprints plan identically.
 * Quantities: `_bytes`; `_bytes_per_s` = bytes per second in one direction;
 * `_ns`. An index of one kind is never used for another: rank_idx,
 * group_idx, resource_idx, instance_idx, class_idx.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_MODEL_H
#define VP_CATALOG_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "catalog/pci.h"

/* Limits that every loader enforces; they keep all products below 64 bits and memory bounded. */
enum {
    VP_MAX_RANKS = 4096,
    VP_MAX_GROUPS = 2048,
    VP_MAX_RESOURCES = 256 * 1024,
    VP_MAX_NICS = 32 * 1024,
    VP_MAX_INSTANCES = 12 * 1024 * 1024,
    VP_MAX_FOOTPRINT = 12, /* resources of one instance */
    VP_MAX_CLASSES_PER_RANK = 16,
    VP_MAX_NAME_BYTES = 255
};

/* How a path runs; the PCIe kinds are those of `nvidia-smi topo -m`. */
#define VP_PATH_KIND_MAP(X)                                                                        \
    X(VP_PATH_PIX, "PIX")   /* inside one PCIe switch */                                           \
    X(VP_PATH_PXB, "PXB")   /* across PCIe switches */                                             \
    X(VP_PATH_PHB, "PHB")   /* across a host bridge */                                             \
    X(VP_PATH_NODE, "NODE") /* across host bridges of a socket */                                  \
    X(VP_PATH_SYS, "SYS")   /* across sockets */                                                   \
    X(VP_PATH_NIC, "NIC")   /* out of one NIC, into another */                                     \
    X(VP_PATH_HOST, "HOST") /* staged through host memory, inside a node or over NICs */

typedef enum vp_path_kind {
#define VP_PATH_KIND_ENUM(name, text) name,
    VP_PATH_KIND_MAP(VP_PATH_KIND_ENUM)
#undef VP_PATH_KIND_ENUM
        VP_N_PATH_KINDS
} vp_path_kind_t;

/* What a shared resource of U is. Each is one direction of a physical link. */
#define VP_RESOURCE_KIND_MAP(X)                                                                    \
    X(VP_RESOURCE_INTER_SWITCH, "inter-switch") /* switch to switch */                             \
    X(VP_RESOURCE_UPLINK, "uplink")             /* switch to host bridge */                        \
    X(VP_RESOURCE_DOWNLINK, "downlink")         /* host bridge to switch */                        \
    X(VP_RESOURCE_SOCKET, "socket")             /* socket to socket */                             \
    X(VP_RESOURCE_NIC_TX, "nic-tx")                                                                \
    X(VP_RESOURCE_NIC_RX, "nic-rx")                                                                \
    X(VP_RESOURCE_HOST_MEMORY, "host-memory") /* memory that staged bytes pass through */          \
    X(VP_RESOURCE_GPU_LINK, "gpu-link")       /* a GPU's own, where several ranks share it */

typedef enum vp_resource_kind {
#define VP_RESOURCE_KIND_ENUM(name, text) name,
    VP_RESOURCE_KIND_MAP(VP_RESOURCE_KIND_ENUM)
#undef VP_RESOURCE_KIND_ENUM
        VP_N_RESOURCE_KINDS
} vp_resource_kind_t;

/* Text of a kind ("PIX", "nic-tx"), and the inverse (false: unknown text). */
const char *vp_path_kind_text(vp_path_kind_t kind);
bool vp_path_kind_parse(const char *text, vp_path_kind_t *kind_p);
const char *vp_resource_kind_text(vp_resource_kind_t kind);
bool vp_resource_kind_parse(const char *text, vp_resource_kind_t *kind_p);

/*
 * Ranks whose GPUs hang under one PCIe switch: first_rank .. first_rank +
 * n_ranks - 1. Ranks that share a GPU are a group of their own, whose paths to
 * others use that GPU's links (VP_RESOURCE_GPU_LINK).
 */
typedef struct vp_group {
    char *name; /* "node0/sw0" */
    uint32_t node;
    uint32_t first_rank;
    uint32_t n_ranks; /* g_a >= 1 */
} vp_group_t;

/* One directed shared resource, an element of U. */
typedef struct vp_resource {
    char *name; /* "node0/sw0>sw1", "node1/nic0:tx" */
    vp_resource_kind_t kind;
    uint32_t node;
    uint64_t bytes_per_s; /* > 0 */
    char *origin;         /* where the rate comes from, e.g. "nominal: PCIe 5.0 x16" */
} vp_resource_t;

typedef struct vp_nic {
    char *name; /* "node0/nic0" */
    uint32_t node;
    uint32_t group;
    uint32_t tx_resource;
    uint32_t rx_resource;
    uint64_t bytes_per_s;
    uint32_t path_class; /* index into classes */
    vp_pci_t pci;        /* on its node */
} vp_nic_t;

/*
 * A path class: what carries one end of a lane. A process opens one UCP
 * context for each class that the instances from or to its group name, with
 * UCX_TLS = tls and UCX_NET_DEVICES = devices ("" leaves the devices alone).
 */
typedef struct vp_path_class {
    char *name; /* "pcie", "nic0" */
    char *tls;
    char *devices;
} vp_path_class_t;

/* A path instance r in R_ad: one route between two groups, endpoints open. */
typedef struct vp_instance {
    vp_path_kind_t kind;
    uint32_t from_group;
    uint32_t to_group;
    uint32_t n_copies; /* lanes of one channel that may use it; 1 if it has a footprint */
    uint64_t bytes_per_s;
    uint32_t source_class; /* path classes at both ends */
    uint32_t destination_class;
    uint32_t n_resources;
    uint32_t resources[VP_MAX_FOOTPRINT]; /* footprint L(r), ascending resource_idx */
} vp_instance_t;

/*
 * Contention profile: total rate of a link as parts per million of its own
 * when k distinct sources have data on it; entry k - 1, the last entry holds
 * for all larger k. Tables of kinds that a file leaves out are {1000000}.
 */
enum { VP_CONTENTION_GPU, VP_CONTENTION_UPLINK, VP_CONTENTION_NIC, VP_N_CONTENTION_TABLES };
enum { VP_MAX_CONTENTION_ENTRIES = 16 };

typedef struct vp_contention {
    char *name; /* "ideal", "shares-well", "collapses" */
    uint32_t n_entries[VP_N_CONTENTION_TABLES];
    uint32_t share_ppm[VP_N_CONTENTION_TABLES][VP_MAX_CONTENTION_ENTRIES];
    char *origin[VP_N_CONTENTION_TABLES];
} vp_contention_t;

typedef struct vp_model {
    char *name;      /* "r5080-bf3" */
    char *rates;     /* name of the rate set in use: "nominal", "measured" */
    char *transport; /* name of the transport set in use: "hardware", "local" */
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t n_groups;
    uint32_t n_resources;
    uint32_t n_nics;
    uint32_t n_classes;
    uint32_t n_instances;
    uint32_t n_contention;
    vp_group_t *groups;       /* [n_groups], by first_rank and node, covering all ranks */
    uint32_t *rank_group;     /* [n_ranks] group of each rank */
    vp_pci_t *rank_pci;       /* [n_ranks] its GPU, on its node; NULL: no address is known */
    vp_resource_t *resources; /* node by node in a catalog */
    vp_nic_t *nics;           /* node by node in a catalog */
    vp_path_class_t *classes;
    vp_instance_t *instances; /* sorted by (from_group, to_group, kind, classes, footprint) */
    uint32_t *pair_begin;     /* [n_groups * n_groups + 1]: instances of (a, d) are
                                 pair_begin[a * n_groups + d] .. pair_begin[.. + 1] - 1 */
    vp_contention_t *contention;
    uint64_t alpha_ns;             /* per-activation overhead */
    uint64_t put_overhead_ns;      /* posting one put */
    uint64_t gpu_link_bytes_per_s; /* the GPU's own link, per direction */
    char *gpu_link_origin;
} vp_model_t;

/* One member of a family: an instance selected `count` times (1 .. n_copies). */
typedef struct vp_member {
    uint32_t instance;
    uint32_t count;
} vp_member_t;

/* A shape M and its bucket of families. */
typedef struct vp_shape {
    uint32_t first_family;
    uint32_t n_families; /* >= 1 */
} vp_shape_t;

/*
 * How the tree was made; stored in files, so values stay. A generated catalog
 * has no shapes and no families: its channels are any sets of path instances
 * that keep Equations 1 and 2, and the scheduler makes them when it needs them.
 */
typedef enum vp_catalog_mode {
    VP_CATALOG_EXHAUSTIVE = 1,
    VP_CATALOG_GENERATED = 2
} vp_catalog_mode_t;

/*
 * The catalog tree: model, shapes, families. Shapes are in ascending
 * lexicographic order of their matrices, families of a shape in ascending
 * order of their member lists.
 *
 * A lane of a group with itself that is bound to one rank at both ends is
 * idle: it fills a position of the permutation and carries nothing.
 */
typedef struct vp_catalog {
    vp_model_t *model; /* owned; only instances that survived PrunePaths */
    vp_catalog_mode_t mode;
    uint32_t n_shapes;
    uint32_t n_families;
    uint16_t *shape_lanes;  /* [n_shapes][n_groups][n_groups] lane counts, row = source group */
    vp_shape_t *shapes;     /* [n_shapes] */
    uint32_t *member_begin; /* [n_families + 1] into members */
    vp_member_t *members;   /* ascending by instance inside a family */
    uint64_t fingerprint;   /* hash of everything but the build facts below */
    uint64_t build_ns;
    uint64_t build_steps;
} vp_catalog_t;

/* Group pairs as a flat index. */
static inline size_t vp_pair(const vp_model_t *model, uint32_t from_group, uint32_t to_group)
{
    return (size_t)from_group * model->n_groups + to_group;
}

/* Frees a model or catalog and all it owns; NULL is fine. */
void vp_model_destroy(vp_model_t *model);
void vp_catalog_destroy(vp_catalog_t *catalog);

/*
 * Fills rank_group and sorts instances, then fills pair_begin. Called by every
 * producer of a model after the other arrays are complete. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_model_finish(vp_model_t *model, vp_error_t *error) VP_MUST_CHECK;

/*
 * Verifies every invariant stated above: ranges, limits, ordering, footprints,
 * groups covering the ranks, instances that touch the right groups. Loaders
 * call it on untrusted input. VP_ERR_BAD_INPUT with the offending element.
 */
vp_status_t vp_model_check(const vp_model_t *model, vp_error_t *error) VP_MUST_CHECK;

/*
 * The same for a catalog: the model, resources and NICs node by node, then Equations 1 and 2 for
 * every family (balance; exactly M[a][d] instances per pair; each resource at most once; no empty
 * shape, ascending order; none of it in a generated catalog).
 */
vp_status_t vp_catalog_check(const vp_catalog_t *catalog, vp_error_t *error) VP_MUST_CHECK;

#endif
