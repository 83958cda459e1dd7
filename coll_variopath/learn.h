/*
 * Rates learned while running: how long lanes take beside what their path's rate says,
 * by kind of path and pair of classes. At calls whose numbers all ranks know, they tell
 * each other and derive, from the same integers, the same corrections.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_LEARN_H
#define VP_COLL_LEARN_H

#include <stdint.h>

#include "base/status.h"
#include "catalog/model.h"
#include "scheduler/plan.h"

enum {
    VP_MAX_RATES = 32, /* path classes that are told apart; further ones are not observed */
    VP_RATES_BYTES = VP_MAX_RATES * 8
};

/* One kind of path between two classes. */
typedef struct vp_rate {
    vp_path_kind_t kind;
    uint32_t source_class;
    uint32_t destination_class;
    uint64_t stated_bytes_per_s; /* of its first instance, as the topology says */
    uint32_t ppm;                /* correction that plans use, of what was stated */
    uint64_t predicted_ns;       /* of own lanes since the last correction, at the rate in use */
    uint64_t actual_ns;
    uint32_t n_lanes;
} vp_rate_t;

typedef struct vp_rates {
    uint32_t n;
    vp_rate_t rates[VP_MAX_RATES];
} vp_rates_t;

struct vp_engine;
struct vp_program;

/* Of the communicator's model: the same list on all ranks. */
void vp_rates_start(vp_rates_t *rates, const vp_model_t *model);
/* A lane of this rank has ended; those that tell nothing of a rate are left out. */
void vp_rates_observe(struct vp_engine *engine, const struct vp_program *program,
                      const vp_lane_t *lane, uint64_t n_bytes, uint64_t took_ns);
/*
 * Before a call's exchange; collective when the call's number and the options say so.
 * VP_ERR_NO_MEMORY on all ranks alike.
 */
vp_status_t vp_rates_settle(struct vp_engine *engine, vp_error_t *error) VP_MUST_CHECK;

#endif
