/*
 * The state of a greedy run, and the choice of lanes that run together.
 * Private to the planner "critical".
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CRITICAL_CHANNEL_H
#define VP_SCHEDULER_CRITICAL_CHANNEL_H

#include "scheduler/critical_greedy.h"

/* Lanes that can run together, by the port they hold. */
typedef struct vp_channel_choice {
    uint64_t *busy;   /* [n_words] */
    uint32_t *holder; /* [n_ports] lane on each busy port */
    uint32_t n_chosen;
    uint32_t *chosen; /* [n_ranks] */
} vp_channel_choice_t;

typedef struct vp_greedy {
    const vp_lanes_t *lanes;
    const vp_greedy_options_t *options;
    vp_colouring_t *colouring;
    uint64_t alpha;
    uint64_t noise_state;
    uint32_t n_live;
    uint32_t *live;      /* [n_lanes] lanes of jobs with bytes left */
    uint32_t *order;     /* [n_lanes] live lanes by descending weight */
    uint32_t *spare;     /* [n_lanes] room to sort */
    uint32_t *open;      /* [n_lanes] lanes that fit beside those chosen */
    uint64_t *ticks;     /* [n_lanes] of what is left */
    uint64_t *price;     /* [n_lanes] */
    uint64_t *weight;    /* [n_lanes] at the length under trial */
    uint64_t *potential; /* [n_ports] */
    uint64_t *rest;      /* [n_jobs] bytes left */
    uint64_t *lengths;   /* [n_lanes] scratch */
    uint32_t *added;     /* [n_ranks] scratch */
    vp_channel_choice_t channel;
    uint32_t n_best;
    uint32_t *best; /* [n_ranks] lanes of the best channel */
    uint64_t best_ticks;
    uint64_t best_value; /* of the best channel, over best_ticks + alpha */
} vp_greedy_t;

/* What a lane is worth in an activation of some length: finishing a job earns its overhead back. */
static inline uint64_t vp_greedy_worth(const vp_greedy_t *greedy, uint32_t l, uint64_t length)
{
    uint64_t ticks = greedy->ticks[l];

    return greedy->price[l] * (ticks <= length ? ticks + greedy->alpha : length);
}

/*
 * Chooses lanes without a common port for an activation of this length:
 * heaviest first, then by exchange. Fills `channel`.
 */
void vp_greedy_choose(vp_greedy_t *greedy, uint64_t length);

#endif
