/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/list_order.h"

#include <stdlib.h>

#include "base/array.h"

/* Of a port's rest: the squares of all ports of a piece add up in 64 bits. */
enum { URGENCY_BITS = 28 };

/* A piece under way. */
typedef struct ending {
    uint64_t at_ticks;
    uint32_t piece;
} ending_t;

typedef struct port {
    uint64_t rest_ticks; /* of pieces that have not started, overheads counted */
    size_t begin;        /* its pieces in `through`, longest first */
    size_t n_pieces;     /* that are left there; those that started go when they are met */
    bool is_busy;
} port_t;

typedef struct pass {
    const vp_jobs_t *jobs;
    const vp_cut_t *cut;
    vp_urgency_t urgency;
    uint32_t shift; /* from ticks to urgency */
    port_t *ports;
    uint32_t *through;
    bool *has_started; /* [n_pieces] */
    ending_t *endings; /* heap, earliest first, then the lowest piece */
    size_t n_endings;
    uint32_t *freed; /* [n_ports] ports that fell free now */
    size_t n_freed;
    uint64_t now_ticks;
} pass_t;

static uint64_t length_of(const pass_t *pass, uint32_t piece)
{
    return pass->cut->pieces[piece].ticks + pass->jobs->alpha_ticks;
}

static uint32_t ports_of(const pass_t *pass, uint32_t piece, uint32_t ports[VP_JOBS_MAX_PORTS])
{
    return vp_piece_ports(pass->jobs, &pass->cut->pieces[piece], ports);
}

static bool ends_before(const ending_t *a, const ending_t *b)
{
    return a->at_ticks != b->at_ticks ? a->at_ticks < b->at_ticks : a->piece < b->piece;
}

static void push_ending(pass_t *pass, ending_t ending)
{
    size_t at = pass->n_endings++;

    while (at > 0 && ends_before(&ending, &pass->endings[(at - 1) / 2])) {
        pass->endings[at] = pass->endings[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    pass->endings[at] = ending;
}

static ending_t pop_ending(pass_t *pass)
{
    ending_t first = pass->endings[0];
    ending_t last = pass->endings[--pass->n_endings];
    size_t at = 0;

    while (2 * at + 1 < pass->n_endings) {
        size_t child = 2 * at + 1;

        if (child + 1 < pass->n_endings &&
            ends_before(&pass->endings[child + 1], &pass->endings[child])) {
            child++;
        }
        if (!ends_before(&pass->endings[child], &last)) {
            break;
        }
        pass->endings[at] = pass->endings[child];
        at = child;
    }
    pass->endings[at] = last;
    return first;
}

/* Loads of ports and the pieces of each, longest first. */
static void fill_ports(pass_t *pass)
{
    uint64_t fullest = 0;
    size_t begin = 0;
    size_t i;
    uint32_t p;
    uint32_t k;

    for (i = 0; i < pass->cut->n_pieces; i++) {
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = ports_of(pass, (uint32_t)i, ports);

        for (k = 0; k < n_ports; k++) {
            pass->ports[ports[k]].rest_ticks += length_of(pass, (uint32_t)i);
            pass->ports[ports[k]].n_pieces++;
        }
    }
    for (p = 0; p < pass->jobs->n_ports; p++) {
        port_t *port = &pass->ports[p];

        port->begin = begin;
        begin += port->n_pieces;
        if (port->n_pieces > 0) {
            pass->freed[pass->n_freed++] = p;
        }
        port->n_pieces = 0;
        fullest = port->rest_ticks > fullest ? port->rest_ticks : fullest;
    }
    for (i = 0; i < pass->cut->n_pieces; i++) {
        uint32_t piece = (uint32_t)pass->cut->order[i];
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = ports_of(pass, piece, ports);

        for (k = 0; k < n_ports; k++) {
            port_t *port = &pass->ports[ports[k]];

            pass->through[port->begin + port->n_pieces++] = piece;
        }
    }
    while (fullest >> pass->shift >> URGENCY_BITS != 0) {
        pass->shift++;
    }
}

/* How urgent a piece is, > 0; 0: one of its ports is busy. */
static uint64_t urgency_of(const pass_t *pass, uint32_t piece)
{
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = ports_of(pass, piece, ports);
    uint64_t most = 1;
    uint64_t squares = 1;
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        const port_t *port = &pass->ports[ports[i]];
        uint64_t rest = port->rest_ticks >> pass->shift;

        if (port->is_busy) {
            return 0;
        }
        most = rest > most ? rest : most;
        squares += rest * rest;
    }
    return pass->urgency == VP_URGENCY_SQUARES ? squares : most;
}

/* Most urgent piece over a port, VP_NO_PIECE: none can start. Forgets those that started. */
static uint32_t choose_piece(pass_t *pass, port_t *port)
{
    uint32_t *pieces = pass->through + port->begin;
    uint64_t most = 0;
    uint32_t best = VP_NO_PIECE;
    size_t n_left = 0;
    size_t i;

    for (i = 0; i < port->n_pieces; i++) {
        uint64_t urgency;

        if (pass->has_started[pieces[i]]) {
            continue;
        }
        urgency = urgency_of(pass, pieces[i]);
        if (urgency > most) {
            most = urgency;
            best = pieces[i];
        }
        pieces[n_left++] = pieces[i];
    }
    port->n_pieces = n_left;
    return best;
}

static void start_piece(pass_t *pass, uint32_t piece)
{
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = ports_of(pass, piece, ports);
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        pass->ports[ports[i]].is_busy = true;
        pass->ports[ports[i]].rest_ticks -= length_of(pass, piece);
    }
    pass->has_started[piece] = true;
    push_ending(pass, (ending_t){pass->now_ticks + length_of(pass, piece), piece});
}

/* Fullest first; few ports fall free at once. */
static void sort_freed(pass_t *pass)
{
    size_t i;

    for (i = 1; i < pass->n_freed; i++) {
        uint32_t port = pass->freed[i];
        uint64_t rest_ticks = pass->ports[port].rest_ticks;
        size_t at = i;

        for (; at > 0 && pass->ports[pass->freed[at - 1]].rest_ticks < rest_ticks; at--) {
            pass->freed[at] = pass->freed[at - 1];
        }
        pass->freed[at] = port;
    }
}

/* Moves on to the next moment at which a piece ends, and frees the ports of all that end then. */
static void end_pieces(pass_t *pass)
{
    pass->now_ticks = pass->endings[0].at_ticks;
    pass->n_freed = 0;
    while (pass->n_endings > 0 && pass->endings[0].at_ticks == pass->now_ticks) {
        ending_t ending = pop_ending(pass);
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = ports_of(pass, ending.piece, ports);
        uint32_t i;

        for (i = 0; i < n_ports; i++) {
            pass->ports[ports[i]].is_busy = false;
            pass->freed[pass->n_freed++] = ports[i];
        }
    }
}

static void run(pass_t *pass, uint32_t *order)
{
    size_t n_started = 0;
    size_t i;

    for (;;) {
        sort_freed(pass);
        for (i = 0; i < pass->n_freed; i++) {
            port_t *port = &pass->ports[pass->freed[i]];
            uint32_t piece = port->is_busy ? VP_NO_PIECE : choose_piece(pass, port);

            if (piece != VP_NO_PIECE) {
                start_piece(pass, piece);
                order[n_started++] = piece;
            }
        }
        if (pass->n_endings == 0) {
            break;
        }
        end_pieces(pass);
    }
}

static bool make_room(pass_t *pass)
{
    size_t n_pieces = pass->cut->n_pieces;
    size_t n_through = 0;
    size_t i;

    for (i = 0; i < n_pieces; i++) {
        n_through += 2 + pass->jobs->ways[pass->cut->pieces[i].way].n_ports;
    }
    pass->ports = vp_array_new(pass->jobs->n_ports, sizeof(*pass->ports));
    pass->through = vp_array_new(n_through, sizeof(*pass->through));
    pass->has_started = vp_array_new(n_pieces, sizeof(*pass->has_started));
    pass->endings = vp_array_new(n_pieces, sizeof(*pass->endings));
    pass->freed = vp_array_new(pass->jobs->n_ports, sizeof(*pass->freed));
    return pass->ports != NULL && pass->through != NULL && pass->has_started != NULL &&
           pass->endings != NULL && pass->freed != NULL;
}

vp_status_t vp_list_order(const vp_jobs_t *jobs, const vp_cut_t *cut, vp_urgency_t urgency,
                          uint32_t *order, uint64_t *ticks_p, vp_error_t *error)
{
    pass_t pass = {.jobs = jobs, .cut = cut, .urgency = urgency};
    vp_status_t status = VP_OK;

    if (!make_room(&pass)) {
        status = vp_error_no_memory(error, "a list of lanes");
        goto out;
    }
    fill_ports(&pass);
    run(&pass, order);
    *ticks_p = pass.now_ticks;
out:
    free(pass.freed);
    free(pass.endings);
    free(pass.has_started);
    free(pass.through);
    free(pass.ports);
    return status;
}
