/*
 * Bytes of a demand spread over paths so that links which are shared are
 * evenly loaded. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_SPREAD_H
#define VP_SCHEDULER_SPREAD_H

#include "base/units.h"
#include "catalog/model.h"

enum { VP_SPREAD_RATE_BITS = 32 };

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
    bool is_fork; /* all but shares and loads is another's */
    size_t n_pairs;
    vp_spread_pair_t *pairs; /* by source, then by destination from source + 1 on, cyclically */
    size_t n_shares;
    uint64_t *shares;      /* bytes of a pair over each of its instances */
    size_t n_ports;        /* ways out of ranks, ways into ranks, resources */
    uint64_t *bytes_per_s; /* [n_ports] what several sources get out of a port together */
    uint64_t *ns_per_byte; /* [n_ports] the inverse, with VP_SPREAD_RATE_BITS fraction bits */
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
/* The ports of a lane; returns how many. */
uint32_t vp_spread_ports(const vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
                         size_t ports[VP_MAX_FOOTPRINT + 2]);
/* Puts bytes of a pair on one of its ways. */
void vp_spread_add(vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
                   uint64_t n_bytes);
/* Lays pairs between groups over NICs where there are any, inside a node as well. */
void vp_spread_over_nics(vp_spread_t *spread);
/* Time of the fullest port, at least 1. */
uint64_t vp_spread_fullest_ns(const vp_spread_t *spread);
/* Time that a port needs for bytes, rounded up. */
static inline uint64_t vp_spread_ns(const vp_spread_t *spread, size_t port, uint64_t n_bytes)
{
    const vp_uint128_t round_up = ((vp_uint128_t)1 << VP_SPREAD_RATE_BITS) - 1;

    return (uint64_t)(((vp_uint128_t)n_bytes * spread->ns_per_byte[port] + round_up) >>
                      VP_SPREAD_RATE_BITS);
}
/*
 * Whether every lane that runs over one of the fullest links could fill it
 * alone: then lanes that share links keep them busy to the end, whatever their
 * bytes.
 */
bool vp_spread_fills_alone(const vp_spread_t *spread);
/*
 * The same pairs with shares of their own, to be spread in another way; it ends
 * before `spread`. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_spread_fork(const vp_spread_t *spread, vp_spread_t *fork,
                           vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made start of a zeroed record. */
void vp_spread_release(vp_spread_t *spread);

#endif
