/*
 * Which quanta are worth a try. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOUR_QUANTUM_H
#define VP_SCHEDULER_COLOUR_QUANTUM_H

#include "scheduler/jobs.h"

enum { VP_N_QUANTA = 12 };

typedef struct vp_quantum {
    uint64_t tau_ticks; /* UINT64_MAX: unlimited */
    uint64_t predicted; /* cost of a plan, in ticks, as if first fit lost nothing */
    uint64_t expected;  /* with what it loses where lengths differ */
} vp_quantum_t;

/*
 * Predicts what first fit makes of each quantum, from the jobs of the fullest
 * ports alone: were pieces of equal rank on their ports always together, an
 * activation would last as long as the longest piece of its rank. `whole` is
 * the cut with unlimited quantum. Sorted by ascending `expected`.
 */
vp_status_t vp_quanta_predict(const vp_jobs_t *jobs, const vp_cut_t *whole,
                              vp_quantum_t quanta[VP_N_QUANTA], vp_error_t *error) VP_MUST_CHECK;

#endif
