/*
 * Planners and bounds. All are pure: no I/O, clock, globals or threads;
 * integers only; every tie is broken by a total order. Equal inputs give equal
 * plans, bit for bit, on every rank.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_SCHEDULE_H
#define VP_SCHEDULER_SCHEDULE_H

#include "base/pool.h"
#include "catalog/model.h"
#include "scheduler/plan.h"

/*
 * Ablations (the paper's Table 3). PEERS: an activation holds pairs of one
 * rotation, rank i to i + k, over any paths. PATHS: every pair runs over its
 * nearest path (the fastest, of equals the one with the fewest resources, then
 * the first), with any peers.
 */
typedef enum vp_fix {
    VP_FIX_NONE = 0,
    VP_FIX_PEERS = 1,
    VP_FIX_PATHS = 2,
    VP_FIX_BOTH = VP_FIX_PEERS | VP_FIX_PATHS
} vp_fix_t;

/* 1,000 s: keeps sums of activation times far below 64 bits. */
#define VP_MAX_ALPHA_NS UINT64_C(1000000000000)

/* Blocks are cut at multiples of a power of two up to the largest, and no finer than four of it. */
enum { VP_CHUNK_BYTES = 4096 }; /* unless the options say otherwise */
#define VP_MAX_CHUNK_BYTES (UINT64_C(1) << 30)

/* How much work a planner spends, counted in steps, never in time. */
typedef enum vp_effort {
    VP_EFFORT_CALL,    /* a small share of the time that the plan will take */
    VP_EFFORT_THOROUGH /* for demands that come again, and offline */
} vp_effort_t;

/* Whether lanes may share links, beyond the paper's model. */
typedef enum vp_sharing {
    VP_SHARING_OFF, /* exclusive lanes */
    VP_SHARING_ON,  /* a pair may use two paths at once, as far as its GPUs' links carry them */
    VP_SHARING_AUTO /* planner "auto": exclusive, shared and concurrent plans, whichever the
                       contention profile makes fastest; others: as OFF */
} vp_sharing_t;

/*
 * What is known of a machine before any call: how equal blocks between all
 * ranks would be split over its paths. A call may use it as it is.
 */
typedef struct vp_standing vp_standing_t;

typedef struct vp_schedule_options {
    uint64_t alpha_ns; /* overhead of an activation, at most VP_MAX_ALPHA_NS */
    uint64_t tau_ns; /* fixed quantum; 0: search over fractions of the bound, keep the best plan */
    vp_fix_t fix;    /* a planner without ablations refuses others than VP_FIX_NONE */
    vp_effort_t effort;
    vp_sharing_t sharing;
    const char *links;    /* contention profile of the model to plan for; NULL or "ideal": none */
    uint64_t chunk_bytes; /* where blocks may be cut, 0: VP_CHUNK_BYTES; "paper" cuts anywhere */
    bool by_dependencies; /* lanes wait for their ports, not for activations: "auto" tries lists */
    const vp_standing_t
        *standing;   /* borrowed, of the same model and links; NULL: it is made anew */
    vp_pool_t *pool; /* borrowed: memory that planning may use again; NULL: it is taken anew */
} vp_schedule_options_t;

/*
 * Plans demand_bytes[n_ranks][n_ranks] (row = source, diagonal ignored) over
 * the catalog. *plan_p is new and the caller destroys it. VP_ERR_BAD_INPUT: a
 * pair with bytes but no path instance (names the pair); VP_ERR_USAGE: alpha_ns too
 * large; VP_ERR_NO_MEMORY.
 */
typedef vp_status_t (*vp_schedule_fn_t)(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                        const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                        vp_error_t *error);

/* Algorithm 2 of the paper, greedy-seeded alternating assignment, tau search. */
vp_status_t vp_schedule_paper(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                              const vp_schedule_options_t *options, vp_plan_t **plan_p,
                              vp_error_t *error) VP_MUST_CHECK;

/*
 * Pieces of pairs coloured first fit, longest first; reads only the catalog's
 * model. For two nodes and more. VP_ERR_UNSUPPORTED: ablations.
 */
vp_status_t vp_schedule_colour(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                               const vp_schedule_options_t *options, vp_plan_t **plan_p,
                               vp_error_t *error) VP_MUST_CHECK;

/*
 * Critical ports first, then recombination and trimming; reads only the
 * catalog's model. For one node and few ranks. VP_ERR_UNSUPPORTED: ablations.
 */
vp_status_t vp_schedule_critical(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                 const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                 vp_error_t *error) VP_MUST_CHECK;

/*
 * An order of lanes for execution by dependencies, without activations
 * (VP_PLAN_LIST); reads only the catalog's model. VP_ERR_UNSUPPORTED: ablations.
 */
vp_status_t vp_schedule_list(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                             const vp_schedule_options_t *options, vp_plan_t **plan_p,
                             vp_error_t *error) VP_MUST_CHECK;

/*
 * No activations: lanes share links (VP_PLAN_CONCURRENT), everything at once on
 * nearest paths or, where that is faster under the contention profile, bytes
 * spread over paths and lanes started through a window; reads only the
 * catalog's model. VP_ERR_UNSUPPORTED: ablations.
 */
vp_status_t vp_schedule_concurrent(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                   const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                   vp_error_t *error) VP_MUST_CHECK;

/*
 * The cheapest plan of the planners that fit the size, the effort and what the
 * options allow, under the contention profile; with ablations that of "paper".
 * With VP_EFFORT_THOROUGH never dearer than "concurrent" with VP_SHARING_AUTO,
 * than "list" up to 256 ranks with by_dependencies, and than "paper" up to 16.
 * In a call with VP_SHARING_AUTO planning counts: a dearer planner is tried only
 * where what it may gain is more than what it costs (plan's planning_ns).
 */
vp_status_t vp_schedule_auto(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                             const vp_schedule_options_t *options, vp_plan_t **plan_p,
                             vp_error_t *error) VP_MUST_CHECK;

/* The standing split for a contention profile. VP_ERR_USAGE: there is no such profile. */
vp_status_t vp_standing_create(const vp_model_t *model, const char *links,
                               vp_standing_t **standing_p, vp_error_t *error) VP_MUST_CHECK;
void vp_standing_destroy(vp_standing_t *standing);

/*
 * Incremental planning. The prefix is the first activation of a plan, found by
 * looking at a few pairs of each source, so that lanes may start while the rest
 * is planned: O(ranks * instances of a pair) beside reading the demand. It is
 * a plan of a part of the demand. Pairs must have paths. VP_ERR_USAGE: a chunk
 * that is none; VP_ERR_NO_MEMORY.
 *
 * vp_schedule_after plans what the prefix leaves and puts the prefix in front:
 * one plan of the whole demand, whose first lanes of each source are the
 * prefix's. Errors as for the planner.
 */
vp_status_t vp_schedule_prefix(const vp_model_t *model, const uint64_t *demand_bytes,
                               const vp_schedule_options_t *options, vp_plan_t **prefix_p,
                               vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_schedule_after(const vp_plan_t *prefix, vp_schedule_fn_t planner,
                              const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                              const vp_schedule_options_t *options, vp_plan_t **plan_p,
                              vp_error_t *error) VP_MUST_CHECK;

/* Looks a planner up by its name ("paper", "auto"); NULL when unknown. */
vp_schedule_fn_t vp_schedule_find(const char *name);
/* Names for usage messages, comma-separated, static storage. */
const char *vp_schedule_names(void);

/*
 * Lower bounds on the completion time of a demand with exclusive lanes.
 * lp_ns: no schedule of the model is faster even at alpha = 0 (a dual solution
 * of the port/resource LP of the model page, found by multiplicative weights,
 * so it may lie below the LP's optimum but never above). kmin: a lower bound
 * on the number of activations. bound_ns = lp_ns + alpha_ns * kmin.
 */
typedef struct vp_bound {
    uint64_t lp_ns;
    uint32_t kmin;
    uint64_t bound_ns;
} vp_bound_t;

vp_status_t vp_bound(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                     vp_bound_t *bound_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * A lower bound for exclusive lanes that wait for nothing but their ports,
 * whatever activations they belong to: the LP whose cost per pair and path is
 * its transfer and alpha_ns, times the fraction that takes the path. A dual
 * solution again. Execution by dependencies may beat bound_ns, never this.
 */
vp_status_t vp_list_bound(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                          uint64_t *list_ns_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * A lower bound for lanes that may share links: GPU links in each direction
 * (gpu_link_bytes_per_s) and resources are capacities, a pair's bytes may take
 * all of its paths at once. A dual solution again, so it may lie below the
 * fluid optimum but never above; no plan of any kind is faster.
 */
vp_status_t vp_fluid_bound(const vp_model_t *model, const uint64_t *demand_bytes,
                           uint64_t *fluid_ns_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * Modelled time of the pairwise exchange that Open MPI's tuned component runs
 * by default (step k: i sends to i + k, steps one after the other, each pair on
 * its fastest path, equal shares on shared resources): what the plan is
 * compared with when a minimal gain is asked for.
 */
vp_status_t vp_pairwise_ns(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                           uint64_t *time_ns_p, vp_error_t *error) VP_MUST_CHECK;

#endif
