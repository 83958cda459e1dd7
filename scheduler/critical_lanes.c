/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/critical_lanes.h"

#include <stdlib.h>

#include "base/array.h"

static void count_lanes(vp_lanes_t *lanes)
{
    const vp_jobs_t *jobs = lanes->jobs;
    size_t j;

    for (j = 0; j < jobs->n_jobs; j++) {
        lanes->n_lanes += jobs->jobs[j].n_ways;
        lanes->max_ways =
            jobs->jobs[j].n_ways > lanes->max_ways ? jobs->jobs[j].n_ways : lanes->max_ways;
    }
}

/* Numbers the ports in the order in which lanes first use them. */
static uint32_t dense(uint32_t *numbers, uint32_t port, uint32_t *n_p)
{
    if (numbers[port] == 0) {
        numbers[port] = ++*n_p;
    }
    return numbers[port] - 1;
}

static void fill_lanes(vp_lanes_t *lanes, uint32_t *numbers)
{
    const vp_jobs_t *jobs = lanes->jobs;
    uint32_t l = 0;
    size_t j;

    for (j = 0; j < jobs->n_jobs; j++) {
        const vp_job_t *job = &jobs->jobs[j];
        uint64_t fastest = UINT64_MAX; /* ticks for a byte */
        uint32_t w;

        for (w = job->first_way; w < job->first_way + job->n_ways; w++) {
            uint64_t ticks = jobs->ways[w].ticks_per_byte;

            fastest = ticks < fastest ? ticks : fastest;
        }
        for (w = job->first_way; w < job->first_way + job->n_ways; w++) {
            vp_critical_lane_t *lane = &lanes->lanes[l++];
            uint32_t i;

            lane->job = (uint32_t)j;
            lane->way = w;
            lane->share = VP_SHARE_ONE / job->n_ways;
            lane->speed =
                (uint32_t)vp_muldiv_floor(VP_SHARE_ONE, fastest, jobs->ways[w].ticks_per_byte);
            lane->ticks = vp_way_ticks(&jobs->ways[w], job->n_bytes);
            lane->n_ports = vp_jobs_ports(jobs, job->source, job->destination, w, lane->ports);
            for (i = 0; i < lane->n_ports; i++) {
                lane->ports[i] = dense(numbers, lane->ports[i], &lanes->n_ports);
            }
        }
    }
}

static void collect_sources(vp_lanes_t *lanes, const uint32_t *numbers)
{
    uint32_t source;

    for (source = 0; source < lanes->jobs->model->n_ranks; source++) {
        if (numbers[source] > 0) {
            lanes->sources[lanes->n_sources++] = numbers[source] - 1;
        }
    }
}

static void scale(vp_lanes_t *lanes)
{
    uint64_t largest = lanes->jobs->alpha_ticks;
    uint32_t l;

    for (l = 0; l < lanes->n_lanes; l++) {
        largest = lanes->lanes[l].ticks > largest ? lanes->lanes[l].ticks : largest;
    }
    while (largest >> lanes->tick_shift >> (VP_LANE_TICK_BITS - 1) != 0) {
        lanes->tick_shift++;
    }
    for (l = 0; l < lanes->n_lanes; l++) {
        lanes->lanes[l].ticks >>= lanes->tick_shift;
    }
    lanes->alpha = lanes->jobs->alpha_ticks >> lanes->tick_shift;
}

static void fill_masks(vp_lanes_t *lanes)
{
    uint32_t l;
    uint32_t i;

    for (l = 0; l < lanes->n_lanes; l++) {
        const vp_critical_lane_t *lane = &lanes->lanes[l];
        uint64_t *mask = lanes->masks + (size_t)l * lanes->n_words;

        for (i = 0; i < lane->n_ports; i++) {
            mask[lane->ports[i] / 64] |= UINT64_C(1) << (lane->ports[i] % 64);
        }
    }
}

vp_status_t vp_lanes_init(vp_lanes_t *lanes, const vp_jobs_t *jobs, vp_error_t *error)
{
    uint32_t *numbers = vp_array_new(jobs->n_ports, sizeof(*numbers));

    *lanes = (vp_lanes_t){.jobs = jobs};
    count_lanes(lanes);
    lanes->lanes = vp_array_new(lanes->n_lanes, sizeof(*lanes->lanes));
    lanes->sources = vp_array_new(jobs->model->n_ranks, sizeof(*lanes->sources));
    if (numbers == NULL || lanes->lanes == NULL || lanes->sources == NULL) {
        goto err_release;
    }
    fill_lanes(lanes, numbers);
    collect_sources(lanes, numbers);
    scale(lanes);
    lanes->n_words = lanes->n_ports / 64 + 1;
    lanes->masks = vp_array_new((size_t)lanes->n_lanes * lanes->n_words, sizeof(*lanes->masks));
    if (lanes->masks == NULL) {
        goto err_release;
    }
    fill_masks(lanes);
    free(numbers);
    return VP_OK;

err_release:
    free(numbers);
    vp_lanes_release(lanes);
    return vp_error_no_memory(error, "the lanes of a plan");
}

void vp_lanes_release(vp_lanes_t *lanes)
{
    free(lanes->masks);
    free(lanes->sources);
    free(lanes->lanes);
    *lanes = (vp_lanes_t){0};
}
