/*
 * Cheapest flows, against exact assignments while costs and capacities change.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/flow.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "scheduler/assign.h"
#include "test/scheduler/demands.h"

enum { N = 7, LARGEST = 1000 };

static void add_assignment(vp_flow_t *flow)
{
    vp_error_t error;
    uint32_t i;

    ck_assert_int_eq(vp_flow_init(flow, 2 * N, N * N, &error), VP_OK);
    for (i = 0; i < N * N; i++) {
        ck_assert_uint_eq(vp_flow_add(flow, (N * N - 1 - i) / N, N + (N * N - 1 - i) % N, 1), i);
    }
    ck_assert_int_eq(vp_flow_open(flow, &error), VP_OK);
}

static void set_excess(vp_flow_t *flow)
{
    uint32_t i;

    for (i = 0; i < N; i++) {
        flow->excess[i] = 1;
        flow->excess[N + i] = -1;
    }
}

/* Costs are LARGEST less the credits, forbidden pairs have no credit. Returns the cost. */
static int64_t settle(vp_flow_t *flow, const uint64_t *credits, const bool *is_forbidden)
{
    uint32_t out[2 * N] = {0};
    int64_t cost = 0;
    uint32_t i;

    for (i = 0; i < N * N; i++) {
        vp_arc_t *arc = vp_flow_arc(flow, N * N - 1 - i);

        arc->cost = LARGEST - (int64_t)credits[i];
        arc->capacity = is_forbidden[i] ? 0 : 1;
    }
    vp_flow_settle(flow);
    for (i = 0; i < N * N; i++) {
        const vp_arc_t *arc = vp_flow_arc(flow, i);

        ck_assert_uint_le(arc->flow, arc->capacity);
        out[arc->tail] += arc->flow;
        out[arc->head] += arc->flow;
        cost += arc->cost * arc->flow;
    }
    for (i = 0; i < 2 * N; i++) {
        ck_assert_uint_eq(out[i], 1);
        ck_assert_int_eq(flow->excess[i], 0);
    }
    return cost;
}

START_TEST(flows_are_the_best_assignments)
{
    uint64_t credits[N * N];
    bool is_forbidden[N * N];
    uint32_t chosen[N];
    vp_assign_t assign;
    vp_flow_t flow;
    vp_error_t error;
    uint64_t seed;
    uint32_t step;
    uint32_t i;

    add_assignment(&flow);
    ck_assert_int_eq(vp_assign_init(&assign, N, &error), VP_OK);
    for (seed = 1; seed <= 100; seed++) {
        uint64_t state = seed;

        vp_flow_reset(&flow);
        set_excess(&flow);
        for (step = 0; step < 20; step++) {
            int64_t expected;

            /* Some credits change, some pairs are forbidden, never one of a rotation. */
            for (i = 0; i < N * N; i++) {
                credits[i] = step == 0 || demand_random(&state) % 3 == 0
                                 ? demand_random(&state) % (seed % 2 == 0 ? LARGEST : 4)
                                 : credits[i];
                is_forbidden[i] =
                    (i % N + N - i / N) % N != step % N && demand_random(&state) % 4 == 0;
                credits[i] = is_forbidden[i] ? 0 : credits[i];
            }
            expected =
                N * (int64_t)LARGEST - (int64_t)vp_assign_best(&assign, credits, N, N, chosen);
            for (i = 0; i < N * N; i++) {
                is_forbidden[i] = is_forbidden[i] && step % 2 == 0;
            }
            /* A forbidden pair is worth no more than nothing, so forbidding may cost. */
            if (step % 2 == 0) {
                ck_assert_int_ge(settle(&flow, credits, is_forbidden), expected);
            } else {
                ck_assert_int_eq(settle(&flow, credits, is_forbidden), expected);
            }
        }
    }
    vp_assign_release(&assign);
    vp_flow_release(&flow);
}
END_TEST

/* Two units over a cheap way with room for one and a dear one; then the cheap one closes. */
START_TEST(a_full_way_is_avoided)
{
    vp_flow_t flow;
    vp_error_t error;

    ck_assert_int_eq(vp_flow_init(&flow, 3, 3, &error), VP_OK);
    (void)vp_flow_add(&flow, 0, 1, 1);
    (void)vp_flow_add(&flow, 1, 2, 5);
    (void)vp_flow_add(&flow, 0, 2, 5);
    ck_assert_int_eq(vp_flow_open(&flow, &error), VP_OK);
    vp_flow_arc(&flow, 0)->cost = 1;
    vp_flow_arc(&flow, 1)->cost = 1;
    vp_flow_arc(&flow, 2)->cost = 7;
    flow.excess[0] = 2;
    flow.excess[2] = -2;
    vp_flow_settle(&flow);
    ck_assert_uint_eq(vp_flow_arc(&flow, 0)->flow, 1);
    ck_assert_uint_eq(vp_flow_arc(&flow, 1)->flow, 1);
    ck_assert_uint_eq(vp_flow_arc(&flow, 2)->flow, 1);
    vp_flow_arc(&flow, 0)->capacity = 0;
    vp_flow_settle(&flow);
    ck_assert_uint_eq(vp_flow_arc(&flow, 1)->flow, 0);
    ck_assert_uint_eq(vp_flow_arc(&flow, 2)->flow, 2);
    vp_flow_release(&flow);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flow");
    TCase *cases = tcase_create("flow");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, flows_are_the_best_assignments);
    tcase_add_test(cases, a_full_way_is_avoided);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
