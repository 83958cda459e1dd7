/*
 * What the lanes of one rank wait for. A lane starts when the lanes before it
 * have ended: for its source, its destination and each of its shared resources,
 * those of the latest earlier activation that used it. In a plan of activations,
 * that keeps lanes free of contention without a barrier; in a list, where every
 * lane is an activation of its own, it is what the list means; in a concurrent
 * plan, which is one activation, nothing waits.
 *
 * Every rank derives its own part from the plan. Only a wait for another rank's
 * lane needs a message: the rank whose lane ended signals the ranks that wait
 * for it, once each. Waits that follow from others are left out, by rules that
 * both sides apply alike.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_WAITS_H
#define VP_COLL_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "catalog/model.h"
#include "scheduler/plan.h"

/* One wait; what the numbers mean stands at the arrays below. */
typedef struct vp_wait {
    uint32_t from;
    uint32_t to;
} vp_wait_t;

/* Ascending by (from, to), without repetitions. */
typedef struct vp_wait_list {
    vp_wait_t *waits;
    size_t n_waits;
    size_t capacity;
} vp_wait_list_t;

typedef struct vp_waits {
    size_t n_own;
    uint32_t *own;         /* [n_own] lanes of the plan whose source is this rank, ascending */
    uint32_t *n_before;    /* [n_own] waits of each: in `local` and in `remote` together */
    vp_wait_list_t local;  /* own lane -> own lane that waits for it, both indices into `own` */
    vp_wait_list_t remote; /* lane of the plan -> own lane that waits for it */
    vp_wait_list_t told;   /* own lane -> place of a rank that is to be signalled */
    size_t n_remote_lanes; /* different lanes in `remote`: signals that come */
} vp_waits_t;

/*
 * For the lanes of `place`. across: waits for lanes of other ranks too; without,
 * a rank's lanes only follow each other. VP_ERR_LIMIT: 2^32 lanes; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_waits_create(const vp_model_t *model, const vp_plan_t *plan, uint32_t place,
                            bool across, vp_waits_t **waits_p, vp_error_t *error) VP_MUST_CHECK;
void vp_waits_destroy(vp_waits_t *waits); /* NULL is fine */

/* The first wait from `from` in a list, which may lie behind its end. */
size_t vp_waits_first(const vp_wait_list_t *list, uint32_t from);

#endif
