/*
 * The state of a greedy run, and the choice of lanes that run together.
 * Private to the planner "critical".
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CRITICAL_CHANNEL_H
#define VP_SCHEDULER_CRITICAL_CHANNEL_H

#include "scheduler/critical_greedy.h"

/* Lanes of jobs with bytes left, in the order of lanes; what choices read lies side by side. */
typedef struct vp_live {
    uint32_t n;
    uint32_t *lane;  /* [n] */
    uint64_t *ticks; /* [n] of what is left */
    uint64_t *part;  /* [n] what it adds to the potential of its ports */
    uint64_t *price; /* [n] of a tick */
    uint64_t *whole; /* [n] worth of all that is left */
    uint64_t *mask;  /* [n][n_words] */
} vp_live_t;

/* Scratch of a choice. A key is a weight over the complement of an index of a live lane. */
typedef struct vp_choice {
    uint32_t index_bits;
    uint32_t weight_shift;
    uint64_t *key;    /* [n_lanes] */
    uint64_t *mask;   /* [n_lanes][n_words] beside the keys */
    uint64_t *busy;   /* [n_words] */
    uint64_t *trial;  /* [n_words] */
    uint32_t *holder; /* [n_ports] position of the key whose lane holds a busy port */
    uint32_t *added;  /* [n_ranks] positions */
    uint64_t n_seen;  /* lanes looked at so far */
    uint32_t n_chosen;
    uint32_t *chosen; /* [n_ranks] indices of live lanes */
} vp_choice_t;

typedef struct vp_greedy {
    const vp_lanes_t *lanes;
    const vp_greedy_options_t *options;
    vp_colouring_t *colouring;
    uint64_t alpha;
    uint64_t noise_state;
    vp_live_t live;
    vp_choice_t choice;
    uint64_t *potential; /* [n_ports] what is left to do on each */
    uint64_t *price;     /* [n_ports] */
    uint64_t *rest;      /* [n_jobs] bytes left */
    bool *is_touched;    /* [n_jobs] by the last activation */
    uint32_t *touched;   /* [n_best] those jobs */
    uint64_t *lengths;   /* [n_lanes] scratch */
    uint32_t n_best;
    uint32_t *best; /* [n_ranks] indices of live lanes of the best channel */
    uint64_t best_ticks;
    uint64_t best_value; /* of the best channel, over best_ticks + alpha */
} vp_greedy_t;

/* What live lane i is worth in an activation of some length. */
static inline uint64_t vp_live_worth(const vp_live_t *live, uint32_t i, uint64_t length)
{
    return live->ticks[i] <= length ? live->whole[i] : live->price[i] * length;
}

vp_status_t vp_choice_init(vp_choice_t *choice, const vp_lanes_t *lanes,
                           vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_choice_release(vp_choice_t *choice);

/*
 * Chooses live lanes without a common port for an activation of this length:
 * heaviest first, then by up to n_swaps passes of exchange.
 */
void vp_greedy_choose(vp_greedy_t *greedy, uint64_t length, uint32_t n_swaps);

#endif
