/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colour_fit.h"

#include <stdlib.h>

#include "base/array.h"

typedef struct fit {
    vp_colouring_t *colouring;
    vp_kempe_t *kempe;
    const vp_cut_t *cut;
    const vp_fit_options_t *options;
} fit_t;

/* A place for a piece. */
typedef struct place {
    uint32_t colour;
    uint32_t way;
    uint64_t ticks; /* length of the colour, or of the piece where it grows it */
} place_t;

/* The largest load of the piece's ports. */
static uint64_t pressure(const vp_cut_t *cut, const vp_jobs_t *jobs, const vp_piece_t *piece)
{
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(jobs, piece, ports);
    uint64_t largest = 0;
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        largest = cut->load[ports[i]].ticks > largest ? cut->load[ports[i]].ticks : largest;
    }
    return largest;
}

static uint64_t ticks_on(const vp_jobs_t *jobs, const vp_piece_t *piece, uint32_t way)
{
    return way == piece->way ? piece->ticks : vp_way_ticks(&jobs->ways[way], piece->n_bytes);
}

/* The shortest colour that is free and long enough for the piece on a way; if none, the longest. */
static void scan_way(fit_t *fit, const vp_piece_t *piece, uint32_t way, place_t *fits,
                     place_t *grows)
{
    vp_colouring_t *colouring = fit->colouring;
    uint64_t ticks = ticks_on(colouring->jobs, piece, way);
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports =
        vp_jobs_ports(colouring->jobs, piece->source, piece->destination, way, ports);
    uint32_t k = vp_colouring_first(colouring, ports, n_ports, 0);

    for (; k != VP_NO_COLOUR; k = vp_colouring_first(colouring, ports, n_ports, k + 1)) {
        uint64_t length = colouring->ticks[k];

        if (length >= ticks && length < fits->ticks) {
            *fits = (place_t){k, way, length};
        } else if (length < ticks && ticks - length < grows->ticks) {
            *grows = (place_t){k, way, ticks - length};
        }
    }
}

/* Puts a piece, moving it to another way if need be. */
static void settle(fit_t *fit, uint32_t number, uint32_t colour, uint32_t way)
{
    vp_piece_t *piece = &fit->colouring->pieces[number];

    if (way != piece->way) {
        piece->ticks = ticks_on(fit->colouring->jobs, piece, way);
        piece->way = way;
    }
    vp_colouring_put(fit->colouring, colour, number);
}

/* A colour that costs nothing, on the piece's own way if possible. Otherwise *grows_p. */
static bool place_free(fit_t *fit, uint32_t number, place_t *grows_p)
{
    const vp_jobs_t *jobs = fit->colouring->jobs;
    const vp_piece_t *piece = &fit->colouring->pieces[number];
    const vp_job_t *job = &jobs->jobs[piece->job];
    place_t fits = {VP_NO_COLOUR, piece->way, UINT64_MAX};
    uint32_t w;

    scan_way(fit, piece, piece->way, &fits, grows_p);
    for (w = 0; w < job->n_ways && fits.colour == VP_NO_COLOUR; w++) {
        if (job->first_way + w != piece->way) {
            scan_way(fit, piece, job->first_way + w, &fits, grows_p);
        }
    }
    if (fits.colour == VP_NO_COLOUR) {
        return false;
    }
    settle(fit, number, fits.colour, fits.way);
    return true;
}

/* Room for a piece over all free colours of its way. */
static uint64_t slack(fit_t *fit, const uint32_t *ports, uint32_t n_ports, uint64_t enough)
{
    vp_colouring_t *colouring = fit->colouring;
    uint64_t sum = 0;
    uint32_t k = vp_colouring_first(colouring, ports, n_ports, 0);

    while (k != VP_NO_COLOUR && sum < enough) {
        sum += colouring->ticks[k];
        k = vp_colouring_first(colouring, ports, n_ports, k + 1);
    }
    return sum;
}

static uint32_t longest_free(fit_t *fit, const uint32_t *ports, uint32_t n_ports)
{
    vp_colouring_t *colouring = fit->colouring;
    uint32_t longest = VP_NO_COLOUR;
    uint32_t k = vp_colouring_first(colouring, ports, n_ports, 0);

    for (; k != VP_NO_COLOUR; k = vp_colouring_first(colouring, ports, n_ports, k + 1)) {
        if (longest == VP_NO_COLOUR || colouring->ticks[k] > colouring->ticks[longest]) {
            longest = k;
        }
    }
    return longest;
}

/*
 * Splits a piece over the longest free colours. True if all of it found room;
 * otherwise the piece is what is left.
 */
static vp_status_t place_split(fit_t *fit, uint32_t number, bool *placed_p, vp_error_t *error)
{
    vp_colouring_t *colouring = fit->colouring;
    const vp_jobs_t *jobs = colouring->jobs;
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(jobs, &colouring->pieces[number], ports);

    *placed_p = false;
    if (pressure(fit->cut, jobs, &colouring->pieces[number]) >=
            fit->cut->max_ticks - fit->cut->max_ticks / 16 ||
        slack(fit, ports, n_ports, colouring->pieces[number].ticks) <
            colouring->pieces[number].ticks) {
        return VP_OK;
    }
    for (;;) {
        vp_piece_t *piece = &colouring->pieces[number];
        const vp_way_t *way = &jobs->ways[piece->way];
        uint32_t k = longest_free(fit, ports, n_ports);
        uint64_t n_bytes = k == VP_NO_COLOUR ? 0 : vp_way_bytes_in(way, colouring->ticks[k]);
        vp_piece_t part = *piece;
        uint32_t part_number;
        vp_status_t status;

        if (k != VP_NO_COLOUR && piece->ticks <= colouring->ticks[k]) {
            vp_colouring_put(colouring, k, number);
            *placed_p = true;
            return VP_OK;
        }
        if (n_bytes < jobs->min_cut_bytes || piece->n_bytes - n_bytes < jobs->min_cut_bytes) {
            return VP_OK;
        }
        part.n_bytes = n_bytes;
        part.ticks = vp_way_ticks(way, n_bytes);
        vp_piece_shorten(jobs, piece, n_bytes);
        status = vp_colouring_add_piece(colouring, &part, &part_number, error);
        if (status != VP_OK) {
            return status;
        }
        vp_colouring_put(colouring, k, part_number);
    }
}

static vp_status_t place_new(fit_t *fit, uint32_t number, vp_error_t *error)
{
    uint32_t colour;
    vp_status_t status = vp_colouring_open(fit->colouring, &colour, error);

    if (status == VP_OK) {
        vp_colouring_put(fit->colouring, colour, number);
    }
    return status;
}

/* A piece that no colour has room for as things are. */
static vp_status_t place_hard(fit_t *fit, uint32_t number, vp_error_t *error)
{
    vp_colouring_t *colouring = fit->colouring;
    place_t grows = {VP_NO_COLOUR, 0, UINT64_MAX};
    bool placed = place_free(fit, number, &grows);
    vp_status_t status = VP_OK;

    if (!placed && fit->options->fill) {
        status = place_split(fit, number, &placed, error);
    }
    if (status == VP_OK && !placed && fit->options->width > 0) {
        uint64_t limit = colouring->jobs->alpha_ticks + colouring->pieces[number].ticks;

        limit = grows.ticks < limit ? grows.ticks : limit;
        status = vp_kempe_place(fit->kempe, number, fit->options->width, limit, &placed, error);
    }
    if (status != VP_OK || placed) {
        return status;
    }
    if (grows.colour != VP_NO_COLOUR &&
        grows.ticks < colouring->jobs->alpha_ticks + colouring->pieces[number].ticks) {
        settle(fit, number, grows.colour, grows.way);
        return VP_OK;
    }
    return place_new(fit, number, error);
}

static vp_status_t place(fit_t *fit, uint32_t number, vp_error_t *error)
{
    vp_colouring_t *colouring = fit->colouring;
    const vp_piece_t *piece = &colouring->pieces[number];
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(colouring->jobs, piece, ports);
    uint32_t k = vp_colouring_first(colouring, ports, n_ports, 0);

    if (k != VP_NO_COLOUR && colouring->ticks[k] + fit->cut->grain > piece->ticks) {
        vp_colouring_put(colouring, k, number);
        return VP_OK;
    }
    return place_hard(fit, number, error);
}

/*
 * Copies the pieces in their order: the colouring then walks through memory
 * from one end to the other, and all misses are here, where they overlap.
 */
static vp_status_t copy_pieces(vp_colouring_t *colouring, const vp_cut_t *cut, vp_error_t *error)
{
    size_t i;

    if (!vp_pool_reserve(colouring->jobs->pool, &colouring->pieces, &colouring->piece_capacity,
                         cut->n_pieces, sizeof(*colouring->pieces))) {
        return vp_error_no_memory(error, "the pieces of a plan");
    }
    for (i = 0; i < cut->n_pieces; i++) {
        colouring->pieces[i] = cut->pieces[(uint32_t)cut->order[i]];
    }
    colouring->n_pieces = cut->n_pieces;
    return VP_OK;
}

vp_status_t vp_fit(vp_colouring_t *colouring, vp_kempe_t *kempe, const vp_cut_t *cut,
                   const vp_fit_options_t *options, vp_error_t *error)
{
    enum { AHEAD = 16 };
    fit_t fit = {.colouring = colouring, .kempe = kempe, .cut = cut, .options = options};
    size_t n_pieces = cut->n_pieces;
    vp_status_t status =
        vp_colouring_reset(colouring, cut->max_count + cut->max_count / 4 + 32, error);
    size_t i;

    if (status == VP_OK) {
        status = copy_pieces(colouring, cut, error);
    }
    kempe->colouring = colouring;
    for (i = 0; i < n_pieces && status == VP_OK && colouring->cost < options->limit; i++) {
        if (i + AHEAD < n_pieces) {
            __builtin_prefetch(&colouring->jobs->ways[colouring->pieces[i + AHEAD].way]);
        }
        status = place(&fit, (uint32_t)i, error);
    }
    return status;
}
