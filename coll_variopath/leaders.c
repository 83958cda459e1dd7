/*
 * Ranks are lined up node by node, beginning with the own one, those of a node in
 * the order of the communicator. A place in this line-up is an index; what a
 * message carries is always a stretch of it. Each record is followed by a byte that says
 * that it is there.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "coll_variopath/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"

/*
 * What the prediction takes for granted, in want of figures of the layer below: a step between
 * ranks of a node, and copying to another one.
 */
#define STEP_NS UINT64_C(2000)
#define NODE_BYTES_PER_S (UINT64_C(8) * VP_NS_PER_S)

struct vp_leaders {
    uint32_t n_ranks;
    uint32_t n_nodes;     /* that have ranks */
    uint32_t n_local;     /* ranks of the own node */
    uint32_t local;       /* own index */
    uint32_t largest;     /* ranks of the largest node */
    uint32_t *line;       /* [n_ranks] rank of each index */
    uint32_t *begin;      /* [n_nodes + 1] first index of each node */
    unsigned char *known; /* [n_ranks][n_bytes + 1] */
    bool failed;
    vp_leaders_t *next;
};

/* What the layer below may still read or write after a failure. */
static vp_leaders_t *given_up;

static bool has(const vp_leaders_t *leaders)
{
    return leaders != NULL && leaders->line != NULL && leaders->begin != NULL &&
           leaders->known != NULL;
}

/* Lines the ranks up; true: a node has several, and there are several nodes. */
static bool line_up(vp_leaders_t *leaders, const uint32_t *node, uint32_t n_nodes, uint32_t rank)
{
    uint32_t turn, other, index = 0;

    for (turn = 0; turn < n_nodes; turn++) {
        uint32_t which = (node[rank] + turn) % n_nodes, first = index;

        for (other = 0; other < leaders->n_ranks; other++) {
            if (node[other] == which) {
                leaders->local = other == rank ? index : leaders->local;
                leaders->line[index++] = other;
            }
        }
        if (index > first) {
            leaders->begin[leaders->n_nodes++] = first;
            leaders->largest = index - first > leaders->largest ? index - first : leaders->largest;
        }
    }
    leaders->begin[leaders->n_nodes] = index;
    leaders->n_local = leaders->begin[1];
    return leaders->n_nodes > 1 && leaders->largest > 1;
}

vp_leaders_t *vp_leaders_create(const uint32_t *node, uint32_t n_nodes, uint32_t rank,
                                uint32_t n_ranks, size_t max_bytes)
{
    vp_leaders_t *leaders = vp_array_new(1, sizeof(*leaders));

    if (leaders != NULL) {
        leaders->n_ranks = n_ranks;
        leaders->line = vp_array_new(n_ranks, sizeof(*leaders->line));
        leaders->begin = vp_array_new((size_t)n_nodes + 1, sizeof(*leaders->begin));
        leaders->known = vp_array_new(n_ranks, max_bytes + 1);
    }
    if (!has(leaders) || !line_up(leaders, node, n_nodes, rank)) {
        vp_leaders_destroy(leaders);
        return NULL;
    }
    return leaders;
}

void vp_leaders_destroy(vp_leaders_t *leaders)
{
    if (leaders == NULL) {
        return;
    }
    free(leaders->line);
    free(leaders->begin);
    leaders->line = leaders->begin = NULL;
    if (leaders->failed) {
        leaders->next = __atomic_load_n(&given_up, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&given_up, &leaders->next, leaders, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        }
        return;
    }
    free(leaders->known);
    free(leaders);
}

/*
 * What a node's NICs take in together, of the node that has least; 0: some has none. NICs are
 * listed node by node.
 */
static uint64_t slowest_node(const vp_model_t *model)
{
    uint64_t slowest = UINT64_MAX;
    uint32_t node, i = 0;

    for (node = 0; node < model->n_nodes; node++) {
        uint64_t rate = 0;

        for (; i < model->n_nics && model->nics[i].node == node; i++) {
            rate += model->nics[i].bytes_per_s;
        }
        slowest = rate < slowest ? rate : slowest;
    }
    return slowest;
}

/*
 * Both ways have as many steps between nodes. What is won: all but one of the copies that come
 * into a node. What it costs: to the leader and back, the way back with everything.
 */
bool vp_leaders_pay(const vp_leaders_t *leaders, const vp_model_t *model, size_t n_bytes)
{
    uint64_t rate = slowest_node(model), n = leaders->n_ranks, size = leaders->largest;
    uint64_t n_steps = 0, saved_ns, spread_ns;

    while (UINT64_C(1) << n_steps < size) {
        n_steps++;
    }
    if (rate == 0) {
        return false;
    }
    saved_ns = vp_transfer_ns(vp_mul_sat((size - 1) * (n - size), n_bytes), rate);
    spread_ns = vp_transfer_ns(vp_mul_sat(n_steps * n, n_bytes), NODE_BYTES_PER_S);
    return saved_ns > vp_add_sat(spread_ns, 2 * n_steps * STEP_NS);
}

/* One allgather while it runs. */
typedef struct run {
    vp_leaders_t *leaders;
    const vp_surroundings_t *around;
    size_t stride;
} run_t;

static unsigned char *at(const run_t *run, uint32_t index)
{
    return run->leaders->known + index * run->stride;
}

static void forget(const run_t *run, uint32_t first, uint32_t end)
{
    uint32_t i;

    for (i = first; i < end; i++) {
        at(run, i)[run->stride - 1] = 0;
    }
}

/* Of the line-up [0, n_sent) goes to one, [first, end) comes from another; own: from [own, ...). */
static void swap(const run_t *run, uint32_t own, uint32_t n_sent, uint32_t to, uint32_t first,
                 uint32_t end, uint32_t from)
{
    const uint32_t *line = run->leaders->line;
    vp_status_t status =
        run->around->swap(run->around->context, at(run, own), n_sent * run->stride,
                          to == VP_NOBODY ? VP_NOBODY : line[to], at(run, first),
                          (end - first) * run->stride, from == VP_NOBODY ? VP_NOBODY : line[from]);

    if (status != VP_OK) {
        run->leaders->failed = true;
        if (from != VP_NOBODY) {
            forget(run, first, end);
        }
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Up a binomial tree: of ranks that are twice as far apart in each step. */
static void gather(const run_t *run)
{
    uint32_t n = run->leaders->n_local, local = run->leaders->local, distance;

    for (distance = 1; distance < n; distance *= 2) {
        uint32_t other = local + distance;

        if (local % (2 * distance) == distance) {
            swap(run, local, least(distance, n - local), local - distance, 0, 0, VP_NOBODY);
            return;
        }
        if (other < n) {
            swap(run, 0, 0, VP_NOBODY, other, least(other + distance, n), other);
        }
    }
}

/* Bruck's algorithm among leaders: in round k what is known of 2^k nodes goes 2^k nodes down. */
static void exchange(const run_t *run)
{
    const uint32_t *begin = run->leaders->begin;
    uint32_t n = run->leaders->n_nodes, distance;

    for (distance = 1; distance < n; distance *= 2) {
        uint32_t n_parts = least(distance, n - distance);

        swap(run, 0, begin[n_parts], begin[n - distance], begin[distance],
             begin[distance + n_parts], begin[distance]);
    }
}

/* Down the tree again, with everything. */
static void spread(const run_t *run)
{
    uint32_t n = run->leaders->n_local, all = run->leaders->n_ranks, local = run->leaders->local;
    uint32_t distance = 1;

    while (distance < n) {
        distance *= 2;
    }
    for (; distance > 0; distance /= 2) {
        if (local % (2 * distance) == distance) {
            swap(run, 0, 0, VP_NOBODY, 0, all, local - distance);
        } else if (local % (2 * distance) == 0 && local + distance < n) {
            swap(run, 0, all, local + distance, 0, 0, VP_NOBODY);
        }
    }
}

vp_status_t vp_leaders_allgather(vp_leaders_t *leaders, const vp_surroundings_t *around,
                                 const void *send, void *receive, size_t n_bytes)
{
    const run_t run = {.leaders = leaders, .around = around, .stride = n_bytes + 1};
    bool complete = true;
    uint32_t i;

    forget(&run, 0, leaders->n_ranks);
    memcpy(at(&run, leaders->local), send, n_bytes);
    at(&run, leaders->local)[n_bytes] = 1;
    gather(&run);
    if (leaders->local == 0) {
        exchange(&run);
    }
    spread(&run);
    for (i = 0; i < leaders->n_ranks; i++) {
        complete = complete && at(&run, i)[n_bytes] == 1;
        memcpy((unsigned char *)receive + leaders->line[i] * n_bytes, at(&run, i), n_bytes);
    }
    return complete && !leaders->failed ? VP_OK : VP_ERR_TRANSPORT;
}
