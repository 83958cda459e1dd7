/*
 * A cluster as a network: the links of a topology model under one contention
 * profile, and the routes that traffic takes over them.
 *
 * Links: each rank's GPU link out and in, every shared resource of the model,
 * and, for groups whose switch names no uplink of its own, a way to host memory
 * and back at the rate of a GPU link (only host-staged traffic uses those).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_MACHINE_H
#define VP_SIM_MACHINE_H

#include "catalog/model.h"
#include "sim/network.h"

typedef struct vp_machine_options {
    const char *links;       /* contention profile; NULL or "ideal": none */
    uint64_t rate_error_ppm; /* each link runs at its rate +- up to this much, < 1000000 */
    uint64_t seed;           /* of the rate errors */
    bool exact;              /* share links anew at every event */
} vp_machine_options_t;

typedef struct vp_machine {
    const vp_model_t *model; /* borrowed */
    vp_network_t *network;   /* owned */
    uint32_t *host_up;       /* [n_groups] links from a switch to host memory, and back */
    uint32_t *host_down;
    uint32_t *rank_index; /* [n_ranks] place among the ranks of its node */
    uint32_t *node_first; /* [n_nodes + 1] first rank of each node */
    uint32_t *group_nics; /* NICs by group; of the node, where a group has none */
    uint32_t *nic_begin;  /* [n_groups + 1] into group_nics */
} vp_machine_t;

/* A route from one rank to another. */
typedef struct vp_path {
    vp_path_kind_t kind;
    uint64_t bytes_per_s; /* its own limit; 0: its links' */
    uint32_t n_links;
    uint32_t links[VP_NETWORK_MAX_ROUTE];
} vp_path_t;

/* VP_ERR_USAGE: the model has no such profile. The model must outlive the machine. */
vp_status_t vp_machine_create(const vp_model_t *model, const vp_machine_options_t *options,
                              vp_machine_t **machine_p, vp_error_t *error) VP_MUST_CHECK;
void vp_machine_destroy(vp_machine_t *machine);

/* Link names for people: "rank3:out", or the resource's. `text` has VP_LINK_NAME_BYTES. */
enum { VP_LINK_NAME_BYTES = VP_MAX_NAME_BYTES + 16 };
void vp_machine_link_name(const vp_machine_t *machine, uint32_t link, char *text);

uint32_t vp_link_out(const vp_machine_t *machine, uint32_t rank);
uint32_t vp_link_in(const vp_machine_t *machine, uint32_t rank);
uint32_t vp_link_resource(const vp_machine_t *machine, uint32_t resource);
uint32_t vp_rank_node(const vp_machine_t *machine, uint32_t rank);
uint32_t vp_node_size(const vp_machine_t *machine, uint32_t node);

/* Over one path instance of the model. */
void vp_path_over(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                  uint32_t instance, vp_path_t *path_p);
/*
 * The static nearest path: inside a node the closest kind in the order of
 * vp_path_kind_t, then the fastest, then the first; between nodes the NIC of
 * the source's index in its group. VP_ERR_BAD_INPUT: the ranks have no path.
 */
vp_status_t vp_path_nearest(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                            vp_path_t *path_p, vp_error_t *error) VP_MUST_CHECK;
/*
 * Out of the source's NIC number `rail` and into the destination's, both
 * modulo the NICs of their groups; a group without NIC uses those of its node,
 * over PCIe. VP_ERR_BAD_INPUT: a node has no NIC and the model no NIC path.
 */
vp_status_t vp_path_nic(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                        uint32_t rail, vp_path_t *path_p, vp_error_t *error) VP_MUST_CHECK;
/* Out of one given NIC and into another, anywhere in the ranks' nodes. */
vp_status_t vp_path_between_nics(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                                 uint32_t source_nic, uint32_t destination_nic, vp_path_t *path_p,
                                 vp_error_t *error) VP_MUST_CHECK;
/* Staged through host memory, at both ends when the ranks are on two nodes. */
vp_status_t vp_path_host(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                         vp_path_t *path_p, vp_error_t *error) VP_MUST_CHECK;
/* `first`, then onwards over `second`, cut through. */
void vp_path_join(const vp_path_t *first, const vp_path_t *second, vp_path_t *path_p);

/* The rate that an algorithm plans with: the model's, without rate errors. */
uint64_t vp_link_bytes_per_s(const vp_machine_t *machine, uint32_t link);
/* Least rate along a path. */
uint64_t vp_path_bytes_per_s(const vp_machine_t *machine, const vp_path_t *path);

/* NICs behind the switch of a group; of its node, where there is none. */
uint32_t vp_group_n_nics(const vp_machine_t *machine, uint32_t group);

#endif
