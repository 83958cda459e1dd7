/*
 * What lanes wait for: all ranks' parts together order every pair of lanes that
 * must not overlap, and nothing else; who is told and who listens agree.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "coll_variopath/waits.h"
#include "small_model.h"

enum { SEED = 7, N_RANKS = 6, MAX_LANES = 60, N_PLANS = 60 };

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % limit);
}

/* Random lanes over random ways, whatever they share. */
static vp_plan_t *random_plan(const vp_model_t *model, vp_plan_order_t order, bool shares_ports)
{
    const vp_plan_form_t form = {.order = order,
                                 .window = shares_ports ? MAX_LANES : 1,
                                 .shares_ports = shares_ports,
                                 .contention = VP_LINKS_IDEAL};
    uint32_t i, n_lanes = 1 + below(MAX_LANES);
    vp_plan_builder_t *builder;
    vp_plan_t *plan;
    vp_error_t error;

    ck_assert_int_eq(vp_plan_builder_create(model, &builder, &error), VP_OK);
    vp_plan_builder_set_form(builder, &form);
    for (i = 0; i < n_lanes; i++) {
        uint32_t from = below(N_RANKS), to = (from + 1 + below(N_RANKS - 1)) % N_RANKS;
        size_t pair = vp_pair(model, model->rank_group[from], model->rank_group[to]);
        uint32_t n_ways = model->pair_begin[pair + 1] - model->pair_begin[pair];

        if (below(3) == 0) {
            vp_plan_builder_next(builder);
        }
        ck_assert_int_eq(vp_plan_builder_add(builder, from, to,
                                             model->pair_begin[pair] + below(n_ways), 10 + i,
                                             &error),
                         VP_OK);
    }
    ck_assert_msg(vp_plan_builder_finish(builder, 1, "random", &plan, &error) == VP_OK, "%s",
                  error.text);
    vp_plan_builder_destroy(builder);
    return plan;
}

static bool uses(const vp_model_t *model, const vp_lane_t *lane, uint32_t port)
{
    const vp_instance_t *instance = &model->instances[lane->instance];
    uint32_t i;

    if (port < 2 * N_RANKS) {
        return port == lane->source || port == N_RANKS + lane->destination;
    }
    for (i = 0; i < instance->n_resources; i++) {
        if (instance->resources[i] == port - 2 * N_RANKS) {
            return true;
        }
    }
    return false;
}

/* Must `later` wait for `earlier`: is that in the latest activation before it with one of its
 * ports? */
static bool must_wait(const vp_model_t *model, const vp_plan_t *plan, size_t later, size_t earlier)
{
    const vp_lane_t *lanes = plan->lanes;
    uint32_t port;
    size_t i;

    for (port = 0; port < 2 * N_RANKS + model->n_resources; port++) {
        uint32_t latest = UINT32_MAX;

        if (!uses(model, &lanes[later], port) || !uses(model, &lanes[earlier], port)) {
            continue;
        }
        for (i = 0; i < later; i++) {
            if (lanes[i].activation < lanes[later].activation && uses(model, &lanes[i], port)) {
                latest = lanes[i].activation;
            }
        }
        if (lanes[earlier].activation == latest) {
            return true;
        }
    }
    return false;
}

typedef struct graph {
    bool edge[MAX_LANES][MAX_LANES];
    bool path[MAX_LANES][MAX_LANES];
} graph_t;

static void add_part(const vp_waits_t *waits, graph_t *graph)
{
    uint32_t n_before[MAX_LANES] = {0};
    size_t i;

    for (i = 0; i < waits->local.n_waits; i++) {
        graph->edge[waits->own[waits->local.waits[i].from]][waits->own[waits->local.waits[i].to]] =
            true;
        n_before[waits->local.waits[i].to]++;
    }
    for (i = 0; i < waits->remote.n_waits; i++) {
        graph->edge[waits->remote.waits[i].from][waits->own[waits->remote.waits[i].to]] = true;
        n_before[waits->remote.waits[i].to]++;
    }
    ck_assert_mem_eq(n_before, waits->n_before, waits->n_own * sizeof(n_before[0]));
}

/* Signals that `from` sends to `to` are those that `to` counts on. */
static void check_signals(const vp_plan_t *plan, vp_waits_t *const *waits)
{
    size_t n_told = 0, n_heard = 0, i;
    uint32_t place;

    for (place = 0; place < N_RANKS; place++) {
        n_told += waits[place]->told.n_waits;
        n_heard += waits[place]->n_remote_lanes;
        for (i = 0; i < waits[place]->told.n_waits; i++) {
            const vp_wait_t *told = &waits[place]->told.waits[i];
            uint32_t lane = waits[place]->own[told->from];
            size_t at = vp_waits_first(&waits[told->to]->remote, lane);

            ck_assert_uint_eq(plan->lanes[lane].source, place);
            ck_assert_uint_lt(at, waits[told->to]->remote.n_waits);
            ck_assert_uint_eq(waits[told->to]->remote.waits[at].from, lane);
        }
    }
    ck_assert_uint_eq(n_told, n_heard);
}

static void check_plan(const vp_model_t *model, const vp_plan_t *plan)
{
    static graph_t graph;
    vp_waits_t *waits[N_RANKS];
    vp_error_t error;
    uint32_t place;
    size_t a, b, c;

    memset(&graph, 0, sizeof(graph));
    for (place = 0; place < N_RANKS; place++) {
        ck_assert_int_eq(vp_waits_create(model, plan, place, true, &waits[place], &error), VP_OK);
        add_part(waits[place], &graph);
    }
    check_signals(plan, waits);
    memcpy(graph.path, graph.edge, sizeof(graph.path));
    for (b = 0; b < plan->n_lanes; b++) {
        for (a = 0; a < plan->n_lanes; a++) {
            for (c = 0; graph.path[a][b] && c < plan->n_lanes; c++) {
                graph.path[a][c] = graph.path[a][c] || graph.path[b][c];
            }
        }
    }
    for (a = 0; a < plan->n_lanes; a++) {
        for (b = 0; b < plan->n_lanes; b++) {
            bool wanted = must_wait(model, plan, b, a);

            ck_assert_msg(!wanted || graph.path[a][b], "lane %zu does not wait for lane %zu", b, a);
            ck_assert_msg(wanted || !graph.edge[a][b], "lane %zu waits for lane %zu", b, a);
        }
    }
    for (place = 0; place < N_RANKS; place++) {
        vp_waits_destroy(waits[place]);
    }
}

static const struct {
    vp_plan_order_t order;
    bool shares_ports;
} forms[] = {{VP_PLAN_ACTIVATIONS, true}, {VP_PLAN_LIST, false}, {VP_PLAN_CONCURRENT, true}};

START_TEST(lanes_that_share_a_port_follow_each_other)
{
    vp_model_t *model = small_model(N_RANKS);
    unsigned i;

    state = SEED + (unsigned)_i;
    for (i = 0; i < N_PLANS; i++) {
        vp_plan_t *plan = random_plan(model, forms[_i].order, forms[_i].shares_ports);

        check_plan(model, plan);
        vp_plan_destroy(plan);
    }
    vp_model_destroy(model);
}
END_TEST

/* 0>1, 0>2, 1>2: lane 2 waits for both ports of its own; with serial sources that of rank 0 is
   enough for rank 1's third lane. */
START_TEST(waits_that_follow_from_others_are_left_out)
{
    static const uint32_t lanes[][2] = {{0, 1}, {0, 2}, {1, 2}, {1, 0}, {2, 1}};
    const vp_plan_form_t form = {VP_PLAN_LIST, 1, false, VP_LINKS_IDEAL};
    vp_model_t *model = small_model(N_RANKS);
    vp_plan_builder_t *builder;
    vp_plan_t *plan;
    vp_waits_t *waits;
    size_t i;

    ck_assert_int_eq(vp_plan_builder_create(model, &builder, NULL), VP_OK);
    vp_plan_builder_set_form(builder, &form);
    for (i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        ck_assert_int_eq(vp_plan_builder_add(builder, lanes[i][0], lanes[i][1], 0, 10, NULL),
                         VP_OK);
    }
    ck_assert_int_eq(vp_plan_builder_finish(builder, 1, "hand", &plan, NULL), VP_OK);
    vp_plan_builder_destroy(builder);
    ck_assert_int_eq(vp_waits_create(model, plan, 2, true, &waits, NULL), VP_OK);
    /* Rank 2's lane needs the way into rank 1, free after lane 0. */
    ck_assert_uint_eq(waits->n_own, 1);
    ck_assert_uint_eq(waits->remote.n_waits, 1);
    ck_assert_uint_eq(waits->remote.waits[0].from, 0);
    ck_assert_uint_eq(waits->told.n_waits, 0);
    vp_waits_destroy(waits);
    /* Rank 1's first lane waits for the way into rank 2, its second only for the first. */
    ck_assert_int_eq(vp_waits_create(model, plan, 1, true, &waits, NULL), VP_OK);
    ck_assert_uint_eq(waits->remote.n_waits, 1);
    ck_assert_uint_eq(waits->remote.waits[0].from, 1);
    ck_assert_uint_eq(waits->local.n_waits, 1);
    vp_waits_destroy(waits);
    vp_plan_destroy(plan);
    vp_model_destroy(model);
}
END_TEST

START_TEST(alone_a_rank_only_follows_itself)
{
    vp_model_t *model = small_model(N_RANKS);
    vp_plan_t *plan;
    vp_waits_t *waits;
    size_t i;

    state = SEED;
    plan = random_plan(model, VP_PLAN_LIST, false);
    ck_assert_int_eq(vp_waits_create(model, plan, 0, false, &waits, NULL), VP_OK);
    ck_assert_uint_gt(waits->n_own, 2);
    ck_assert_uint_eq(waits->remote.n_waits, 0);
    ck_assert_uint_eq(waits->told.n_waits, 0);
    ck_assert_uint_eq(waits->local.n_waits, waits->n_own - 1);
    for (i = 0; i < waits->local.n_waits; i++) {
        ck_assert_uint_eq(waits->local.waits[i].from, i);
        ck_assert_uint_eq(waits->local.waits[i].to, i + 1);
    }
    vp_waits_destroy(waits);
    vp_plan_destroy(plan);
    vp_model_destroy(model);
}
END_TEST

static Suite *waits_suite(void)
{
    Suite *suite = suite_create("waits");
    TCase *tcase = tcase_create("graph");

    (void)printf("seed %d\n", SEED);
    tcase_add_loop_test(tcase, lanes_that_share_a_port_follow_each_other, 0, 3);
    tcase_add_test(tcase, waits_that_follow_from_others_are_left_out);
    tcase_add_test(tcase, alone_a_rank_only_follows_itself);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(waits_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
