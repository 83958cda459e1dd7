/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/steps.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/simulation.h"
#include "test/sim/models.h"

enum { N = 6, MAX_TRANSFERS = 16 };

/* Figure 1 of the paper: two switches of three GPUs, one NIC each. */
static const test_shape_t figure_1 = {1, 2, 3, 1, VP_PATH_PXB};

static vp_model_t *model;
static uint64_t demand[N * N];
static vp_transfer_t transfers[MAX_TRANSFERS];
static vp_steps_t steps;
static vp_simulation_t simulation;
static vp_error_t error;

static void setup(void)
{
    model = test_model(&figure_1);
    memset(demand, 0, sizeof(demand));
    steps = (vp_steps_t){N, VP_EXECUTION_DEPS, 0, transfers};
}

static void teardown(void)
{
    vp_simulation_release(&simulation);
    vp_model_destroy(model);
}

static uint32_t instance_of(const vp_model_t *of, uint32_t from, uint32_t to, vp_path_kind_t kind)
{
    size_t pair = vp_pair(of, of->rank_group[from], of->rank_group[to]);
    uint32_t i;

    for (i = of->pair_begin[pair]; i < of->pair_begin[pair + 1]; i++) {
        if (of->instances[i].kind == kind) {
            return i;
        }
    }
    ck_abort_msg("no path from %u to %u", from, to);
}

static void move(uint32_t step, uint32_t from, uint32_t to, vp_path_kind_t kind, uint32_t origin,
                 uint32_t final, uint64_t n_bytes)
{
    ck_assert_uint_lt(steps.n_transfers, MAX_TRANSFERS);
    transfers[steps.n_transfers++] =
        (vp_transfer_t){step, from, to, instance_of(model, from, to, kind), origin, final, n_bytes};
}

static uint64_t play(vp_execution_t execution)
{
    vp_simulation_options_t options = {.machine = {"ideal", 0, 1, false}, .keep_flows = true};

    steps.execution = execution;
    ck_assert_msg(vp_steps_check(&steps, model, demand, &error) == VP_OK, "%s", error.text);
    vp_simulation_release(&simulation);
    ck_assert_msg(vp_simulate_steps(model, &steps, &options, &simulation, &error) == VP_OK, "%s",
                  error.text);
    return simulation.time_ns;
}

/* 64 MB over a relay, 1 ms a hop and an overhead of 1 us for each, by every rule. */
START_TEST(relays_wait_for_bytes)
{
    demand[3] = 64 * MB;
    move(0, 0, 1, VP_PATH_PIX, 0, 3, 64 * MB);
    move(1, 1, 3, VP_PATH_PXB, 0, 3, 64 * MB);
    ck_assert_uint_eq(play((vp_execution_t)_i), 2002000);
    ck_assert_uint_eq(simulation.n_steps, 2);
}
END_TEST

/*
 * Step 0: 0 to 1 of 64 MB and 3 to 4 of 32 MB. Step 1: 3 to 5 and 0 to 2 of 32 MB.
 * Step 2: 4 to 2 of 16 MB over PXB, which meets 0 to 2 at rank 2.
 * barrier: 1, 0.5, 0.25 ms. free: rank 4 sent nothing before: all ends at 1.75 ms when
 * 0 to 2 is done. deps: 4 to 2 waits for 0 to 2: 1.75 ms.
 */
static void add_three_steps(void)
{
    demand[0 * N + 1] = 64 * MB;
    demand[3 * N + 4] = 32 * MB;
    demand[3 * N + 5] = 32 * MB;
    demand[0 * N + 2] = 32 * MB;
    demand[4 * N + 2] = 16 * MB;
    move(0, 0, 1, VP_PATH_PIX, 0, 1, 64 * MB);
    move(0, 3, 4, VP_PATH_PIX, 3, 4, 32 * MB);
    move(1, 3, 5, VP_PATH_PIX, 3, 5, 32 * MB);
    move(1, 0, 2, VP_PATH_PIX, 0, 2, 32 * MB);
    move(2, 4, 2, VP_PATH_PXB, 4, 2, 16 * MB);
}

START_TEST(barriers_wait_for_all)
{
    add_three_steps();
    ck_assert_uint_eq(play(VP_EXECUTION_BARRIER), 1750000 + 3 * 1000);
}
END_TEST

START_TEST(free_waits_for_the_sender)
{
    add_three_steps();
    ck_assert_uint_eq(play(VP_EXECUTION_FREE), 1500000 + 2 * 1000);
}
END_TEST

START_TEST(deps_wait_for_links)
{
    add_three_steps();
    ck_assert_uint_eq(play(VP_EXECUTION_DEPS), 1750000 + 3 * 1000);
}
END_TEST

/* A NIC's transfer has the overhead of a proxy, two posts; one step shares links. */
START_TEST(transfers_of_a_step_share_links)
{
    demand[0 * N + 3] = 25 * MB;
    demand[1 * N + 4] = 25 * MB;
    move(0, 0, 3, VP_PATH_NIC, 0, 3, 25 * MB);
    move(0, 1, 4, VP_PATH_NIC, 1, 4, 25 * MB);
    ck_assert_uint_eq(play(VP_EXECUTION_DEPS), 1000000 + 2000);
}
END_TEST

static void refuse(const char *what)
{
    ck_assert_int_eq(vp_steps_check(&steps, model, demand, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, what) != NULL, "\"%s\" does not say \"%s\"", error.text, what);
}

START_TEST(wrong_schedules_are_refused)
{
    demand[3] = 100;
    refuse("brings 0 of 100 bytes from rank 0 to rank 3");
    move(0, 0, 1, VP_PATH_PIX, 0, 3, 100);
    move(0, 1, 3, VP_PATH_PXB, 0, 3, 100);
    refuse("does not have");
    transfers[1].step = 1;
    ck_assert_int_eq(vp_steps_check(&steps, model, demand, &error), VP_OK);
    transfers[0].step = 2;
    refuse("later step");
    transfers[0].step = 0;
    transfers[1].instance = transfers[0].instance;
    refuse("does not connect");
    transfers[1].instance = model->n_instances;
    refuse("does not connect");
    transfers[0].n_bytes = 0;
    refuse("moves nothing");
    steps.n_ranks = 4;
    refuse("4 ranks");
}
END_TEST

/* 64 MB in 1 ms after 1 us: slices add up, and those in the middle are full. */
START_TEST(usage_over_time_adds_up)
{
    uint64_t slice_ns;
    uint64_t sum = 0;
    uint32_t i;

    demand[1] = 64 * MB;
    move(0, 0, 1, VP_PATH_PIX, 0, 1, 64 * MB);
    ck_assert_uint_eq(play(VP_EXECUTION_DEPS), 1001000);
    slice_ns = vp_network_usage_slice_ns(simulation.machine->network);
    ck_assert_uint_eq(slice_ns, 4096); /* 256 of 2048 ns end before 1 ms */
    for (i = 0; i < VP_USAGE_SLICES; i++) {
        sum += vp_network_link_usage(simulation.machine->network,
                                     vp_link_out(simulation.machine, 0), i);
    }
    ck_assert_uint_le(sum, 64 * MB);
    ck_assert_uint_ge(sum, 64 * MB - VP_USAGE_SLICES);
    ck_assert_uint_eq(
        vp_network_link_usage(simulation.machine->network, vp_link_in(simulation.machine, 1), 100),
        slice_ns * 64);
    ck_assert_uint_eq(
        vp_network_link_usage(simulation.machine->network, vp_link_in(simulation.machine, 1), 250),
        0);
}
END_TEST

/* Without the NIC of its switch, a group reaches other nodes over its neighbour's. */
START_TEST(groups_without_paths_get_detours)
{
    static const test_shape_t two_by_two = {2, 2, 2, 1, VP_PATH_PXB};
    vp_model_t *failed = test_model(&two_by_two);
    const vp_instance_t *detour;
    uint32_t before = failed->n_instances;

    ck_assert_int_eq(vp_model_fail_link(failed, "node0/nic0:tx", &error), VP_OK);
    ck_assert_msg(vp_model_check(failed, &error) == VP_OK, "%s", error.text);
    detour = &failed->instances[instance_of(failed, 0, 4, VP_PATH_NIC)];
    ck_assert_uint_eq(detour->n_resources, 3);
    ck_assert_uint_eq(detour->bytes_per_s, 50 * GB);
    ck_assert(detour->resources[0] == test_resource(failed, "node0/sw0>sw1") ||
              detour->resources[1] == test_resource(failed, "node0/sw0>sw1") ||
              detour->resources[2] == test_resource(failed, "node0/sw0>sw1"));
    /* Lost: NIC paths from group 0 to three groups. Made: to the two of the other node. */
    ck_assert_uint_eq(failed->n_instances, before - 3 + 2);
    vp_model_destroy(failed);
}
END_TEST

/* A plan over the NIC that failed takes the inter-switch link; its other lanes stay. */
START_TEST(plans_that_did_not_know_are_rerouted)
{
    vp_model_t *failed = test_model(&figure_1);
    vp_lane_t lanes[2] = {{.source = 0, .destination = 3, .n_bytes = 1},
                          {.source = 3, .destination = 0, .n_bytes = 1}};
    vp_plan_t plan = {.n_ranks = N, .n_lanes = 2, .lanes = lanes};

    lanes[0].instance = instance_of(model, 0, 3, VP_PATH_NIC);
    lanes[1].instance = instance_of(model, 3, 0, VP_PATH_NIC);
    ck_assert_int_eq(vp_model_fail_link(failed, "node0/nic0:tx", &error), VP_OK);
    ck_assert_int_eq(vp_plan_reroute(&plan, model, failed, &error), VP_OK);
    ck_assert_int_eq(failed->instances[lanes[0].instance].kind, VP_PATH_PXB);
    ck_assert_int_eq(failed->instances[lanes[1].instance].kind, VP_PATH_NIC);
    vp_model_destroy(failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("steps");
    TCase *cases = tcase_create("schedules");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, relays_wait_for_bytes, 0, 3);
    tcase_add_test(cases, barriers_wait_for_all);
    tcase_add_test(cases, free_waits_for_the_sender);
    tcase_add_test(cases, deps_wait_for_links);
    tcase_add_test(cases, transfers_of_a_step_share_links);
    tcase_add_test(cases, wrong_schedules_are_refused);
    tcase_add_test(cases, usage_over_time_adds_up);
    tcase_add_test(cases, groups_without_paths_get_detours);
    tcase_add_test(cases, plans_that_did_not_know_are_rerouted);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
