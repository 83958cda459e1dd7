/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colour_improve.h"

#include <stdlib.h>

#include "base/array.h"
#include "scheduler/colour_trim.h"

enum { WINDOW = 8, MAX_PASSES = 8 };

typedef struct improver {
    vp_colouring_t *colouring;
    uint64_t stop_at; /* steps of the colouring */
    uint32_t *order;  /* [n_colours] */
    uint32_t n_order;
    uint32_t *part; /* [2 * n_ranks] pieces of a part, first those of the taller colour */
    uint32_t *swap; /* [2 * n_ranks] pieces that change their colour */
    uint32_t n_swap;
    size_t seen_capacity;
    uint32_t *seen; /* [seen_capacity] by piece: stamp */
    uint32_t stamp;
    vp_trim_t trim;
} improver_t;

static vp_status_t init(improver_t *improver, vp_colouring_t *colouring, vp_error_t *error)
{
    size_t n_ranks = colouring->jobs->model->n_ranks;
    uint32_t k;

    improver->colouring = colouring;
    improver->order = vp_array_new(colouring->n_colours, sizeof(*improver->order));
    improver->part = vp_array_new(2 * n_ranks, sizeof(*improver->part));
    improver->swap = vp_array_new(2 * n_ranks, sizeof(*improver->swap));
    if (improver->order == NULL || improver->part == NULL || improver->swap == NULL) {
        return vp_error_no_memory(error, "the improvement of a plan");
    }
    for (k = 0; k < colouring->n_colours; k++) {
        vp_colouring_need_row(colouring, k);
    }
    return vp_trim_init(&improver->trim, colouring, error);
}

static void release(improver_t *improver)
{
    vp_trim_release(&improver->trim);
    free(improver->seen);
    free(improver->swap);
    free(improver->part);
    free(improver->order);
}

/* Colours with pieces by length; equals by number. */
static void sort_colours(improver_t *improver, bool descending)
{
    const vp_colouring_t *colouring = improver->colouring;
    uint32_t k;

    improver->n_order = 0;
    for (k = 0; k < colouring->n_colours; k++) {
        uint32_t at = improver->n_order;

        if (colouring->n_lanes[k] == 0) {
            continue;
        }
        for (; at > 0; at--) {
            uint64_t before = colouring->ticks[improver->order[at - 1]];

            if (descending ? before >= colouring->ticks[k] : before <= colouring->ticks[k]) {
                break;
            }
            improver->order[at] = improver->order[at - 1];
        }
        improver->order[at] = k;
        improver->n_order++;
    }
}

static vp_status_t make_marks(improver_t *improver, vp_error_t *error)
{
    size_t capacity = improver->seen_capacity;

    if (!vp_array_reserve(&improver->seen, &improver->seen_capacity, improver->colouring->n_pieces,
                          sizeof(*improver->seen))) {
        return vp_error_no_memory(error, "the improvement of a plan");
    }
    for (; capacity < improver->seen_capacity; capacity++) {
        improver->seen[capacity] = 0;
    }
    return VP_OK;
}

/* Longest pieces of a part in two colours. */
typedef struct heights {
    uint64_t a;
    uint64_t b;
} heights_t;

/* The conflict-closed part of colours a and b around a piece; its pieces are marked. */
static heights_t follow(improver_t *improver, uint32_t a, uint32_t b, uint32_t number,
                        uint32_t *n_part_p)
{
    vp_colouring_t *colouring = improver->colouring;
    heights_t heights = {0, 0};
    uint32_t n_part = 0;
    uint32_t next;
    uint32_t i;

    improver->seen[number] = improver->stamp;
    improver->part[n_part++] = number;
    for (next = 0; next < n_part; next++) {
        const vp_piece_t *piece = &colouring->pieces[improver->part[next]];
        uint32_t other = piece->colour == a ? b : a;
        uint64_t *height = piece->colour == a ? &heights.a : &heights.b;
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = vp_piece_ports(colouring->jobs, piece, ports);

        *height = piece->ticks > *height ? piece->ticks : *height;
        colouring->steps += 4 * (uint64_t)n_ports;
        for (i = 0; i < n_ports; i++) {
            if (!vp_colouring_is_free(colouring, ports[i], other)) {
                uint32_t met = vp_colouring_owner(colouring, ports[i], other);

                if (improver->seen[met] != improver->stamp) {
                    improver->seen[met] = improver->stamp;
                    improver->part[n_part++] = met;
                }
            }
        }
    }
    *n_part_p = n_part;
    return heights;
}

/* Follows all parts of both colours, notes those that must swap, returns the shorter length then.
 */
static uint64_t orient(improver_t *improver, uint32_t tall, uint32_t low)
{
    vp_colouring_t *colouring = improver->colouring;
    const uint32_t colours[2] = {tall, low};
    uint64_t shorter = 0;
    uint32_t side;
    uint32_t source;
    uint32_t i;

    improver->stamp++;
    improver->n_swap = 0;
    for (side = 0; side < 2; side++) {
        for (source = 0; source < colouring->jobs->model->n_ranks; source++) {
            uint32_t n_part;
            uint32_t number;
            heights_t heights;

            if (vp_colouring_is_free(colouring, source, colours[side])) {
                continue;
            }
            number = vp_colouring_owner(colouring, source, colours[side]);
            if (improver->seen[number] == improver->stamp) {
                continue;
            }
            heights = follow(improver, tall, low, number, &n_part);
            if (heights.a < heights.b) {
                for (i = 0; i < n_part; i++) {
                    improver->swap[improver->n_swap++] = improver->part[i];
                }
                heights.b = heights.a;
            }
            shorter = heights.b > shorter ? heights.b : shorter;
        }
    }
    colouring->steps += 4 * (uint64_t)source;
    return shorter;
}

/* Puts long pieces of two colours together where that gains. */
static void recombine(improver_t *improver, uint32_t a, uint32_t b)
{
    vp_colouring_t *colouring = improver->colouring;
    uint32_t tall = colouring->ticks[a] >= colouring->ticks[b] ? a : b;
    uint32_t low = tall == a ? b : a;
    uint32_t i;

    if (colouring->n_lanes[a] == 0 || colouring->n_lanes[b] == 0 ||
        orient(improver, tall, low) >= colouring->ticks[low]) {
        return;
    }
    for (i = 0; i < improver->n_swap; i++) {
        uint32_t number = improver->swap[i];

        vp_colouring_take(colouring, colouring->pieces[number].colour, number);
    }
    for (i = 0; i < improver->n_swap; i++) {
        uint32_t number = improver->swap[i];

        vp_colouring_put(colouring, colouring->pieces[number].colour == tall ? low : tall, number);
    }
    vp_colouring_measure(colouring, tall);
    vp_colouring_measure(colouring, low);
}

static bool is_spent(const improver_t *improver)
{
    return improver->colouring->steps >= improver->stop_at;
}

static vp_status_t recombine_all(improver_t *improver, vp_error_t *error)
{
    vp_status_t status = make_marks(improver, error);
    uint32_t i;
    uint32_t j;

    sort_colours(improver, true);
    for (i = 0; i < improver->n_order && status == VP_OK && !is_spent(improver); i++) {
        for (j = i + 1; j < improver->n_order && j <= i + WINDOW; j++) {
            recombine(improver, improver->order[i], improver->order[j]);
        }
    }
    return status;
}

/* Tries to do without a colour, else to make it shorter by its longest pieces. */
static vp_status_t trim_colour(improver_t *improver, uint32_t colour, vp_error_t *error)
{
    enum { MAX_ROUNDS = 8 };
    vp_colouring_t *colouring = improver->colouring;
    bool done = false;
    vp_status_t status = vp_trim_lower(&improver->trim, colour, 0, &done, error);
    uint32_t round;

    for (round = 0; round < MAX_ROUNDS && status == VP_OK && colouring->n_lanes[colour] > 0;
         round++) {
        uint64_t height = colouring->ticks[colour];
        uint64_t target = vp_trim_second(&improver->trim, colour);

        target = target > height / 2 ? target : height / 2;
        status = vp_trim_lower(&improver->trim, colour, target, &done, error);
        if (status == VP_OK && !done) {
            status = vp_trim_lower(&improver->trim, colour, height - (height - target) / 4, &done,
                                   error);
        }
        if (!done) {
            break;
        }
    }
    return status;
}

static vp_status_t trim_all(improver_t *improver, vp_error_t *error)
{
    vp_status_t status = vp_trim_start(&improver->trim, error);
    uint32_t i;

    sort_colours(improver, false);
    for (i = 0; i < improver->n_order && status == VP_OK && !is_spent(improver); i++) {
        if (improver->colouring->n_lanes[improver->order[i]] > 0) {
            status = trim_colour(improver, improver->order[i], error);
        }
    }
    return status;
}

vp_status_t vp_colouring_improve(vp_colouring_t *colouring, uint64_t max_steps, vp_error_t *error)
{
    improver_t improver = {.stop_at = colouring->steps + max_steps};
    vp_status_t status = init(&improver, colouring, error);
    uint32_t pass;

    for (pass = 0; pass < MAX_PASSES && status == VP_OK && !is_spent(&improver); pass++) {
        uint64_t before = colouring->cost;

        status = recombine_all(&improver, error);
        if (status == VP_OK) {
            status = trim_all(&improver, error);
        }
        if (before - colouring->cost < before / 8192 + 1) {
            break;
        }
    }
    release(&improver);
    return status;
}
