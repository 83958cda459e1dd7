/*
 * The plan: the contract between the scheduler, the executor and the
 * simulator. A plan decomposes one call's demand into lanes and says in which
 * order they run: as activations (channels with a volume on every lane), as a
 * list whose lanes wait for each other, or all together through a window.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_PLAN_H
#define VP_SCHEDULER_PLAN_H

#include "base/status.h"
#include "catalog/model.h"

/*
 * One lane of one activation: `n_bytes` of the block that `source` sends to
 * `destination`, starting `offset_bytes` into that block, over one instance.
 */
typedef struct vp_lane {
    uint32_t activation;
    uint32_t source;
    uint32_t destination; /* != source */
    uint32_t instance;    /* index into the model's instances */
    uint64_t offset_bytes;
    uint64_t n_bytes; /* >= 1 */
} vp_lane_t;

/* How the lanes of a plan wait for each other. */
typedef enum vp_plan_order {
    /* Lanes of one activation run together, activations follow each other. */
    VP_PLAN_ACTIVATIONS,
    /* Every lane is an activation of its own. It starts when the latest earlier lane of its
       source, of its destination and of each of its resources has ended, in plan order. Only
       for execution by dependencies: with barriers lanes would run one by one. */
    VP_PLAN_LIST,
    /* One activation, whose lanes share links. Each source runs its lanes in plan order, at
       most `window` at a time, whatever the others do. */
    VP_PLAN_CONCURRENT
} vp_plan_order_t;

/* No contention profile: links that lose nothing when they are shared. */
#define VP_LINKS_IDEAL UINT32_MAX

typedef struct vp_plan_form {
    vp_plan_order_t order;
    uint32_t window;     /* lanes in flight per source, >= 1; 1 but for CONCURRENT and shared
                            ports, where it is the most lanes of a source in one activation */
    bool shares_ports;   /* lanes of one activation may share a rank's link, in and out; never with
                            LIST, always with CONCURRENT, whose lanes share resources as well */
    uint32_t contention; /* profile of the model under which time_ns holds, or VP_LINKS_IDEAL */
} vp_plan_form_t;

typedef struct vp_plan {
    uint32_t n_ranks;
    uint32_t n_activations;
    size_t n_lanes;
    vp_lane_t *lanes;         /* ascending by (activation, source) */
    size_t *activation_begin; /* [n_activations + 1] into lanes */
    uint64_t *activation_ns;  /* [n_activations] alpha + slowest lane or shared port, rounded up */
    uint64_t total_bytes;
    uint64_t time_ns;    /* modelled by vp_plan_time; with ACTIVATIONS the sum of activation_ns:
                            the synchronous model of Algorithm 2 */
    vp_plan_form_t form; /* ACTIVATIONS, 1, false, VP_LINKS_IDEAL unless the planner says so */
    uint64_t
        planning_ns; /* modelled by what was tried (scheduler/cost.h); 0: not said. Not hashed */
    uint64_t hash;   /* of lanes and form; equal on all ranks or the call fails */
    const char *scheduler; /* name of the planner, static storage */
} vp_plan_t;

/* Frees a plan; NULL is fine. A plan borrows nothing. */
void vp_plan_destroy(vp_plan_t *plan);

/*
 * Collects lanes into a plan. A builder numbers activations, cuts each pair's
 * block from offset 0 upwards in the order lanes are added, and computes
 * times and hash at the end. Not thread-safe.
 */
typedef struct vp_plan_builder vp_plan_builder_t;

vp_status_t vp_plan_builder_create(const vp_model_t *model, vp_plan_builder_t **builder_p,
                                   vp_error_t *error) VP_MUST_CHECK;
void vp_plan_builder_destroy(vp_plan_builder_t *builder);
/* Before the first lane: room for as many, so that they need not move while they are added. */
vp_status_t vp_plan_builder_reserve(vp_plan_builder_t *builder, size_t n_lanes,
                                    vp_error_t *error) VP_MUST_CHECK;
/* LIST before the first lane: each is an activation of its own. Other forms any time. */
void vp_plan_builder_set_form(vp_plan_builder_t *builder, const vp_plan_form_t *form);
/* Lanes added from now on belong to a new activation; an activation without lanes is dropped. */
void vp_plan_builder_next(vp_plan_builder_t *builder);
/* n_bytes = 0 adds nothing. Lanes of one source keep their order in CONCURRENT and shared plans. */
vp_status_t vp_plan_builder_add(vp_plan_builder_t *builder, uint32_t source, uint32_t destination,
                                uint32_t instance, uint64_t n_bytes,
                                vp_error_t *error) VP_MUST_CHECK;
/* Consumes the lanes; the builder can only be destroyed afterwards. */
vp_status_t vp_plan_builder_finish(vp_plan_builder_t *builder, uint64_t alpha_ns,
                                   const char *scheduler, vp_plan_t **plan_p,
                                   vp_error_t *error) VP_MUST_CHECK;

/*
 * The plan checker. demand_bytes[n_ranks][n_ranks], row = source; the diagonal
 * is ignored (self copies are local). Verifies: every byte of the demand
 * exactly once (per pair, offsets disjoint and covering); per activation at
 * most one lane out of and one into each rank (shared ports: at most `window`),
 * each resource at most once (not with CONCURRENT); what each order asks of the
 * form; each lane's instance connects the groups of its ranks; lanes in total
 * order; times and hash as stated. VP_ERR_INTERNAL naming activation, lane and
 * ranks.
 */
vp_status_t vp_plan_check(const vp_plan_t *plan, const vp_model_t *model,
                          const uint64_t *demand_bytes, uint64_t alpha_ns,
                          vp_error_t *error) VP_MUST_CHECK;

/*
 * Modelled time of a plan's lanes in its form, the one model that planners, the
 * checker and comparisons with the simulator use. n_activations, lanes,
 * activation_begin and form must be set; writes activation_ns (alpha + slowest
 * lane, or the busiest shared port; with CONCURRENT the whole time) and time_ns.
 *
 * LIST: each lane takes alpha + its transfer from when its ports are free.
 * CONCURRENT: the later of alpha + the busiest link (bytes over what the
 * contention profile leaves of its rate with as many sources as use it) and of
 * the busiest source (alpha + transfer of its lanes, `window` at a time).
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_plan_time(vp_plan_t *plan, const vp_model_t *model, uint64_t alpha_ns,
                         vp_error_t *error) VP_MUST_CHECK;

/* Rate in ppm that `profile` (VP_LINKS_IDEAL: all) leaves of a link of contention table `table`
   (VP_CONTENTION_GPU ..) with n_sources on it; of a resource by its kind. */
uint32_t vp_plan_share_ppm(const vp_model_t *model, uint32_t profile, uint32_t table,
                           uint32_t n_sources);
uint32_t vp_plan_contention_table(vp_resource_kind_t kind);

/* The profile of a name; NULL and "ideal": VP_LINKS_IDEAL. VP_ERR_USAGE: the model has none. */
vp_status_t vp_links_find(const vp_model_t *model, const char *name, uint32_t *profile_p,
                          vp_error_t *error) VP_MUST_CHECK;

#endif
