/*
 * The plan: the contract between the scheduler, the executor and the
 * simulator. A plan decomposes one call's demand into activations; each
 * activation is a channel with a volume on every lane.
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

typedef struct vp_plan {
    uint32_t n_ranks;
    uint32_t n_activations;
    size_t n_lanes;
    vp_lane_t *lanes;         /* ascending by (activation, source) */
    size_t *activation_begin; /* [n_activations + 1] into lanes */
    uint64_t *activation_ns;  /* [n_activations] alpha + slowest lane, rounded up */
    uint64_t total_bytes;
    uint64_t time_ns;      /* sum of activation_ns: the synchronous model of Algorithm 2 */
    uint64_t hash;         /* of lanes; equal on all ranks or the call fails */
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
/* Lanes added from now on belong to a new activation; an activation without lanes is dropped. */
void vp_plan_builder_next(vp_plan_builder_t *builder);
/* n_bytes = 0 adds nothing. */
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
 * most one lane out of and one into each rank, each resource at most once;
 * each lane's instance connects the groups of its ranks; lanes in total order;
 * times and hash as stated. VP_ERR_INTERNAL naming activation, lane and ranks.
 */
vp_status_t vp_plan_check(const vp_plan_t *plan, const vp_model_t *model,
                          const uint64_t *demand_bytes, uint64_t alpha_ns,
                          vp_error_t *error) VP_MUST_CHECK;

#endif
