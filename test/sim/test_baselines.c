/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/baselines/baselines.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/baselines/birkhoff.h"
#include "sim/fail.h"
#include "sim/simulation.h"
#include "test/sim/models.h"

/* One switch of 3; two switches of 2; two nodes of one switch of 2; of two switches of 2. */
static const test_shape_t one_switch = {1, 1, 3, 1, VP_PATH_PXB};
static const test_shape_t two_switches = {1, 2, 2, 1, VP_PATH_PXB};
static const test_shape_t two_nodes = {2, 1, 2, 1, VP_PATH_PXB};
static const test_shape_t two_by_two = {2, 2, 2, 1, VP_PATH_PXB};

static vp_model_t *model;
static uint64_t *demand;
static vp_simulation_t simulation;
static vp_error_t error;

static void open_machine(const test_shape_t *shape)
{
    model = test_model(shape);
    demand = vp_array_new((size_t)model->n_ranks * model->n_ranks, sizeof(uint64_t));
    ck_assert_ptr_nonnull(demand);
}

static void close_machine(void)
{
    vp_simulation_release(&simulation);
    free(demand);
    demand = NULL;
    vp_model_destroy(model);
    model = NULL;
}

static void set(uint32_t source, uint32_t destination, uint64_t n_bytes)
{
    demand[(size_t)source * model->n_ranks + destination] = n_bytes;
}

static void set_all(uint64_t n_bytes)
{
    uint32_t i;

    for (i = 0; i < model->n_ranks * model->n_ranks; i++) {
        demand[i] = i % (model->n_ranks + 1) == 0 ? 0 : n_bytes;
    }
}

static uint64_t play(const char *name)
{
    static const vp_simulation_options_t options = {.machine = {"ideal", 0, 1, false},
                                                    .keep_flows = true};
    const vp_baseline_t *baseline = vp_baseline_find(name);

    ck_assert_msg(baseline != NULL, "no baseline %s", name);
    vp_simulation_release(&simulation);
    ck_assert_msg(vp_simulate_baseline(model, demand, baseline, &options, &simulation, &error) ==
                      VP_OK,
                  "%s", error.text);
    return simulation.time_ns;
}

static uint64_t start_of(uint32_t flow)
{
    return vp_network_flow_start_ns(simulation.machine->network, flow);
}

static void all_start_at_zero(size_t n_flows)
{
    uint32_t i;

    ck_assert_uint_eq(simulation.n_flows, n_flows);
    for (i = 0; i < n_flows; i++) {
        ck_assert_uint_eq(start_of(i), 0);
    }
}

static uint64_t bytes_on(const char *resource)
{
    return vp_network_link_bytes(
        simulation.machine->network,
        vp_link_resource(simulation.machine, test_resource(model, resource)));
}

static uint64_t bytes_out(uint32_t rank)
{
    return vp_network_link_bytes(simulation.machine->network,
                                 vp_link_out(simulation.machine, rank));
}

static uint64_t bytes_in(uint32_t rank)
{
    return vp_network_link_bytes(simulation.machine->network, vp_link_in(simulation.machine, rank));
}

/* Four messages per direction share the inter-switch link: 256 MB at 64 GB/s. */
START_TEST(nearest_starts_everything_on_nearest_paths)
{
    open_machine(&two_switches);
    set_all(64 * MB);
    ck_assert_uint_eq(play("nearest"), 4000000 + 1000);
    all_start_at_zero(12);
    ck_assert_uint_eq(bytes_on("node0/sw0>sw1"), 256 * MB);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 0);
    ck_assert_uint_eq(simulation.n_steps, 1);
    close_machine();
}
END_TEST

/* Between nodes the NIC of the source's index, rail to rail. */
START_TEST(nearest_takes_the_nic_of_its_index)
{
    static const test_shape_t two_nics = {2, 1, 2, 2, VP_PATH_PXB};

    open_machine(&two_nics);
    set(1, 2, 50 * MB);
    ck_assert_uint_eq(play("nearest"), 1000000 + 1000);
    ck_assert_uint_eq(bytes_on("node0/nic1:tx"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node1/nic1:rx"), 50 * MB);
    close_machine();
}
END_TEST

/* Without the NIC of its switch a rank uses the other one, over the inter-switch link. */
START_TEST(a_failed_nic_is_replaced_inside_the_node)
{
    open_machine(&two_by_two);
    ck_assert_int_eq(vp_model_fail_link(model, "node0/nic0:tx", &error), VP_OK);
    set(0, 4, 50 * MB);
    ck_assert_uint_eq(play("nearest"), 1000000 + 1000);
    ck_assert_uint_eq(bytes_on("node0/nic1:tx"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node0/sw0>sw1"), 50 * MB);
    ck_assert_uint_eq(play("nccl-host"), 1000000 + 2000);
    close_machine();
}
END_TEST

START_TEST(openmpi_linear_is_two_sided_and_at_once)
{
    open_machine(&two_switches);
    set_all(64 * MB);
    ck_assert_uint_eq(play("openmpi-linear"), 4000000 + 2000);
    all_start_at_zero(12);
    close_machine();
}
END_TEST

/* Each NIC carries two ranks' three messages of 64 MB, those inside the switch too. */
START_TEST(deepep_nic_sends_all_over_nics)
{
    open_machine(&two_switches);
    set_all(64 * MB);
    ck_assert_uint_eq(play("deepep-nic"), 7680000 + 1000);
    all_start_at_zero(12);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 384 * MB);
    ck_assert_uint_eq(bytes_on("node0/sw0>sw1"), 0);
    close_machine();
}
END_TEST

/* 0 to 3 goes over 2, which has 0's index; both legs run together. */
START_TEST(deepep_rail_forwards_cut_through)
{
    open_machine(&two_nodes);
    set(0, 3, 50 * MB);
    ck_assert_uint_eq(play("deepep-rail"), 1000000 + 1000);
    all_start_at_zero(1);
    ck_assert_uint_eq(bytes_in(2), 50 * MB);
    ck_assert_uint_eq(bytes_out(2), 50 * MB);
    ck_assert_uint_eq(bytes_in(3), 50 * MB);
    close_machine();
}
END_TEST

static void peers_are(uint32_t rank, const uint32_t *expected)
{
    static const vp_machine_options_t options = {NULL, 0, 1, false};
    vp_machine_t *machine;
    uint32_t *peers = vp_array_new(model->n_ranks, sizeof(uint32_t));
    uint32_t i;

    ck_assert_int_eq(vp_machine_create(model, &options, &machine, &error), VP_OK);
    vp_nccl_peers(machine, rank, peers);
    for (i = 0; i < model->n_ranks; i++) {
        ck_assert_msg(peers[i] == expected[i], "rank %u round %u: peer %u instead of %u", rank, i,
                      peers[i], expected[i]);
    }
    free(peers);
    vp_machine_destroy(machine);
}

/* Offsets walk 0, 1, 3, 6 modulo 4; three groups leave the 3 out; one node is one group. */
START_TEST(nccl_rotates_in_groups)
{
    static const test_shape_t four_nodes = {4, 1, 2, 1, VP_PATH_PXB};
    static const test_shape_t three_nodes = {3, 1, 2, 1, VP_PATH_PXB};
    static const uint32_t four_0[] = {0, 1, 2, 3, 6, 7, 4, 5};
    static const uint32_t four_3[] = {3, 2, 5, 4, 1, 0, 7, 6};
    static const uint32_t three_2[] = {2, 3, 4, 5, 0, 1};
    static const uint32_t one_1[] = {1, 2, 3, 0};

    open_machine(&four_nodes);
    peers_are(0, four_0);
    peers_are(3, four_3);
    close_machine();
    open_machine(&three_nodes);
    peers_are(2, three_2);
    close_machine();
    open_machine(&two_switches);
    peers_are(1, one_1);
    close_machine();
}
END_TEST

/* Nodes of 16 ranks: groups of 8. */
START_TEST(nccl_groups_hold_at_most_eight)
{
    static const test_shape_t big = {2, 2, 8, 1, VP_PATH_PXB};
    static const uint32_t rank_0[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                      11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29,
                                      30, 31, 16, 17, 18, 19, 20, 21, 22, 23};

    open_machine(&big);
    peers_are(0, rank_0);
    close_machine();
}
END_TEST

static uint32_t window_of(const test_shape_t *shape)
{
    static const vp_machine_options_t options = {NULL, 0, 1, false};
    vp_machine_t *machine;
    uint32_t window;

    open_machine(shape);
    ck_assert_int_eq(vp_machine_create(model, &options, &machine, &error), VP_OK);
    window = vp_nccl_window(machine);
    vp_machine_destroy(machine);
    close_machine();
    return window;
}

/* 50 GB/s are 4 channels per peer: 64 in flight, until more peers must fit. */
START_TEST(nccl_window_follows_channels)
{
    static const test_shape_t shapes[] = {{1, 2, 4, 1, VP_PATH_PXB},
                                          {8, 2, 4, 1, VP_PATH_PXB},
                                          {16, 2, 4, 1, VP_PATH_PXB},
                                          {64, 2, 4, 1, VP_PATH_PXB}};

    ck_assert_uint_eq(window_of(&shapes[0]), 128);
    ck_assert_uint_eq(window_of(&shapes[1]), 64);
    ck_assert_uint_eq(window_of(&shapes[2]), 128);
    ck_assert_uint_eq(window_of(&shapes[3]), 256);
}
END_TEST

/* Of 511 equal messages of one rank, 256 start at once, the next when slots come free. */
START_TEST(nccl_keeps_its_window)
{
    static const test_shape_t big = {64, 2, 4, 1, VP_PATH_PXB};
    uint32_t i;

    open_machine(&big);
    for (i = 1; i < model->n_ranks; i++) {
        set(0, i, MB);
    }
    (void)play("nccl");
    ck_assert_uint_eq(simulation.n_flows, 511);
    ck_assert_uint_eq(start_of(255), 0);
    ck_assert_uint_gt(start_of(256), 2000);
    ck_assert_uint_gt(start_of(510), 2000);
    close_machine();
}
END_TEST

/* Peer to peer up to PXB; through a host bridge shared memory; across sockets the NIC. */
START_TEST(nccl_chooses_paths_by_its_constants)
{
    static const test_shape_t bridge = {1, 2, 2, 1, VP_PATH_PHB};
    static const test_shape_t sockets = {1, 2, 2, 1, VP_PATH_SYS};

    open_machine(&two_switches);
    set(0, 2, 64 * MB);
    ck_assert_uint_eq(play("nccl"), 1000000 + 2000);
    ck_assert_uint_eq(bytes_on("node0/sw0>sw1"), 64 * MB);
    close_machine();
    open_machine(&bridge);
    set(0, 2, 64 * MB);
    (void)play("nccl");
    ck_assert_uint_eq(bytes_on("node0/sw0:up"), 64 * MB);
    ck_assert_uint_eq(bytes_on("node0/sw1:down"), 64 * MB);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 0);
    close_machine();
    open_machine(&sockets);
    set(0, 2, 50 * MB);
    ck_assert_uint_eq(play("nccl"), 1000000 + 2000);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node0/sw0:up"), 0);
    close_machine();
}
END_TEST

/* Two messages inside a switch share its way to host memory and back. */
START_TEST(nccl_host_loads_uplinks_inside_a_node)
{
    open_machine(&two_switches);
    set(0, 1, 64 * MB);
    set(1, 0, 64 * MB);
    ck_assert_uint_eq(play("nccl-host"), 2000000 + 2000);
    close_machine();
}
END_TEST

/* Between nodes each byte crosses both uplinks in both directions. */
START_TEST(nccl_host_loads_uplinks_twice_between_nodes)
{
    static const test_shape_t bridges = {2, 2, 2, 1, VP_PATH_PHB};

    open_machine(&bridges);
    set(0, 4, 50 * MB);
    ck_assert_uint_eq(play("nccl-host"), 1000000 + 2000);
    ck_assert_uint_eq(bytes_on("node0/sw0:up"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node0/sw0:down"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node1/nic0:rx"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node1/sw0:up"), 50 * MB);
    ck_assert_uint_eq(bytes_on("node1/sw0:down"), 50 * MB);
    close_machine();
}
END_TEST

/* 30, 20 and 10 MB over two NICs: 30 on one, 20 + 10 on the other, over the switch link. */
START_TEST(rails_assigns_longest_first)
{
    open_machine(&two_by_two);
    set(0, 4, 10 * MB);
    set(0, 5, 30 * MB);
    set(0, 6, 20 * MB);
    (void)play("rails");
    all_start_at_zero(3);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 30 * MB);
    ck_assert_uint_eq(bytes_on("node0/nic1:tx"), 30 * MB);
    ck_assert_uint_eq(bytes_on("node0/sw0>sw1"), 30 * MB);
    close_machine();
}
END_TEST

/*
 * Chunks of 50 MB: the chunk to merge and the local one share a GPU link
 * (1562.5 us); then both ranks' merged 100 MB share a NIC (4 ms).
 */
START_TEST(msccl_merges_in_two_steps)
{
    open_machine(&two_nodes);
    set_all(50 * MB);
    ck_assert_uint_eq(play("msccl"), 1000 + 1562500 + 2000 + 4000000);
    ck_assert_uint_eq(simulation.n_steps, 2);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 200 * MB);
    close_machine();
}
END_TEST

START_TEST(msccl_pads_to_the_largest)
{
    open_machine(&two_nodes);
    set_all(1);
    set(0, 2, 50 * MB);
    ck_assert_uint_eq(play("msccl"), 1000 + 1562500 + 2000 + 4000000);
    close_machine();
}
END_TEST

/*
 * 80 MB from 0 to 2: half moves to 1 (625 us at 64 GB/s), both halves cross on
 * one NIC (1.6 ms), 3 passes its half on to 2 (625 us). Nothing overlaps.
 */
START_TEST(fast_balances_crosses_and_redistributes)
{
    open_machine(&two_nodes);
    set(0, 2, 80 * MB);
    ck_assert_uint_eq(play("fast"), 1000 + 625000 + 2000 + 1600000 + 1000 + 625000);
    ck_assert_uint_eq(bytes_in(1), 40 * MB);
    ck_assert_uint_eq(bytes_in(3), 40 * MB);
    ck_assert_uint_eq(bytes_out(3), 40 * MB);
    ck_assert_uint_eq(simulation.n_steps, 2);
    close_machine();
}
END_TEST

/*
 * Balanced rows move nothing. The local 64 MB start at 1 us and run at 64 GB/s,
 * from 2 us at the 39 that 25 over the NIC leave, and at 64 again from 1.002 ms.
 */
START_TEST(fast_leaves_balanced_rows_alone)
{
    open_machine(&two_nodes);
    set(0, 2, 25 * MB);
    set(1, 3, 25 * MB);
    set(0, 1, 64 * MB);
    ck_assert_uint_eq(play("fast"), 1002000 + (64 * MB - 64000 - 39 * MB) / 64);
    ck_assert_uint_eq(bytes_out(3), 0);
    close_machine();
}
END_TEST

START_TEST(birkhoff_stages_are_permutations_that_add_up)
{
    static const uint64_t matrix[] = {0, 4, 1, 2, 0, 3, 1, 2, 0};
    uint64_t sums[9] = {0};
    vp_stages_t stages;
    size_t stage;
    uint32_t i;

    ck_assert_int_eq(vp_birkhoff(matrix, 3, &stages, &error), VP_OK);
    for (stage = 0; stage < stages.n_stages; stage++) {
        uint32_t seen = 0;

        for (i = 0; i < 3; i++) {
            seen |= 1u << stages.matches[3 * stage + i];
            sums[3 * i + stages.matches[3 * stage + i]] += stages.bytes[3 * stage + i];
            ck_assert_uint_le(stages.bytes[3 * stage + i], stages.weights[stage]);
        }
        ck_assert_uint_eq(seen, 7);
        ck_assert(stage == 0 || stages.weights[stage - 1] <= stages.weights[stage]);
    }
    for (i = 0; i < 9; i++) {
        ck_assert_uint_eq(sums[i], matrix[i]);
    }
    vp_stages_release(&stages);
}
END_TEST

/* Flow 3 * k + r is step k + 1 of rank r. */
START_TEST(openmpi_pairwise_waits_for_send_and_receive)
{
    open_machine(&one_switch);
    set(0, 1, 64 * MB);
    ck_assert_uint_eq(play("openmpi-pairwise"), 2000 + 1000000 + 2000);
    ck_assert_uint_eq(simulation.n_steps, 2);
    ck_assert_uint_eq(start_of(2), 0);
    close_machine();
}
END_TEST

/* Blocks of 32: only ranks 0 and 1 reach the second block late. */
START_TEST(mpich_scattered_waits_per_block)
{
    static const test_shape_t big = {1, 1, 34, 1, VP_PATH_PXB};

    open_machine(&big);
    set(0, 1, 64 * MB);
    ck_assert_uint_eq(play("mpich-scattered"), 2000 + 1000000 + 2000);
    ck_assert_uint_eq(simulation.n_steps, 2);
    ck_assert_uint_eq(start_of(31 * 34 + 5), 0); /* step 32 */
    close_machine();
}
END_TEST

START_TEST(ucc_posts_all_up_to_32_ranks)
{
    open_machine(&one_switch);
    set_all(32 * MB);
    ck_assert_uint_eq(play("ucc"), 1000000 + 2000);
    all_start_at_zero(6);
    close_machine();
}
END_TEST

/* Step 1 sends from 0 to 32; each of the 31 steps behind it costs one message more. */
START_TEST(ucc_goes_backwards_one_by_one_beyond)
{
    static const test_shape_t big = {1, 1, 33, 1, VP_PATH_PXB};

    open_machine(&big);
    set(0, 32, 64 * MB);
    ck_assert_uint_eq(play("ucc"), 1000000 + 32 * 2000);
    ck_assert_uint_eq(simulation.n_steps, 32);
    close_machine();
}
END_TEST

/* Two pairs on one inter-switch link: parts move to the NIC, 114 GB/s for 128 MB. */
START_TEST(nimble_splits_over_paths)
{
    open_machine(&two_switches);
    set(0, 2, 64 * MB);
    set(1, 3, 64 * MB);
    ck_assert_uint_le(play("nimble"), 1250000);
    ck_assert_uint_gt(simulation.time_ns, 1122807 + 1000);
    all_start_at_zero(simulation.n_flows);
    ck_assert_uint_gt(bytes_on("node0/nic0:tx"), 48 * MB);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx") + bytes_on("node0/sw0>sw1"), 128 * MB);
    close_machine();
}
END_TEST

START_TEST(nimble_keeps_small_messages_whole)
{
    open_machine(&two_switches);
    set(0, 2, 1 << 20);
    (void)play("nimble");
    ck_assert_uint_eq(simulation.n_flows, 1);
    close_machine();
}
END_TEST

/* 114 MB: 64 over the switch link, 50 over the NIC, one GPU link for both. */
START_TEST(flexlink_splits_by_isolated_rates)
{
    open_machine(&two_switches);
    set(0, 2, 114 * MB);
    ck_assert_uint_eq(play("flexlink"), 1781250 + 1000);
    all_start_at_zero(2);
    ck_assert_uint_eq(bytes_on("node0/sw0>sw1"), 64 * MB);
    ck_assert_uint_eq(bytes_on("node0/nic0:tx"), 50 * MB);
    close_machine();
}
END_TEST

/* Every system delivers every byte: into each GPU at least its column. */
START_TEST(every_baseline_delivers)
{
    static const char *const names[] = {
        "nccl",           "nccl-host",       "rails",      "msccl",
        "fast",           "deepep-rail",     "deepep-nic", "openmpi-pairwise",
        "openmpi-linear", "mpich-scattered", "ucc",        "nimble",
        "flexlink",       "nearest"};
    uint32_t i;
    uint32_t j;

    open_machine(&two_by_two);
    for (i = 0; i < model->n_ranks; i++) {
        for (j = 0; j < model->n_ranks; j++) {
            set(i, j, i == j ? 0 : MB * (1 + (i * 5 + j * 3) % 11));
        }
    }
    (void)play(names[_i]);
    for (j = 0; j < model->n_ranks; j++) {
        uint64_t column = 0;

        for (i = 0; i < model->n_ranks; i++) {
            column += demand[(size_t)i * model->n_ranks + j];
        }
        ck_assert_uint_ge(bytes_in(j), column);
    }
    close_machine();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("baselines");
    TCase *cases = tcase_create("hand-checked");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(cases, nearest_starts_everything_on_nearest_paths);
    tcase_add_test(cases, nearest_takes_the_nic_of_its_index);
    tcase_add_test(cases, a_failed_nic_is_replaced_inside_the_node);
    tcase_add_test(cases, openmpi_linear_is_two_sided_and_at_once);
    tcase_add_test(cases, deepep_nic_sends_all_over_nics);
    tcase_add_test(cases, deepep_rail_forwards_cut_through);
    tcase_add_test(cases, nccl_rotates_in_groups);
    tcase_add_test(cases, nccl_groups_hold_at_most_eight);
    tcase_add_test(cases, nccl_window_follows_channels);
    tcase_add_test(cases, nccl_keeps_its_window);
    tcase_add_test(cases, nccl_chooses_paths_by_its_constants);
    tcase_add_test(cases, nccl_host_loads_uplinks_inside_a_node);
    tcase_add_test(cases, nccl_host_loads_uplinks_twice_between_nodes);
    tcase_add_test(cases, rails_assigns_longest_first);
    tcase_add_test(cases, msccl_merges_in_two_steps);
    tcase_add_test(cases, msccl_pads_to_the_largest);
    tcase_add_test(cases, fast_balances_crosses_and_redistributes);
    tcase_add_test(cases, fast_leaves_balanced_rows_alone);
    tcase_add_test(cases, birkhoff_stages_are_permutations_that_add_up);
    tcase_add_test(cases, openmpi_pairwise_waits_for_send_and_receive);
    tcase_add_test(cases, mpich_scattered_waits_per_block);
    tcase_add_test(cases, ucc_posts_all_up_to_32_ranks);
    tcase_add_test(cases, ucc_goes_backwards_one_by_one_beyond);
    tcase_add_test(cases, nimble_splits_over_paths);
    tcase_add_test(cases, nimble_keeps_small_messages_whole);
    tcase_add_test(cases, flexlink_splits_by_isolated_rates);
    tcase_add_loop_test(cases, every_baseline_delivers, 0, 14);
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
