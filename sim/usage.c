/*
 * What links carry over time. Slices of time are as short as 256 of them allow:
 * when time runs out of the last, neighbours merge and slices double.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/state.h"

#include "base/array.h"

vp_status_t vp_network_keep_usage(vp_network_t *network, vp_error_t *error)
{
    network->usage = vp_array_new(network->n_links * VP_USAGE_SLICES, sizeof(*network->usage));
    if (network->usage == NULL) {
        return vp_error_no_memory(error, "the use of links over time");
    }
    network->slice_ns = 1;
    return VP_OK;
}

static void double_slices(vp_network_t *network)
{
    size_t link;
    size_t i;

    for (link = 0; link < network->n_links; link++) {
        vp_uint128_t *slices = network->usage + link * VP_USAGE_SLICES;

        for (i = 0; i < VP_USAGE_SLICES / 2; i++) {
            slices[i] = slices[2 * i] + slices[2 * i + 1];
        }
        for (; i < VP_USAGE_SLICES; i++) {
            slices[i] = 0;
        }
    }
    network->slice_ns *= 2;
}

static void add(vp_network_t *network, uint32_t link, uint64_t rate, uint64_t from_ns)
{
    vp_uint128_t *slices = network->usage + (size_t)link * VP_USAGE_SLICES;
    uint64_t at = from_ns;

    while (at < network->now_ns) {
        uint64_t slice = at / network->slice_ns;
        uint64_t end = (slice + 1) * network->slice_ns;

        end = end < network->now_ns ? end : network->now_ns;
        slices[slice] += (vp_uint128_t)rate * (end - at);
        at = end;
    }
}

void vp_usage_note(vp_network_t *network, const vp_flow_run_t *run)
{
    uint32_t i;

    if (network->usage == NULL || run->rate == 0) {
        return;
    }
    while ((network->now_ns - 1) / network->slice_ns >= VP_USAGE_SLICES &&
           network->now_ns > run->settled_ns) {
        double_slices(network);
    }
    for (i = 0; i < run->n_links; i++) {
        add(network, network->hops[run->route + i].link, run->rate, run->settled_ns);
    }
}

uint64_t vp_network_usage_slice_ns(const vp_network_t *network)
{
    return network->usage == NULL ? 0 : network->slice_ns;
}

uint64_t vp_network_link_usage(const vp_network_t *network, uint32_t link, uint32_t slice)
{
    vp_uint128_t moved = network->usage[(size_t)link * VP_USAGE_SLICES + slice];

    return (uint64_t)((moved >> VP_RATE_BITS) / VP_NS_PER_S);
}
