/*
 * What planning costs, as a model in integers: steps times what a step was
 * measured to take. It depends on the machine's size and on what a planner
 * did, never on a clock, so that all ranks decide alike how much planning a
 * call is worth. Private to this room.
 *
 * Decisions about everything at once need sums over rows only: what each link
 * carries. Each rank adds its row up before the counts are exchanged, and the
 * exchange adds the sums of all rows as it goes; then each rank deals out its
 * own row. So plans on nearest paths, or split as equal blocks would be, cost
 * a call nothing beside the exchange. What else is tried is charged in full.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COST_H
#define VP_SCHEDULER_COST_H

#include "catalog/model.h"

/* Nanoseconds of one core (docs/scheduler.md says how they were measured). */
enum {
    VP_COST_SPLIT_STEP_NS = 60,      /* a move between two ways is weighed */
    VP_COST_DEAL_NS = 40,            /* a pair of the own row is dealt out */
    VP_COST_COLOUR_NS = 300,         /* a pair of all: pieces coloured first fit */
    VP_COST_COLOUR_FEW_NS = 500,     /* the same up to 16 ranks, where more quanta are tried */
    VP_COST_CRITICAL_NS = 1000,      /* critical ports first, 8 ranks */
    VP_COST_CRITICAL_NODE_NS = 4500, /* the same on one node of more */
    VP_COST_LIST_NS = 1500           /* lists of all pairs, with a colouring */
};

/* All pairs of ranks. */
static inline uint64_t vp_cost_pairs(const vp_model_t *model)
{
    return (uint64_t)model->n_ranks * (model->n_ranks - 1);
}

#endif
