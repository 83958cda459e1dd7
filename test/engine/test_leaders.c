/*
 * The allgather by way of leaders beside what it stands for: nodes of all shapes, any
 * order of ranks, records of any length, swaps that fail.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/leaders.h"
#include "node_model.h"
#include "ranks.h"
#include "wire.h"

enum {
    SEED = 8,
    MOST_RANKS = 40,
    MOST_NODES = 12,
    MOST_BYTES = 300,
    N_SHAPES = 60,
    N_FAULTS = 200
};

typedef struct shape {
    uint32_t n_ranks;
    uint32_t n_nodes; /* of which some may have no rank */
    uint32_t node[MOST_RANKS];
    size_t n_bytes[2]; /* of the records of two allgathers */
    uint32_t victim;
    unsigned lose_sent;
    unsigned lose_gotten;
    wire_t *wire;
    vp_status_t status[MOST_RANKS]; /* of the first */
    unsigned n_swaps[MOST_RANKS];
} shape_t;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void make_shape(uint64_t *state, shape_t *shape)
{
    uint32_t rank;

    memset(shape, 0, sizeof(*shape));
    shape->n_ranks = 3 + (uint32_t)(next_random(state) % (MOST_RANKS - 2));
    shape->n_nodes = 2 + (uint32_t)(next_random(state) % (MOST_NODES - 1));
    for (rank = 0; rank < shape->n_ranks; rank++) {
        /* Some nodes are crowded, some empty; at least two have ranks, one of them two. */
        uint64_t random = next_random(state);

        shape->node[rank] = (uint32_t)(random % (random % 3 == 0 ? 2 : shape->n_nodes));
    }
    shape->node[0] = shape->node[1] = 0;
    shape->node[2] = 1;
    shape->n_bytes[0] = 1 + next_random(state) % MOST_BYTES;
    shape->n_bytes[1] = 1 + next_random(state) % MOST_BYTES;
}

static unsigned char byte_of(uint32_t rank, unsigned turn, size_t i)
{
    return (unsigned char)(rank * 31 + turn * 77 + i * 13 + 1);
}

static void check_records(const shape_t *shape, unsigned turn, const unsigned char *records)
{
    uint32_t rank;
    size_t i, n_bytes = shape->n_bytes[turn];

    for (rank = 0; rank < shape->n_ranks; rank++) {
        for (i = 0; i < n_bytes; i++) {
            RANKS_EQUAL(records[rank * n_bytes + i], byte_of(rank, turn, i));
        }
    }
}

static vp_status_t gather(const shape_t *shape, vp_leaders_t *leaders,
                          const vp_surroundings_t *around, unsigned turn)
{
    unsigned char *records = vp_array_new(shape->n_ranks, shape->n_bytes[turn]);
    unsigned char mine[MOST_BYTES];
    vp_status_t status;
    size_t i;

    RANKS_CHECK(records != NULL, "no memory");
    for (i = 0; i < shape->n_bytes[turn]; i++) {
        mine[i] = byte_of(around->rank, turn, i);
    }
    status = vp_leaders_allgather(leaders, around, mine, records, shape->n_bytes[turn]);
    if (status == VP_OK) {
        check_records(shape, turn, records);
    }
    free(records);
    return status;
}

static void body(uint32_t rank, void *argument)
{
    shape_t *shape = argument;
    wire_member_t member = {.wire = shape->wire, .rank = rank};
    vp_surroundings_t around = wire_surroundings(&member);
    vp_leaders_t *leaders =
        vp_leaders_create(shape->node, shape->n_nodes, rank, shape->n_ranks, MOST_BYTES);

    RANKS_CHECK(leaders != NULL, "no leaders");
    if (rank == shape->victim) {
        member.lose_sent = shape->lose_sent;
        member.lose_gotten = shape->lose_gotten;
    }
    shape->status[rank] = gather(shape, leaders, &around, 0);
    shape->n_swaps[rank] = member.n_swaps;
    if (shape->lose_sent == 0 && shape->lose_gotten == 0) {
        RANKS_EQUAL(shape->status[rank], VP_OK);
        /* The same memory again, with records of another length. */
        RANKS_EQUAL(gather(shape, leaders, &around, 1), VP_OK);
    }
    vp_leaders_destroy(leaders);
}

static void run(shape_t *shape)
{
    shape->wire = wire_create(shape->n_ranks, shape->node);
    ranks_run_threads(shape->n_ranks, body, shape);
    wire_destroy(shape->wire);
}

START_TEST(all_ranks_know_all_records)
{
    uint64_t state = SEED;
    shape_t shape;
    unsigned i;

    for (i = 0; i < N_SHAPES; i++) {
        make_shape(&state, &shape);
        run(&shape);
    }
}
END_TEST

/* All return; who lost something, or was to get it, knows; who says that all is well has all. */
START_TEST(a_swap_that_fails_leaves_nobody_waiting)
{
    uint64_t state = SEED;
    unsigned i, n_bad = 0;
    shape_t shape;

    for (i = 0; i < N_FAULTS; i++) {
        make_shape(&state, &shape);
        shape.victim = (uint32_t)(next_random(&state) % shape.n_ranks);
        shape.lose_sent = i % 2 == 0 ? 1 + (unsigned)(next_random(&state) % 4) : 0;
        shape.lose_gotten = i % 2 == 1 ? 1 + (unsigned)(next_random(&state) % 4) : 0;
        run(&shape);
        if (shape.n_swaps[shape.victim] >= shape.lose_sent + shape.lose_gotten) {
            ck_assert_int_eq(shape.status[shape.victim], VP_ERR_TRANSPORT);
            n_bad++;
        }
    }
    ck_assert_uint_gt(n_bad, N_FAULTS / 4);
}
END_TEST

START_TEST(where_nothing_can_be_won_there_are_none)
{
    static const uint32_t one_node[] = {3, 3, 3}, alone[] = {0, 2, 1};

    ck_assert_ptr_null(vp_leaders_create(one_node, 4, 0, 3, 8));
    ck_assert_ptr_null(vp_leaders_create(alone, 3, 0, 3, 8));
}
END_TEST

static bool pay(uint32_t n_nodes, uint32_t n_per_node, uint64_t nic_bytes_per_s, size_t n_bytes)
{
    uint32_t n_ranks = n_nodes * n_per_node, i;
    uint32_t *sizes = vp_array_new(n_nodes, sizeof(*sizes));
    uint32_t *node = vp_array_new(n_ranks, sizeof(*node));
    vp_leaders_t *leaders;
    vp_model_t *model;
    bool answer;

    ck_assert(sizes != NULL && node != NULL);
    for (i = 0; i < n_ranks; i++) {
        node[i] = i / n_per_node;
        sizes[node[i]] = n_per_node;
    }
    model = node_model(n_nodes, sizes);
    for (i = 0; i < n_nodes; i++) {
        model->nics[i].bytes_per_s = nic_bytes_per_s;
    }
    leaders = vp_leaders_create(node, n_nodes, 0, n_ranks, n_bytes);
    ck_assert_ptr_nonnull(leaders);
    answer = vp_leaders_pay(leaders, model, n_bytes);
    vp_leaders_destroy(leaders);
    vp_model_destroy(model);
    free(sizes);
    free(node);
    return answer;
}

/* Long rows over slow networks, not short ones, nor where a node's NICs outrun its memory. */
START_TEST(they_are_used_where_they_pay)
{
    const uint64_t giga = UINT64_C(1000000000);

    ck_assert(pay(32, 8, 3 * giga, 1033));
    ck_assert(pay(32, 8, 12 * giga, 1033));
    ck_assert(!pay(32, 8, 200 * giga, 1033));
    ck_assert(!pay(32, 8, 12 * giga, 16));
    ck_assert(!pay(2, 8, 12 * giga, 73));
}
END_TEST

static Suite *leaders_suite(void)
{
    Suite *suite = suite_create("leaders");
    TCase *tcase = tcase_create("allgather");

    (void)printf("seed %d\n", SEED);
    tcase_set_timeout(tcase, 4 * RANKS_SECONDS);
    tcase_add_test(tcase, all_ranks_know_all_records);
    tcase_add_test(tcase, a_swap_that_fails_leaves_nobody_waiting);
    tcase_add_test(tcase, where_nothing_can_be_won_there_are_none);
    tcase_add_test(tcase, they_are_used_where_they_pay);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(leaders_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
