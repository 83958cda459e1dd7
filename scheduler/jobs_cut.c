/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

vp_status_t vp_cut_init(vp_cut_t *cut, const vp_jobs_t *jobs, vp_error_t *error)
{
    *cut = (vp_cut_t){.pool = jobs->pool};
    cut->load = vp_array_new(jobs->n_ports, sizeof(*cut->load));
    return cut->load != NULL ? VP_OK : vp_error_no_memory(error, "the loads of ports");
}

void vp_cut_release(vp_cut_t *cut)
{
    free(cut->load);
    vp_pool_give(cut->pool, cut->spare);
    vp_pool_give(cut->pool, cut->order);
    vp_pool_give(cut->pool, cut->pieces);
    *cut = (vp_cut_t){0};
}

static void set_piece(vp_piece_t *piece, const vp_job_t *job, size_t j)
{
    piece->n_bytes = job->n_bytes;
    piece->ticks = job->ticks;
    piece->way = job->first_way;
    piece->job = (uint32_t)j;
    piece->colour = VP_NO_COLOUR;
    piece->next = VP_NO_PIECE;
    piece->source = job->source;
    piece->destination = job->destination;
}

static void add_load(vp_cut_t *cut, const vp_jobs_t *jobs, const vp_piece_t *piece)
{
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(jobs, piece, ports);
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        cut->load[ports[i]].ticks += piece->ticks;
        cut->load[ports[i]].count++;
    }
}

/*
 * Bytes of the next piece of `rest_bytes` at a quantum of tau_bytes, a multiple
 * of the chunk: never so many that a sliver remains.
 */
static uint64_t next_piece(const vp_jobs_t *jobs, uint64_t rest_bytes, uint64_t tau_bytes)
{
    uint64_t least_bytes;

    if (tau_bytes < jobs->min_cut_bytes) {
        tau_bytes = jobs->min_cut_bytes;
    }
    least_bytes = tau_bytes / 32 > jobs->min_cut_bytes ? tau_bytes / 32 : jobs->min_cut_bytes;
    return rest_bytes < tau_bytes + least_bytes ? rest_bytes : tau_bytes;
}

/* The way that leaves the fullest of its ports least full, then all of them; the first of equals.
 */
static uint32_t choose_way(const vp_cut_t *cut, const vp_jobs_t *jobs, const vp_job_t *job,
                           uint64_t rest_bytes, uint64_t tau_ticks)
{
    uint64_t best_peak = UINT64_MAX;
    uint64_t best_sum = UINT64_MAX;
    uint32_t best = job->first_way;
    uint32_t w;

    for (w = job->first_way; w < job->first_way + job->n_ways; w++) {
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = vp_jobs_ports(jobs, job->source, job->destination, w, ports);
        uint64_t ticks = vp_way_ticks(&jobs->ways[w], rest_bytes);
        uint64_t peak = 0;
        uint64_t sum = 0;
        uint32_t i;

        ticks = ticks < tau_ticks ? ticks : tau_ticks;
        for (i = 0; i < n_ports; i++) {
            const vp_port_load_t *load = &cut->load[ports[i]];
            uint64_t busy = load->ticks + jobs->alpha_ticks * load->count;

            peak = busy + ticks > peak ? busy + ticks : peak;
            sum += busy / n_ports;
        }
        if (peak < best_peak || (peak == best_peak && sum < best_sum)) {
            best_peak = peak;
            best_sum = sum;
            best = w;
        }
    }
    return best;
}

static bool reserve(vp_cut_t *cut, size_t n_pieces)
{
    return n_pieces <= cut->capacity ||
           vp_pool_reserve(cut->pool, &cut->pieces, &cut->capacity, n_pieces, sizeof(*cut->pieces));
}

/*
 * What is left of a job that was cut is rounded up to whole chunks: any of its
 * pieces may become its last lane, which then gets what there really is.
 */
static bool cut_job(vp_cut_t *cut, const vp_jobs_t *jobs, size_t j, uint64_t tau_ticks)
{
    const vp_job_t *job = &jobs->jobs[j];
    uint64_t rest_bytes = job->n_bytes;
    bool whole = true;

    while (rest_bytes > 0) {
        uint32_t way =
            job->n_ways == 1 ? job->first_way : choose_way(cut, jobs, job, rest_bytes, tau_ticks);
        uint64_t n_bytes = rest_bytes;
        vp_piece_t *piece;

        if (vp_way_ticks(&jobs->ways[way], rest_bytes) > tau_ticks) {
            n_bytes = next_piece(jobs, rest_bytes, vp_way_bytes_in(&jobs->ways[way], tau_ticks));
        }
        if (!reserve(cut, cut->n_pieces + 1)) {
            return false;
        }
        rest_bytes -= n_bytes;
        if (rest_bytes == 0 && !whole) {
            n_bytes = vp_round_to_chunks(jobs, n_bytes);
        }
        piece = &cut->pieces[cut->n_pieces++];
        set_piece(piece, job, j);
        piece->n_bytes = n_bytes;
        piece->ticks = vp_way_ticks(&jobs->ways[way], n_bytes);
        piece->way = way;
        add_load(cut, jobs, piece);
        whole = false;
    }
    return true;
}

/* Takes a job with one way off the loads, which hold it whole. */
static void drop_load(vp_cut_t *cut, const vp_jobs_t *jobs, const vp_job_t *job)
{
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_jobs_ports(jobs, job->source, job->destination, job->first_way, ports);
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        cut->load[ports[i]].ticks -= job->ticks;
        cut->load[ports[i]].count--;
    }
}

static void find_maxima(vp_cut_t *cut, const vp_jobs_t *jobs)
{
    uint32_t p;
    size_t i;

    cut->max_ticks = 0;
    cut->max_count = 0;
    cut->longest = 0;
    for (p = 0; p < jobs->n_ports; p++) {
        const vp_port_load_t *load = &cut->load[p];

        cut->max_ticks = load->ticks > cut->max_ticks ? load->ticks : cut->max_ticks;
        cut->max_count = load->count > cut->max_count ? load->count : cut->max_count;
    }
    for (i = 0; i < cut->n_pieces; i++) {
        uint64_t ticks = cut->pieces[i].ticks;

        cut->longest = ticks > cut->longest ? ticks : cut->longest;
    }
}

vp_status_t vp_cut_make(vp_cut_t *cut, const vp_jobs_t *jobs, uint64_t tau_ticks, vp_error_t *error)
{
    bool fits = reserve(cut, jobs->n_jobs);
    size_t j;

    cut->n_pieces = 0;
    memcpy(cut->load, jobs->single_load, jobs->n_ports * sizeof(*cut->load));
    for (j = 0; j < jobs->n_single && fits; j++) {
        if (jobs->jobs[j].ticks <= tau_ticks) {
            fits = reserve(cut, cut->n_pieces + 1);
            if (fits) {
                set_piece(&cut->pieces[cut->n_pieces++], &jobs->jobs[j], j);
            }
        } else {
            drop_load(cut, jobs, &jobs->jobs[j]);
            fits = cut_job(cut, jobs, j, tau_ticks);
        }
    }
    for (; j < jobs->n_jobs && fits; j++) {
        fits = cut_job(cut, jobs, j, tau_ticks);
    }
    if (!fits) {
        return vp_error_no_memory(error, "the pieces of a demand");
    }
    find_maxima(cut, jobs);
    return VP_OK;
}

uint64_t vp_cut_bound(const vp_cut_t *cut, const vp_jobs_t *jobs)
{
    return cut->max_ticks + jobs->alpha_ticks * cut->max_count;
}

/* Keys of the sort: complement of the length in the high half, number of the piece in the low. */
enum { KEY_SHIFT = 32, DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS, KEY_BITS = 2 * DIGIT_BITS };

static void sort_pass(const uint64_t *from, uint64_t *to, size_t n, uint32_t shift)
{
    uint32_t begin[N_DIGITS] = {0};
    uint32_t sum = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        begin[from[i] >> shift & (N_DIGITS - 1)]++;
    }
    for (i = 0; i < N_DIGITS; i++) {
        uint32_t n_keys = begin[i];

        begin[i] = sum;
        sum += n_keys;
    }
    for (i = 0; i < n; i++) {
        to[begin[from[i] >> shift & (N_DIGITS - 1)]++] = from[i];
    }
}

static void sort_few(uint64_t *order, size_t n)
{
    size_t i;

    for (i = 1; i < n; i++) {
        uint64_t key = order[i];
        size_t at = i;

        for (; at > 0 && order[at - 1] > key; at--) {
            order[at] = order[at - 1];
        }
        order[at] = key;
    }
}

/* Room for the order of all pieces; its old contents do not matter. */
static bool make_room_to_sort(vp_cut_t *cut)
{
    size_t capacities[2] = {cut->order_capacity, cut->order_capacity};
    bool fits =
        vp_pool_reserve(cut->pool, &cut->order, &capacities[0], cut->n_pieces,
                        sizeof(*cut->order)) &&
        vp_pool_reserve(cut->pool, &cut->spare, &capacities[1], cut->n_pieces, sizeof(*cut->spare));

    cut->order_capacity = fits ? capacities[0] : cut->order_capacity;
    return fits;
}

vp_status_t vp_cut_sort(vp_cut_t *cut, vp_error_t *error)
{
    enum { FEW = 64 };
    const uint64_t all = (UINT64_C(1) << KEY_BITS) - 1;
    uint32_t shift = 0;
    bool equal = true;
    size_t i;

    if (!make_room_to_sort(cut)) {
        return vp_error_no_memory(error, "the pieces of a demand");
    }
    while (cut->longest >> shift > all) {
        shift++;
    }
    cut->grain = UINT64_C(1) << shift;
    for (i = 0; i < cut->n_pieces; i++) {
        cut->order[i] = (all - (cut->pieces[i].ticks >> shift)) << KEY_SHIFT | i;
        equal = equal && cut->pieces[i].ticks == cut->longest;
    }
    if (equal) {
        return VP_OK;
    }
    if (cut->n_pieces <= FEW) {
        sort_few(cut->order, cut->n_pieces);
        return VP_OK;
    }
    sort_pass(cut->order, cut->spare, cut->n_pieces, KEY_SHIFT);
    sort_pass(cut->spare, cut->order, cut->n_pieces, KEY_SHIFT + DIGIT_BITS);
    return VP_OK;
}

void vp_piece_shorten(const vp_jobs_t *jobs, vp_piece_t *piece, uint64_t n_bytes)
{
    uint64_t rest_bytes = piece->n_bytes - n_bytes;

    piece->n_bytes = vp_round_to_chunks(jobs, rest_bytes);
    piece->ticks = vp_way_ticks(&jobs->ways[piece->way], piece->n_bytes);
}
