/*
 * What holds of every planner on every machine and demand: 1 to 64 ranks,
 * uneven groups, sparse and dense, entries from one byte to 2^59. The checks
 * of plans, that all ranks derive the same bytes, that a plan's time follows
 * its form's bound, which planner is never dearer than which, and that
 * numbering ranks another way changes little.
 *
 * VP_PROPERTY_INSTANCES in the environment: how many, 800 unless set.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/schedule.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

static const uint64_t seed = 20260934;

/* Most instances are small: the corners of the model are there. */
static uint32_t draw_size(uint64_t *state_p)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 6, 8, 8, 12, 12, 16};
    uint32_t draw = (uint32_t)(demand_random(state_p) % 200);

    return draw == 0 ? 64 : draw < 3 ? 32 : sizes[draw % 10];
}

static vp_schedule_options_t draw_options(uint64_t *state_p)
{
    static const uint64_t alphas[] = {0, 1, 1000, 10000, 1000000};

    return (vp_schedule_options_t){.alpha_ns = alphas[demand_random(state_p) % 5],
                                   .sharing = (vp_sharing_t)(demand_random(state_p) % 3),
                                   .by_dependencies = demand_random(state_p) % 2 == 0};
}

static vp_plan_t *plan_with(const char *planner, const vp_catalog_t *catalog, const uint64_t *bytes,
                            const vp_schedule_options_t *options)
{
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_msg(vp_schedule_find(planner)(catalog, bytes, options, &plan, &error) == VP_OK,
                  "%s: %s", planner, error.text);
    return plan;
}

static bool is_same_plan(const vp_plan_t *a, const vp_plan_t *b)
{
    size_t i;

    if (a->hash != b->hash || a->n_lanes != b->n_lanes || a->n_activations != b->n_activations ||
        a->time_ns != b->time_ns) {
        return false;
    }
    for (i = 0; i < a->n_lanes; i++) {
        const vp_lane_t *x = &a->lanes[i];
        const vp_lane_t *y = &b->lanes[i];

        if (x->source != y->source || x->destination != y->destination ||
            x->instance != y->instance || x->offset_bytes != y->offset_bytes ||
            x->n_bytes != y->n_bytes || x->activation != y->activation) {
            return false;
        }
    }
    return true;
}

/* Each rank has a copy of its own of demand and machine, at other addresses. */
static void check_other_rank(const vp_plan_t *plan, const char *planner,
                             const vp_catalog_t *catalog, const uint64_t *bytes,
                             const vp_schedule_options_t *options)
{
    size_t n_bytes = (size_t)catalog->model->n_ranks * catalog->model->n_ranks * sizeof(*bytes);
    uint64_t *copy = malloc(n_bytes);
    vp_plan_t *other;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, n_bytes);
    other = plan_with(planner, catalog, copy, options);
    ck_assert_msg(is_same_plan(plan, other), "%s: two ranks differ", planner);
    vp_plan_destroy(other);
    free(copy);
}

static void check_instance(uint64_t *state_p)
{
    static const char *const planners[] = {"auto", "colour", "concurrent", "critical", "list"};
    vp_catalog_t *catalog = random_machine(state_p, draw_size(state_p));
    uint64_t *bytes = random_demand(state_p, catalog->model->n_ranks);
    vp_schedule_options_t options = draw_options(state_p);
    vp_plan_t *plans[5];
    int i;

    for (i = 0; i < 5; i++) {
        plans[i] = plan_with(planners[i], catalog, bytes, &options);
        check_plan(plans[i], catalog->model, bytes, options.alpha_ns);
    }
    check_other_rank(plans[0], "auto", catalog, bytes, &options);
    /* With port sharing left to it planning counts: test_sharing has what holds then. */
    if (options.by_dependencies && options.sharing == VP_SHARING_OFF &&
        catalog->model->n_ranks <= 16) {
        ck_assert_uint_le(plans[0]->time_ns, plans[4]->time_ns);
    }
    for (i = 0; i < 5; i++) {
        vp_plan_destroy(plans[i]);
    }
    free(bytes);
    vp_catalog_destroy(catalog);
}

START_TEST(plans_of_random_instances)
{
    const char *text = getenv("VP_PROPERTY_INSTANCES");
    uint32_t n = text == NULL ? 800 : (uint32_t)strtoul(text, NULL, 10);
    uint64_t state = seed;
    uint32_t i;

    (void)printf("%" PRIu32 " instances, seed %" PRIu64 "\n", n, seed);
    for (i = 0; i < n; i++) {
        check_instance(&state);
    }
}
END_TEST

/* Up to 16 ranks, where there are catalogs with shapes. */
START_TEST(thorough_is_never_dearer_than_paper)
{
    const vp_schedule_options_t options = {.alpha_ns = 10000, .effort = VP_EFFORT_THOROUGH};
    vp_catalog_t *catalog = machine_catalog(&machines[_i]);
    uint64_t draw;

    for (draw = 0; draw < 3 && catalog->model->n_ranks <= 8; draw++) {
        uint64_t *bytes =
            demand_make((demand_kind_t)(draw % N_DEMAND_KINDS), catalog->model->n_ranks, draw + 7);
        vp_plan_t *paper = plan_with("paper", catalog, bytes, &options);
        vp_plan_t *best = plan_with("auto", catalog, bytes, &options);

        check_plan(best, catalog->model, bytes, options.alpha_ns);
        ck_assert_msg(best->time_ns <= paper->time_ns, "%s, draw %" PRIu64, machines[_i].name,
                      draw);
        vp_plan_destroy(best);
        vp_plan_destroy(paper);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Numbers the ranks of each group of three anew: rank i becomes (i + 1) mod 3 of its group. */
static uint64_t *renumber(const uint64_t *bytes, uint32_t n_ranks, uint32_t group_size)
{
    uint64_t *renumbered = calloc((size_t)n_ranks * n_ranks, sizeof(*renumbered));
    uint32_t i;
    uint32_t j;

    ck_assert_ptr_nonnull(renumbered);
    for (i = 0; i < n_ranks; i++) {
        uint32_t to = i / group_size * group_size + (i + 1) % group_size;

        for (j = 0; j < n_ranks; j++) {
            uint32_t at = j / group_size * group_size + (j + 1) % group_size;

            renumbered[(size_t)to * n_ranks + at] = bytes[(size_t)i * n_ranks + j];
        }
    }
    return renumbered;
}

/*
 * Thorough, as a single run of a greedy planner follows its ties; lists on two
 * nodes, as on 8 GPUs they are several percent from their bound.
 */
START_TEST(renumbered_ranks_take_equal_time)
{
    static const struct {
        const char *machine;
        const char *planner;
    } cases[] = {{"r5080-bf3-1", "auto"}, {"r5080-bf3-1", "concurrent"}, {"r5080-bf3-2", "list"}};
    const vp_schedule_options_t options = {.alpha_ns = 10000, .effort = VP_EFFORT_THOROUGH};
    const char *planner = cases[_i].planner;
    vp_catalog_t *catalog = machine_catalog(machine_find(cases[_i].machine));
    uint32_t n_ranks = catalog->model->n_ranks;
    uint64_t draw;

    for (draw = 0; draw < 4; draw++) {
        uint64_t *bytes = demand_make(draw % 2 == 0 ? DEMAND_ZIPF : DEMAND_DENSE, n_ranks, draw);
        uint64_t *renumbered = renumber(bytes, n_ranks, 4);

        vp_plan_t *a = plan_with(planner, catalog, bytes, &options);
        vp_plan_t *b = plan_with(planner, catalog, renumbered, &options);

        check_plan(b, catalog->model, renumbered, options.alpha_ns);
        ck_assert_msg(b->time_ns * 100 <= a->time_ns * 102 && a->time_ns * 100 <= b->time_ns * 102,
                      "%s, draw %" PRIu64 ": %" PRIu64 " ns, renumbered %" PRIu64, planner, draw,
                      a->time_ns, b->time_ns);
        vp_plan_destroy(b);
        vp_plan_destroy(a);
        free(renumbered);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/*
 * Figure 2: three transfers between two groups, of which A is twice as long as
 * B and C. With each on one path, the best binding has A on the PXB link for 4
 * ms and B and C on the NIC for 5.12, where PXB idles at the end. Split, A runs
 * on PXB beside B on the NIC, and its second chunk moves to the NIC while C
 * takes PXB: both paths end together, after 512 MB at 114 GB/s.
 */
START_TEST(a_transfer_is_split_and_its_second_chunk_moves_to_the_other_path)
{
    const vp_schedule_options_t options = {.alpha_ns = 1000, .effort = VP_EFFORT_THOROUGH};
    const uint64_t whole_ns = 5120000;
    const uint64_t split_ns = 4491228;
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t bytes[36] = {0};
    uint64_t kind_bytes[VP_N_PATH_KINDS] = {0};
    vp_plan_t *plan;
    size_t i;

    bytes[0 * 6 + 3] = 256000000;
    bytes[1 * 6 + 4] = 128000000;
    bytes[2 * 6 + 5] = 128000000;
    plan = plan_with("auto", catalog, bytes, &options);
    check_plan(plan, catalog->model, bytes, options.alpha_ns);
    ck_assert_uint_ge(plan->n_activations, 2);
    for (i = 0; i < plan->n_lanes; i++) {
        if (plan->lanes[i].source == 0) {
            kind_bytes[catalog->model->instances[plan->lanes[i].instance].kind] +=
                plan->lanes[i].n_bytes;
        }
    }
    ck_assert(kind_bytes[VP_PATH_PXB] > 0 && kind_bytes[VP_PATH_NIC] > 0);
    ck_assert_uint_lt(plan->time_ns, whole_ns);
    ck_assert_uint_le(plan->time_ns, split_ns + split_ns / 50);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("properties");
    TCase *tests = tcase_create("properties");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 3600);
    tcase_add_test(tests, plans_of_random_instances);
    tcase_add_loop_test(tests, thorough_is_never_dearer_than_paper, 0, (int)n_machines);
    tcase_add_loop_test(tests, renumbered_ranks_take_equal_time, 0, 3);
    tcase_add_test(tests, a_transfer_is_split_and_its_second_chunk_moves_to_the_other_path);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
