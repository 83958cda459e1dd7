/*
 * Bytes of a demand spread over paths so that links which are shared are
 * evenly loaded. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_SPREAD_H
#define VP_SCHEDULER_SPREAD_H

#include "catalog/model.h"

/* A pair with bytes. */
typedef struct vp_spread_pair {
    uint64_t n_bytes;
    uint32_t source;
    uint32_t destination;
    uint32_t first_instance; /* first_instance .. first_instance + n_ways - 1 */
    uint32_t n_ways;
    size_t first_share; /* into shares */
} vp_spread_pair_t;

typedef struct vp_spread {
    const vp_model_t *model;
    size_t n_pairs;
    vp_spread_pair_t *pairs; /* by source, then by destination from source + 1 on, cyclically */
    size_t n_shares;
    uint64_t *shares;      /* bytes of a pair over each of its instances */
    size_t n_ports;        /* ways out of ranks, ways into ranks, resources */
    uint64_t *bytes_per_s; /* [n_ports] what several sources get out of a port together */
    uint64_t *load_ns;     /* [n_ports] */
    uint64_t chunk_bytes;  /* shares are whole chunks but for one of each pair */
} vp_spread_t;

/*
 * Pairs with all bytes on their nearest path: inside a node the closest kind,
 * then the fastest, then the first; between nodes the instances of that kind
 * in turn by the source's index in its group. demand_bytes as for
 * vp_demand_check; contention is a profile of the model, or VP_LINKS_IDEAL.
 */
vp_status_t vp_spread_nearest(vp_spread_t *spread, const vp_model_t *model,
                              const uint64_t *demand_bytes, uint32_t contention,
                              uint64_t chunk_bytes, vp_error_t *error) VP_MUST_CHECK;
/*
 * Multiplicative weights: in each sweep every pair takes its bytes back and
 * deals them out again in parts, each to the path that is cheapest under
 * prices that grow with a power of the load of a link, from the 8th in the
 * first sweep to the 64th in the fourth. Parts are whole chunks, never slivers. O(n_sweeps * pairs
 * * instances of a pair).
 */
void vp_spread_balance(vp_spread_t *spread, uint32_t n_sweeps);
/*
 * Whether every lane that runs over one of the fullest links could fill it
 * alone: then lanes that share links keep them busy to the end, whatever their
 * bytes.
 */
bool vp_spread_fills_alone(const vp_spread_t *spread);
/* Also after a failed or never made start of a zeroed record. */
void vp_spread_release(vp_spread_t *spread);

#endif
