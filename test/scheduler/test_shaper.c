/*
 * Shapes made from path instances, against the exhaustive catalog: the same
 * largest score, every shape within reach, valid families.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/shaper.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

enum { MAX_PAIRS = MACHINE_MAX_GROUPS * MACHINE_MAX_GROUPS, MAX_RESOURCES = 128 };

typedef struct setting {
    vp_catalog_t *catalog; /* exhaustive */
    const vp_model_t *model;
    size_t n_pairs;
    uint64_t *demand_bytes; /* one byte a pair, so that every list has a rest */
    vp_remaining_t remaining;
    uint64_t *quantum_bytes;
    vp_shaper_t shaper;
    uint64_t pressure[MAX_PAIRS];
} setting_t;

static void set_up(setting_t *s, const machine_t *machine, const bool *is_excluded)
{
    vp_error_t error;
    uint32_t r;

    s->catalog = machine_catalog(machine);
    s->model = s->catalog->model;
    s->n_pairs = vp_pair(s->model, s->model->n_groups, 0);
    s->demand_bytes = demand_make(DEMAND_BYTES, s->model->n_ranks, 1);
    s->quantum_bytes = vp_array_new(s->model->n_instances, sizeof(*s->quantum_bytes));
    ck_assert_ptr_nonnull(s->quantum_bytes);
    for (r = 0; r < s->model->n_instances; r++) {
        s->quantum_bytes[r] = 1000;
    }
    ck_assert_int_eq(vp_remaining_init(&s->remaining, s->model, s->demand_bytes, 0, &error), VP_OK);
    ck_assert_int_eq(vp_shaper_init(&s->shaper, s->model, is_excluded, &error), VP_OK);
    vp_shaper_reset(&s->shaper);
}

static void tear_down(setting_t *s)
{
    vp_shaper_release(&s->shaper);
    vp_remaining_release(&s->remaining);
    free(s->quantum_bytes);
    free(s->demand_bytes);
    vp_catalog_destroy(s->catalog);
}

/* Pairs without bytes get no pressure: a group of one rank has none with itself. */
static void draw_pressure(setting_t *s, uint64_t *state_p, uint64_t limit)
{
    size_t pair;

    for (pair = 0; pair < s->n_pairs; pair++) {
        s->pressure[pair] =
            s->remaining.n_rests[pair] == 0 ? 0 : demand_random(state_p) % (limit + 1);
    }
}

static uint64_t best_listed_score(const setting_t *s)
{
    uint64_t best = 0;
    uint32_t shape;
    size_t pair;

    for (shape = 0; shape < s->catalog->n_shapes; shape++) {
        uint64_t score = 0;

        for (pair = 0; pair < s->n_pairs; pair++) {
            score += s->pressure[pair] * s->catalog->shape_lanes[shape * s->n_pairs + pair];
        }
        best = score > best ? score : best;
    }
    return best;
}

static bool choose(setting_t *s)
{
    return vp_shaper_choose(&s->shaper, s->pressure, &s->remaining, s->quantum_bytes);
}

/* Equations 1 (as far as lanes are there) and 2 of the members; returns their score. */
static uint64_t check_members(const setting_t *s, const char *what)
{
    uint32_t resource_lanes[MAX_RESOURCES] = {0};
    uint32_t out[MACHINE_MAX_GROUPS] = {0};
    uint32_t in[MACHINE_MAX_GROUPS] = {0};
    uint64_t score = 0;
    uint32_t m;
    uint32_t i;

    for (m = 0; m < s->shaper.n_members; m++) {
        const vp_member_t *member = &s->shaper.members[m];
        const vp_instance_t *instance = &s->model->instances[member->instance];

        ck_assert_uint_ge(member->count, 1);
        ck_assert_uint_le(member->count, instance->n_copies);
        ck_assert(m == 0 || s->shaper.members[m - 1].instance < member->instance);
        out[instance->from_group] += member->count;
        in[instance->to_group] += member->count;
        score += member->count *
                 s->pressure[vp_pair(s->model, instance->from_group, instance->to_group)];
        for (i = 0; i < instance->n_resources; i++) {
            resource_lanes[instance->resources[i]] += member->count;
            ck_assert_msg(resource_lanes[instance->resources[i]] == 1,
                          "%s: resource %u is used twice", what, instance->resources[i]);
        }
    }
    for (i = 0; i < s->model->n_groups; i++) {
        ck_assert_msg(out[i] <= s->model->groups[i].n_ranks && in[i] <= s->model->groups[i].n_ranks,
                      "%s: group %u has %u lanes out and %u in", what, i, out[i], in[i]);
    }
    return score;
}

/* Loop over machines: pressures fresh and shrinking, dense, sparse and full of ties. */
START_TEST(scores_are_those_of_the_best_listed_shape)
{
    static const uint64_t limits[] = {UINT64_C(1) << 40, 1000, 3, 1};
    setting_t s;
    uint64_t seed;
    uint32_t step;
    size_t pair;

    set_up(&s, &machines[_i], NULL);
    for (seed = 1; seed <= 40; seed++) {
        uint64_t state = seed;

        draw_pressure(&s, &state, limits[seed % 4]);
        vp_shaper_reset(&s.shaper);
        for (step = 0; step < 10; step++) {
            uint64_t best = best_listed_score(&s);

            if (choose(&s) != (best > 0) ||
                (best > 0 && check_members(&s, machines[_i].name) != best)) {
                ck_abort_msg(
                    "%s, seed %" PRIu64 ", step %u: score %" PRIu64 ", the best is %" PRIu64,
                    machines[_i].name, seed, step, check_members(&s, machines[_i].name), best);
            }
            for (pair = 0; pair < s.n_pairs; pair++) {
                s.pressure[pair] -= demand_random(&state) % 3 == 0
                                        ? demand_random(&state) % (s.pressure[pair] + 1)
                                        : 0;
            }
        }
    }
    tear_down(&s);
}
END_TEST

/* Lane counts of the members, local lanes left out. */
static void count_lanes(const setting_t *s, uint16_t *lanes)
{
    uint32_t m;

    memset(lanes, 0, s->n_pairs * sizeof(*lanes));
    for (m = 0; m < s->shaper.n_members; m++) {
        const vp_instance_t *instance = &s->model->instances[s->shaper.members[m].instance];

        lanes[vp_pair(s->model, instance->from_group, instance->to_group)] +=
            (uint16_t)s->shaper.members[m].count;
    }
}

/*
 * Loop over machines: with the instances of one family of a shape left, and
 * everything but local lanes wanted much, that shape has to come out.
 */
START_TEST(every_listed_shape_is_reached)
{
    vp_catalog_t *catalog = machine_catalog(&machines[_i]);
    bool *is_excluded = vp_array_new(catalog->model->n_instances, sizeof(*is_excluded));
    uint16_t lanes[MAX_PAIRS];
    uint32_t n_reached = 0;
    uint32_t shape;
    uint32_t i;

    ck_assert_ptr_nonnull(is_excluded);
    for (shape = 0; shape < catalog->n_shapes; shape++) {
        uint32_t family = catalog->shapes[shape].first_family;
        setting_t s;

        memset(is_excluded, true, catalog->model->n_instances * sizeof(*is_excluded));
        for (i = catalog->member_begin[family]; i < catalog->member_begin[family + 1]; i++) {
            is_excluded[catalog->members[i].instance] = false;
        }
        set_up(&s, &machines[_i], is_excluded);
        for (i = 0; i < s.n_pairs; i++) {
            s.pressure[i] = i / s.model->n_groups == i % s.model->n_groups ? 1 : 1000;
        }
        ck_assert(choose(&s));
        (void)check_members(&s, machines[_i].name);
        count_lanes(&s, lanes);
        n_reached += memcmp(lanes, catalog->shape_lanes + shape * s.n_pairs,
                            s.n_pairs * sizeof(*lanes)) == 0;
        tear_down(&s);
    }
    (void)printf("%s: %u of %u shapes reached\n", machines[_i].name, n_reached, catalog->n_shapes);
    ck_assert_uint_eq(n_reached, catalog->n_shapes);
    free(is_excluded);
    vp_catalog_destroy(catalog);
}
END_TEST

/* One lane each way, two paths: the faster, unless it carries less or is excluded. */
START_TEST(families_take_the_better_instance)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("singles"));
    uint32_t pxb = machine_instance(catalog->model, VP_PATH_PXB, 0, 1);
    uint32_t nic = machine_instance(catalog->model, VP_PATH_NIC, 0, 1);
    bool is_excluded[64] = {false};
    setting_t s;
    uint32_t round;

    is_excluded[pxb] = true;
    for (round = 0; round < 3; round++) {
        set_up(&s, machine_find("singles"), round == 2 ? is_excluded : NULL);
        memset(s.pressure, 0, sizeof(s.pressure));
        s.pressure[0 * 4 + 1] = 15;
        s.pressure[1 * 4 + 0] = 15;
        s.remaining.rests[s.remaining.rest_begin[1]].n_bytes = 900;
        s.quantum_bytes[pxb] = round == 1 ? 400 : 1000;
        ck_assert(choose(&s));
        ck_assert_uint_eq(check_members(&s, "singles"), 30);
        ck_assert_uint_eq(s.shaper.best[pxb], round == 0);
        ck_assert_uint_eq(s.shaper.best[nic], round != 0);
        tear_down(&s);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Without branching the choice is valid still, and not far off. */
START_TEST(a_greedy_choice_is_valid)
{
    const machine_t *machine = machine_find("sockets");
    uint64_t seed;
    uint64_t sum = 0;
    uint64_t best_sum = 0;
    setting_t s;

    set_up(&s, machine, NULL);
    ck_assert_uint_eq(s.shaper.n_sides, 2);
    s.shaper.max_sides = 0;
    for (seed = 1; seed <= 200; seed++) {
        uint64_t state = seed;
        uint64_t best;
        uint64_t score;

        draw_pressure(&s, &state, 1000);
        vp_shaper_reset(&s.shaper);
        best = best_listed_score(&s);
        ck_assert(choose(&s));
        score = check_members(&s, "greedy");
        ck_assert_msg(score <= best, "seed %" PRIu64 ": %" PRIu64 " above %" PRIu64, seed, score,
                      best);
        sum += score;
        best_sum += best;
    }
    (void)printf("greedy: %.4f of the best score\n", (double)sum / (double)best_sum);
    ck_assert_uint_ge(100 * sum, 95 * best_sum);
    tear_down(&s);
}
END_TEST

START_TEST(no_pressure_gives_no_shape)
{
    setting_t s;

    set_up(&s, machine_find("r5080-bf3-1"), NULL);
    memset(s.pressure, 0, sizeof(s.pressure));
    ck_assert(!choose(&s));
    tear_down(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shaper");
    TCase *cases = tcase_create("shaper");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, scores_are_those_of_the_best_listed_shape, 0, (int)n_machines);
    tcase_add_loop_test(cases, every_listed_shape_is_reached, 0, (int)n_machines);
    tcase_add_test(cases, families_take_the_better_instance);
    tcase_add_test(cases, a_greedy_choice_is_valid);
    tcase_add_test(cases, no_pressure_gives_no_shape);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
