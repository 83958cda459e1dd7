/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colour_trim.h"

#include <stdlib.h>

#include "base/array.h"

vp_status_t vp_trim_init(vp_trim_t *trim, vp_colouring_t *colouring, vp_error_t *error)
{
    *trim = (vp_trim_t){.colouring = colouring};
    trim->first = vp_array_new(colouring->jobs->n_jobs, sizeof(*trim->first));
    return trim->first != NULL ? VP_OK : vp_error_no_memory(error, "the trimming of a plan");
}

void vp_trim_release(vp_trim_t *trim)
{
    free(trim->steps);
    free(trim->first);
}

vp_status_t vp_trim_start(vp_trim_t *trim, vp_error_t *error)
{
    vp_colouring_t *colouring = trim->colouring;
    size_t i;

    for (i = 0; i < colouring->jobs->n_jobs; i++) {
        trim->first[i] = VP_NO_PIECE;
    }
    for (i = colouring->n_pieces; i-- > 0;) {
        vp_piece_t *piece = &colouring->pieces[i];

        if (piece->n_bytes > 0) {
            piece->next = trim->first[piece->job];
            trim->first[piece->job] = (uint32_t)i;
        }
    }
    if (!vp_array_reserve(&trim->steps, &trim->step_capacity, 1, sizeof(*trim->steps))) {
        return vp_error_no_memory(error, "the trimming of a plan");
    }
    return VP_OK;
}

static bool note(vp_trim_t *trim, uint32_t piece, bool is_new, uint64_t n_bytes)
{
    if (!vp_array_reserve(&trim->steps, &trim->step_capacity, trim->n_steps + 1,
                          sizeof(*trim->steps))) {
        return false;
    }
    trim->steps[trim->n_steps++] = (vp_trim_step_t){piece, is_new, n_bytes};
    return true;
}

static void resize(vp_trim_t *trim, uint32_t number, uint64_t n_bytes)
{
    vp_piece_t *piece = &trim->colouring->pieces[number];

    piece->n_bytes = n_bytes;
    piece->ticks = vp_way_ticks(&trim->colouring->jobs->ways[piece->way], n_bytes);
}

/* Takes all steps back, last first. */
static void undo(vp_trim_t *trim)
{
    vp_colouring_t *colouring = trim->colouring;

    while (trim->n_steps > 0) {
        vp_trim_step_t step = trim->steps[--trim->n_steps];
        vp_piece_t *piece = &colouring->pieces[step.piece];

        if (step.is_new) {
            vp_colouring_take(colouring, piece->colour, step.piece);
            trim->first[piece->job] = piece->next;
            colouring->n_pieces--;
        } else {
            resize(trim, step.piece, piece->n_bytes - step.n_bytes);
        }
    }
}

/* Whole chunks of rest_bytes that fit into `room` bytes, or all; nothing below the least cut. */
static uint64_t portion(const vp_jobs_t *jobs, uint64_t rest_bytes, uint64_t room_bytes)
{
    uint64_t n_bytes = rest_bytes < room_bytes ? rest_bytes : room_bytes;

    if (n_bytes < rest_bytes && rest_bytes - n_bytes < jobs->min_cut_bytes) {
        return 0;
    }
    return n_bytes == rest_bytes || n_bytes >= jobs->min_cut_bytes ? n_bytes : 0;
}

/*
 * Lengthens other pieces of the same job within their colours. There are others
 * only if the job was cut, so all are whole chunks.
 */
static bool top_up(vp_trim_t *trim, const vp_piece_t *piece, uint32_t colour, uint64_t *rest_p)
{
    vp_colouring_t *colouring = trim->colouring;
    uint32_t number = trim->first[piece->job];

    for (; number != VP_NO_PIECE && *rest_p > 0; number = colouring->pieces[number].next) {
        const vp_piece_t *other = &colouring->pieces[number];
        const vp_way_t *way = &colouring->jobs->ways[other->way];
        uint64_t room;
        uint64_t n_bytes;

        if (other->colour == colour || other->n_bytes == 0) {
            continue;
        }
        room = vp_way_bytes_in(way, colouring->ticks[other->colour]);
        n_bytes = room > other->n_bytes
                      ? portion(trim->colouring->jobs, *rest_p, room - other->n_bytes)
                      : 0;
        if (n_bytes == 0) {
            continue;
        }
        if (!note(trim, number, false, n_bytes)) {
            return false;
        }
        *rest_p -= n_bytes;
        resize(trim, number, other->n_bytes + n_bytes);
    }
    return true;
}

static bool add_part(vp_trim_t *trim, uint32_t model_piece, uint32_t way, uint32_t colour,
                     uint64_t n_bytes, vp_error_t *error, vp_status_t *status_p)
{
    vp_colouring_t *colouring = trim->colouring;
    vp_piece_t part = colouring->pieces[model_piece];
    uint32_t number;

    part.way = way;
    part.n_bytes = n_bytes;
    part.ticks = vp_way_ticks(&colouring->jobs->ways[way], n_bytes);
    part.next = trim->first[part.job];
    *status_p = vp_colouring_add_piece(colouring, &part, &number, error);
    if (*status_p != VP_OK) {
        return false;
    }
    if (!note(trim, number, true, n_bytes)) {
        colouring->n_pieces--;
        *status_p = vp_error_no_memory(error, "the trimming of a plan");
        return false;
    }
    vp_colouring_put(colouring, colour, number);
    trim->first[part.job] = number;
    return true;
}

/* Puts new pieces of the job where its ports are free. */
static vp_status_t spread(vp_trim_t *trim, uint32_t number, uint32_t colour, uint64_t *rest_p,
                          vp_error_t *error)
{
    vp_colouring_t *colouring = trim->colouring;
    const vp_jobs_t *jobs = colouring->jobs;
    const vp_piece_t *piece = &colouring->pieces[number];
    const vp_job_t *job = &jobs->jobs[piece->job];
    uint32_t w;

    for (w = job->first_way; w<job->first_way + job->n_ways && * rest_p> 0; w++) {
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = vp_jobs_ports(jobs, job->source, job->destination, w, ports);
        uint32_t k = vp_colouring_first(colouring, ports, n_ports, 0);

        for (; k != VP_NO_COLOUR && *rest_p > 0;
             k = vp_colouring_first(colouring, ports, n_ports, k + 1)) {
            uint64_t room = vp_way_bytes_in(&jobs->ways[w], colouring->ticks[k]);
            uint64_t n_bytes = k == colour ? 0 : portion(jobs, *rest_p, room);
            vp_status_t status;

            if (n_bytes < jobs->min_cut_bytes || colouring->n_lanes[k] == 0) {
                continue;
            }
            if (!add_part(trim, number, w, k, n_bytes, error, &status)) {
                return status;
            }
            *rest_p -= n_bytes;
        }
    }
    return VP_OK;
}

/* Finds room elsewhere for what one piece has above `height`. */
static vp_status_t rehome(vp_trim_t *trim, uint32_t number, uint32_t colour, uint64_t height,
                          bool *done_p, vp_error_t *error)
{
    vp_colouring_t *colouring = trim->colouring;
    const vp_piece_t *piece = &colouring->pieces[number];
    uint64_t kept = vp_way_bytes_in(&colouring->jobs->ways[piece->way], height);
    uint64_t rest;
    vp_status_t status = VP_OK;

    if (kept > 0 && kept < colouring->jobs->min_cut_bytes) {
        *done_p = false;
        return VP_OK;
    }
    rest = vp_round_to_chunks(colouring->jobs, piece->n_bytes - kept);
    if (!top_up(trim, piece, colour, &rest)) {
        return vp_error_no_memory(error, "the trimming of a plan");
    }
    if (rest > 0) {
        status = spread(trim, number, colour, &rest, error);
    }
    *done_p = rest == 0;
    return status;
}

/* Cuts the pieces of the colour down to `height`, now that the rest is elsewhere. */
static void cut_down(vp_trim_t *trim, uint32_t colour, uint64_t height)
{
    vp_colouring_t *colouring = trim->colouring;
    uint32_t source;

    for (source = 0; source < colouring->jobs->model->n_ranks; source++) {
        uint32_t number;
        vp_piece_t *piece;

        if (vp_colouring_is_free(colouring, source, colour)) {
            continue;
        }
        number = vp_colouring_owner(colouring, source, colour);
        piece = &colouring->pieces[number];
        if (piece->ticks <= height) {
            continue;
        }
        resize(trim, number, vp_way_bytes_in(&colouring->jobs->ways[piece->way], height));
        if (piece->n_bytes == 0) {
            vp_colouring_take(colouring, colour, number);
            piece->colour = VP_NO_COLOUR;
        }
    }
    vp_colouring_measure(colouring, colour);
}

vp_status_t vp_trim_lower(vp_trim_t *trim, uint32_t colour, uint64_t height, bool *done_p,
                          vp_error_t *error)
{
    vp_colouring_t *colouring = trim->colouring;
    bool done = true;
    vp_status_t status = VP_OK;
    uint32_t source;

    trim->n_steps = 0;
    for (source = 0; source < colouring->jobs->model->n_ranks && done && status == VP_OK;
         source++) {
        if (!vp_colouring_is_free(colouring, source, colour)) {
            uint32_t number = vp_colouring_owner(colouring, source, colour);

            if (colouring->pieces[number].ticks > height) {
                status = rehome(trim, number, colour, height, &done, error);
            }
        }
    }
    colouring->steps += source;
    if (status != VP_OK || !done) {
        undo(trim);
    } else {
        cut_down(trim, colour, height);
    }
    *done_p = done;
    return status;
}

uint64_t vp_trim_second(const vp_trim_t *trim, uint32_t colour)
{
    const vp_colouring_t *colouring = trim->colouring;
    uint64_t second = 0;
    uint32_t source;

    for (source = 0; source < colouring->jobs->model->n_ranks; source++) {
        if (!vp_colouring_is_free(colouring, source, colour)) {
            uint64_t ticks = colouring->pieces[vp_colouring_owner(colouring, source, colour)].ticks;

            second = ticks < colouring->ticks[colour] && ticks > second ? ticks : second;
        }
    }
    return second;
}
