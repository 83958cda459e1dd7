/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/execute.h"

#include <check.h>
#include <stdlib.h>

#include "scheduler/plan.h"
#include "sim/fail.h"
#include "sim/simulation.h"
#include "test/sim/models.h"

/* Figure 1 of the paper: two switches of three GPUs, one NIC each. */
static const test_shape_t figure_1 = {1, 2, 3, 1, VP_PATH_PXB};

static vp_model_t *model;
static vp_plan_builder_t *builder;
static vp_plan_t *plan;
static vp_simulation_t simulation;
static vp_error_t error;

static void setup(void)
{
    model = test_model(&figure_1);
    ck_assert_int_eq(vp_plan_builder_create(model, &builder, &error), VP_OK);
}

static void teardown(void)
{
    vp_simulation_release(&simulation);
    vp_plan_destroy(plan);
    plan = NULL;
    vp_plan_builder_destroy(builder);
    vp_model_destroy(model);
}

static uint32_t instance_of(uint32_t source, uint32_t destination, vp_path_kind_t kind)
{
    size_t pair = vp_pair(model, model->rank_group[source], model->rank_group[destination]);
    uint32_t i;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        if (model->instances[i].kind == kind) {
            break;
        }
    }
    ck_assert_uint_lt(i, model->pair_begin[pair + 1]);
    return i;
}

static void lane(uint32_t source, uint32_t destination, vp_path_kind_t kind, uint64_t n_bytes)
{
    ck_assert_int_eq(vp_plan_builder_add(builder, source, destination,
                                         instance_of(source, destination, kind), n_bytes, &error),
                     VP_OK);
}

static uint64_t play(vp_execution_t execution, uint64_t alpha_ns, uint64_t preamble_ns)
{
    vp_simulation_options_t options = {.machine = {"ideal", 0, 1, false},
                                       .execute = {execution, alpha_ns, preamble_ns},
                                       .keep_flows = true};

    if (plan == NULL) {
        ck_assert_msg(vp_plan_builder_finish(builder, alpha_ns, "test", &plan, &error) == VP_OK,
                      "%s", error.text);
    }
    vp_simulation_release(&simulation);
    ck_assert_msg(vp_simulate_plan(model, plan, &options, &simulation, &error) == VP_OK, "%s",
                  error.text);
    return simulation.time_ns;
}

static uint64_t aggregate(void)
{
    return vp_algorithmic_bytes_per_s(plan->total_bytes, 1, simulation.time_ns);
}

/* Peers k = 3, all six on the inter-switch link: 64 per direction. */
START_TEST(figure_1_fixed_paths)
{
    uint32_t i;

    for (i = 0; i < 6; i++) {
        lane(i, (i + 3) % 6, VP_PATH_PXB, 64 * GB);
    }
    ck_assert_uint_eq(play(VP_EXECUTION_FREE, 0, 0), 3 * GB);
    ck_assert_uint_eq(aggregate(), 128 * GB);
}
END_TEST

/* One flow per direction on the NIC: 64 + 50 per direction. */
START_TEST(figure_1_adaptive_paths)
{
    uint32_t i;

    for (i = 0; i < 6; i++) {
        vp_path_kind_t kind = i % 3 == 0 ? VP_PATH_NIC : VP_PATH_PXB;

        lane(i, (i + 3) % 6, kind, kind == VP_PATH_NIC ? 50 * GB : 32 * GB);
    }
    ck_assert_uint_eq(play(VP_EXECUTION_FREE, 0, 0), GB);
    ck_assert_uint_eq(aggregate(), 228 * GB);
}
END_TEST

/* The joint channel: one PIX, one PXB, one NIC lane per group. */
static void add_joint_channel(void)
{
    lane(0, 1, VP_PATH_PIX, 64 * GB);
    lane(1, 3, VP_PATH_PXB, 64 * GB);
    lane(2, 4, VP_PATH_NIC, 50 * GB);
    lane(3, 5, VP_PATH_PIX, 64 * GB);
    lane(4, 0, VP_PATH_PXB, 64 * GB);
    lane(5, 2, VP_PATH_NIC, 50 * GB);
}

START_TEST(figure_1_joint)
{
    add_joint_channel();
    ck_assert_uint_eq(play((vp_execution_t)_i, 0, 0), GB);
    ck_assert_uint_eq(aggregate(), 356 * GB);
}
END_TEST

/* Long and short lanes: 0 to 1 and 2 to 3 of 64 MB; then 0 to 2 short, 4 to 5 long. */
static void add_two_activations(void)
{
    lane(0, 1, VP_PATH_PIX, 64 * MB);
    lane(3, 4, VP_PATH_PIX, 16 * MB);
    vp_plan_builder_next(builder);
    lane(0, 2, VP_PATH_PIX, 16 * MB);
    lane(4, 5, VP_PATH_PIX, 64 * MB);
    vp_plan_builder_next(builder);
    lane(1, 5, VP_PATH_PXB, 32 * MB);
}

/* Barriers: 1 ms, 1 ms, 0.5 ms, and three times alpha: the plan's own time. */
START_TEST(barrier_takes_the_plans_time)
{
    add_two_activations();
    ck_assert_uint_eq(play(VP_EXECUTION_BARRIER, 10000, 0), 2500000 + 3 * 10000);
    ck_assert_uint_eq(simulation.time_ns, plan->time_ns);
    ck_assert_uint_eq(simulation.n_steps, 3);
}
END_TEST

/*
 * Dependencies: 4 to 5 waits for nobody (4 only received so far, which is
 * another port), and ends at 1 ms + alpha; 1 to 5 needs the port into 5.
 */
START_TEST(deps_start_when_ports_are_free)
{
    add_two_activations();
    ck_assert_uint_eq(play(VP_EXECUTION_DEPS, 10000, 0), 1500000 + 2 * 10000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 2), 1010000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 3), 0);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 4), 1010000);
}
END_TEST

/* Free: 1 to 5 starts at once and shares the port into 5 with 4 to 5. */
START_TEST(free_waits_for_the_source_only)
{
    add_two_activations();
    ck_assert_uint_eq(play(VP_EXECUTION_FREE, 10000, 0), 1500000 + 10000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 4), 0);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 2), 1010000);
}
END_TEST

static void set_form(vp_plan_order_t order, uint32_t window, bool shares_ports)
{
    const vp_plan_form_t form = {order, window, shares_ports, VP_LINKS_IDEAL};

    vp_plan_builder_set_form(builder, &form);
}

/*
 * A list: every lane waits for its own ports only, also where barriers were asked
 * for. 0 to 1 ends at 1 ms; 0 to 2 follows it, 3 to 4 does not; 1 to 5 waits for
 * the port into 5 that 4 to 5 holds until 0.5 ms.
 */
START_TEST(lists_wait_for_ports_only)
{
    set_form(VP_PLAN_LIST, 1, false);
    lane(0, 1, VP_PATH_PIX, 64 * MB);
    lane(4, 5, VP_PATH_PIX, 32 * MB);
    lane(3, 4, VP_PATH_PIX, 16 * MB);
    lane(0, 2, VP_PATH_PIX, 16 * MB);
    lane(1, 5, VP_PATH_PXB, 32 * MB);
    ck_assert_uint_eq(play((vp_execution_t)_i, 10000, 0), 1250000 + 2 * 10000);
    ck_assert_uint_eq(simulation.time_ns, plan->time_ns);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 2), 0);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 3), 1010000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 4), 510000);
    ck_assert_int_eq(vp_execution_of(plan, (vp_execution_t)_i), VP_EXECUTION_DEPS);
}
END_TEST

/*
 * Concurrent lanes, whatever was asked for: with a window of 2 both lanes of 0
 * share its way out, the third starts when the first is done; 3 to 1 shares the
 * way into 1 with 0 to 1 until 2 ms.
 */
START_TEST(concurrent_lanes_run_through_a_window)
{
    set_form(VP_PLAN_CONCURRENT, 2, true);
    lane(0, 1, VP_PATH_PIX, 32 * MB);
    lane(0, 2, VP_PATH_PIX, 64 * MB);
    lane(0, 2, VP_PATH_PIX, 32 * MB);
    lane(4, 5, VP_PATH_PIX, 128 * MB);
    ck_assert_uint_eq(play((vp_execution_t)_i, 0, 0), 2000000);
    ck_assert_uint_eq(vp_network_flow_done_ns(simulation.machine->network, 0), 1000000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 1), 0);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 2), 1000000);
    ck_assert_uint_eq(vp_network_flow_done_ns(simulation.machine->network, 1), 2000000);
    ck_assert_int_eq(vp_execution_of(plan, (vp_execution_t)_i), VP_EXECUTION_WINDOW);
}
END_TEST

/*
 * Shared ports: 0 sends over PIX and NIC at once, 32 MB of its 64 GB/s each; the
 * next activation's lane out of 0 waits for both, the one out of 4 for none.
 */
START_TEST(shared_ports_wait_for_all_lanes_before)
{
    set_form(VP_PLAN_ACTIVATIONS, 2, true);
    lane(0, 1, VP_PATH_PIX, 32 * MB);
    lane(0, 3, VP_PATH_NIC, 48 * MB);
    vp_plan_builder_next(builder);
    lane(0, 2, VP_PATH_PIX, 64 * MB);
    lane(4, 5, VP_PATH_PIX, 64 * MB);
    ck_assert_uint_eq(play(VP_EXECUTION_DEPS, 0, 0), 2320000);
    ck_assert_uint_eq(vp_network_flow_done_ns(simulation.machine->network, 0), 1000000);
    ck_assert_uint_eq(vp_network_flow_done_ns(simulation.machine->network, 1), 1320000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 2), 1320000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 3), 0);
    ck_assert_uint_eq(play(VP_EXECUTION_BARRIER, 0, 0), 2320000);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 3), 1320000);
    (void)play(VP_EXECUTION_FREE, 0, 0);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 1), 0);
    ck_assert_uint_eq(vp_network_flow_start_ns(simulation.machine->network, 2), 1000000);
}
END_TEST

START_TEST(planning_and_exchange_are_charged)
{
    uint64_t without;

    add_two_activations();
    without = play((vp_execution_t)_i, 10000, 0);
    ck_assert_uint_eq(play((vp_execution_t)_i, 10000, 777), without + 777);
}
END_TEST

/* A lane that waits for its own source only may cost less: 2 us instead of 10, where lanes follow
   each other it is 10. */
START_TEST(a_post_may_cost_less_than_a_signal)
{
    vp_simulation_options_t options = {.machine = {"ideal", 0, 1, false},
                                       .execute = {(vp_execution_t)_i, 10000, 0, 8000}};
    uint64_t expected = _i == VP_EXECUTION_FREE ? 2000 : 10000;

    lane(0, 1, VP_PATH_PIX, 64 * MB);
    (void)play((vp_execution_t)_i, 10000, 0);
    vp_simulation_release(&simulation);
    ck_assert_int_eq(vp_simulate_plan(model, plan, &options, &simulation, &error), VP_OK);
    ck_assert_uint_eq(simulation.time_ns, 1000000 + expected);
}
END_TEST

/* Without the inter-switch link and with a NIC gone, paths disappear and are missed. */
START_TEST(failed_links_take_their_paths)
{
    vp_machine_options_t options = {NULL, 0, 1, false};
    vp_machine_t *machine;
    vp_path_t path;

    ck_assert_int_eq(vp_model_fail_link(model, "node0/nothing", &error), VP_ERR_USAGE);
    ck_assert_int_eq(vp_model_fail_link(model, "node0/sw0>sw1", &error), VP_OK);
    ck_assert_int_eq(vp_machine_create(model, &options, &machine, &error), VP_OK);
    ck_assert_int_eq(vp_path_nearest(machine, 0, 3, &path, &error), VP_OK);
    ck_assert_int_eq(path.kind, VP_PATH_NIC);
    ck_assert_int_eq(vp_path_nearest(machine, 3, 0, &path, &error), VP_OK);
    ck_assert_int_eq(path.kind, VP_PATH_PXB);
    vp_machine_destroy(machine);
    ck_assert_int_eq(vp_model_fail_link(model, "node0/nic0:tx", &error), VP_OK);
    ck_assert_uint_eq(model->n_nics, 1);
    ck_assert_int_eq(vp_machine_create(model, &options, &machine, &error), VP_OK);
    ck_assert_int_eq(vp_path_nearest(machine, 0, 3, &path, &error), VP_ERR_BAD_INPUT);
    vp_machine_destroy(machine);
}
END_TEST

/* Rates within the error, the same for the same seed, others for another. */
START_TEST(rate_errors_are_bounded_and_repeat)
{
    vp_simulation_options_t options = {.machine = {"ideal", 100000, 3, false},
                                       .execute = {VP_EXECUTION_BARRIER, 0, 0}};
    uint64_t first_ns;

    add_joint_channel();
    (void)play(VP_EXECUTION_BARRIER, 0, 0);
    vp_simulation_release(&simulation);
    ck_assert_int_eq(vp_simulate_plan(model, plan, &options, &simulation, &error), VP_OK);
    first_ns = simulation.time_ns;
    ck_assert_uint_gt(first_ns, GB);
    ck_assert_uint_le(first_ns, GB * 10 / 9 + 1);
    vp_simulation_release(&simulation);
    ck_assert_int_eq(vp_simulate_plan(model, plan, &options, &simulation, &error), VP_OK);
    ck_assert_uint_eq(simulation.time_ns, first_ns);
    vp_simulation_release(&simulation);
    options.machine.seed = 4;
    ck_assert_int_eq(vp_simulate_plan(model, plan, &options, &simulation, &error), VP_OK);
    ck_assert_uint_ne(simulation.time_ns, first_ns);
}
END_TEST

START_TEST(unknown_profiles_are_refused)
{
    vp_machine_options_t options = {"sunny", 0, 1, false};
    vp_machine_t *machine;

    ck_assert_int_eq(vp_machine_create(model, &options, &machine, &error), VP_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("execute");
    TCase *cases = tcase_create("plans");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, figure_1_fixed_paths);
    tcase_add_test(cases, figure_1_adaptive_paths);
    tcase_add_loop_test(cases, figure_1_joint, 0, 3);
    tcase_add_test(cases, barrier_takes_the_plans_time);
    tcase_add_test(cases, deps_start_when_ports_are_free);
    tcase_add_test(cases, free_waits_for_the_source_only);
    tcase_add_loop_test(cases, lists_wait_for_ports_only, VP_EXECUTION_BARRIER,
                        VP_EXECUTION_BARRIER + 1);
    tcase_add_loop_test(cases, lists_wait_for_ports_only, VP_EXECUTION_DEPS, VP_EXECUTION_DEPS + 1);
    tcase_add_loop_test(cases, concurrent_lanes_run_through_a_window, 0, 3);
    tcase_add_test(cases, shared_ports_wait_for_all_lanes_before);
    tcase_add_loop_test(cases, planning_and_exchange_are_charged, 0, 3);
    tcase_add_loop_test(cases, a_post_may_cost_less_than_a_signal, 0, 3);
    tcase_add_test(cases, failed_links_take_their_paths);
    tcase_add_test(cases, rate_errors_are_bounded_and_repeat);
    tcase_add_test(cases, unknown_profiles_are_refused);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
