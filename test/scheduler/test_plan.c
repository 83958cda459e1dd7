/*
 * The builder, and the checker on good plans and on plans broken in each way.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/plan.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/machines.h"

enum { N_RANKS = 6, ALPHA_NS = 10000 };

/* One lane per row: activation, source, destination, kind, groups, bytes. */
typedef struct row {
    uint32_t activation;
    uint32_t source;
    uint32_t destination;
    vp_path_kind_t kind;
    uint64_t n_bytes;
} row_t;

/* Not in order of sources: the builder sorts. Lane numbers of the plan are in the comments. */
static const row_t rows[] = {
    {0, 2, 4, VP_PATH_NIC, 50000}, /* 2 */
    {0, 0, 1, VP_PATH_PIX, 64000}, /* 0 */
    {0, 1, 3, VP_PATH_PXB, 32000}, /* 1 */
    {0, 3, 2, VP_PATH_PXB, 64},    /* 3 */
    {0, 4, 0, VP_PATH_NIC, 7},     /* 4 */
    {1, 1, 3, VP_PATH_PXB, 1000},  /* 5 */
    {1, 2, 0, VP_PATH_PIX, 6400},  /* 6 */
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

typedef struct fixture {
    vp_catalog_t *catalog;
    vp_model_t *model;
    vp_plan_t *plan;
    uint64_t demand_bytes[N_RANKS * N_RANKS];
} fixture_t;

static vp_plan_t *build_form(const vp_model_t *model, const row_t *from, size_t n,
                             const vp_plan_form_t *form)
{
    vp_plan_builder_t *builder = NULL;
    vp_plan_t *plan = NULL;
    vp_error_t error;
    size_t i;

    ck_assert_int_eq(vp_plan_builder_create(model, &builder, &error), VP_OK);
    vp_plan_builder_set_form(builder, form);
    for (i = 0; i < n; i++) {
        uint32_t instance = machine_instance(model, from[i].kind, model->rank_group[from[i].source],
                                             model->rank_group[from[i].destination]);

        if (i > 0 && from[i].activation != from[i - 1].activation) {
            vp_plan_builder_next(builder);
        }
        ck_assert_int_eq(vp_plan_builder_add(builder, from[i].source, from[i].destination, instance,
                                             from[i].n_bytes, &error),
                         VP_OK);
    }
    ck_assert_int_eq(vp_plan_builder_finish(builder, ALPHA_NS, "test", &plan, &error), VP_OK);
    vp_plan_builder_destroy(builder);
    return plan;
}

static const vp_plan_form_t activations = {VP_PLAN_ACTIVATIONS, 1, false, VP_LINKS_IDEAL};

static vp_plan_t *build(const vp_model_t *model, const row_t *from, size_t n)
{
    return build_form(model, from, n, &activations);
}

static void set_up(fixture_t *fixture)
{
    size_t i;

    memset(fixture, 0, sizeof(*fixture));
    fixture->catalog = machine_catalog(machine_find("fig1-6"));
    fixture->model = fixture->catalog->model;
    fixture->plan = build(fixture->model, rows, N_ROWS);
    for (i = 0; i < N_ROWS; i++) {
        fixture->demand_bytes[rows[i].source * N_RANKS + rows[i].destination] += rows[i].n_bytes;
    }
    fixture->demand_bytes[0] = 99; /* the diagonal is ignored */
}

static void tear_down(fixture_t *fixture)
{
    vp_plan_destroy(fixture->plan);
    vp_catalog_destroy(fixture->catalog);
}

static vp_status_t check(const fixture_t *fixture, vp_error_t *error)
{
    return vp_plan_check(fixture->plan, fixture->model, fixture->demand_bytes, ALPHA_NS, error);
}

START_TEST(the_builder_orders_cuts_and_times)
{
    fixture_t f;
    vp_error_t error = {VP_OK, ""};
    size_t i;

    set_up(&f);
    ck_assert_uint_eq(f.plan->n_ranks, N_RANKS);
    ck_assert_uint_eq(f.plan->n_activations, 2);
    ck_assert_uint_eq(f.plan->n_lanes, N_ROWS);
    for (i = 0; i < N_ROWS; i++) {
        ck_assert_uint_eq(f.plan->lanes[i].source, i < 5 ? i : i - 4);
    }
    ck_assert_uint_eq(f.plan->activation_begin[1], 5);
    ck_assert_uint_eq(f.plan->lanes[1].offset_bytes, 0);
    ck_assert_uint_eq(f.plan->lanes[5].offset_bytes, 32000);
    ck_assert_uint_eq(f.plan->activation_ns[0], ALPHA_NS + 1000); /* 64000 B at 64 GB/s */
    ck_assert_uint_eq(f.plan->activation_ns[1], ALPHA_NS + 100);
    ck_assert_uint_eq(f.plan->time_ns, 2 * ALPHA_NS + 1100);
    ck_assert_uint_eq(f.plan->total_bytes, 153471);
    ck_assert_str_eq(f.plan->scheduler, "test");
    ck_assert_msg(check(&f, &error) == VP_OK, "refused: %s", error.text);
    tear_down(&f);
}
END_TEST

START_TEST(times_are_rounded_up)
{
    static const row_t one_byte[] = {{0, 0, 1, VP_PATH_PIX, 1}};
    fixture_t f;
    vp_plan_t *plan;

    set_up(&f);
    plan = build(f.model, one_byte, 1);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 1);
    vp_plan_destroy(plan);
    tear_down(&f);
}
END_TEST

START_TEST(empty_activations_and_lanes_are_dropped)
{
    fixture_t f;
    vp_plan_builder_t *builder = NULL;
    vp_plan_t *plan = NULL;
    uint32_t pix;
    vp_error_t error = {VP_OK, ""};

    set_up(&f);
    pix = machine_instance(f.model, VP_PATH_PIX, 0, 0);
    ck_assert_int_eq(vp_plan_builder_create(f.model, &builder, &error), VP_OK);
    vp_plan_builder_next(builder);
    vp_plan_builder_next(builder);
    ck_assert_int_eq(vp_plan_builder_add(builder, 0, 1, pix, 0, &error), VP_OK);
    ck_assert_int_eq(vp_plan_builder_add(builder, 0, 1, pix, 5, &error), VP_OK);
    vp_plan_builder_next(builder);
    ck_assert_int_eq(vp_plan_builder_add(builder, 1, 0, pix, 0, &error), VP_OK);
    ck_assert_int_eq(vp_plan_builder_finish(builder, 0, "test", &plan, &error), VP_OK);
    vp_plan_builder_destroy(builder);
    ck_assert_uint_eq(plan->n_activations, 1);
    ck_assert_uint_eq(plan->n_lanes, 1);
    vp_plan_destroy(plan);
    tear_down(&f);
}
END_TEST

/* Two lanes into rank 3 and two out of rank 1; rank 0 to rank 1 shares no link with them. */
static const row_t together[] = {
    {0, 1, 3, VP_PATH_PXB, 32000},
    {0, 1, 2, VP_PATH_PIX, 64000},
    {0, 0, 1, VP_PATH_PIX, 6400},
    {0, 4, 3, VP_PATH_PIX, 64000},
};

static void check_together(const fixture_t *f, const vp_plan_t *plan)
{
    uint64_t demand_bytes[N_RANKS * N_RANKS] = {0};
    vp_error_t error = {VP_OK, ""};
    size_t i;

    for (i = 0; i < 4; i++) {
        demand_bytes[together[i].source * N_RANKS + together[i].destination] = together[i].n_bytes;
    }
    ck_assert_msg(vp_plan_check(plan, f->model, demand_bytes, ALPHA_NS, &error) == VP_OK,
                  "refused: %s", error.text);
}

START_TEST(a_list_waits_for_ports_only)
{
    const vp_plan_form_t list = {VP_PLAN_LIST, 1, false, VP_LINKS_IDEAL};
    fixture_t f;
    vp_plan_t *plan;

    set_up(&f);
    plan = build_form(f.model, together, 4, &list);
    ck_assert_uint_eq(plan->n_activations, 4);
    ck_assert_uint_eq(plan->lanes[0].source, 1);
    ck_assert_uint_eq(plan->activation_ns[1], ALPHA_NS + 1000);
    /* Rank 1 sends for 500 and 1000 ns; rank 3 receives for 500 and 1000 ns. */
    ck_assert_uint_eq(plan->time_ns, 2 * ALPHA_NS + 1500);
    check_together(&f, plan);
    vp_plan_destroy(plan);
    tear_down(&f);
}
END_TEST

START_TEST(shared_ports_carry_the_sum)
{
    const vp_plan_form_t shared = {VP_PLAN_ACTIVATIONS, 2, true, VP_LINKS_IDEAL};
    const vp_plan_form_t narrow = {VP_PLAN_ACTIVATIONS, 1, true, VP_LINKS_IDEAL};
    vp_error_t error = {VP_OK, ""};
    uint64_t nothing[N_RANKS * N_RANKS] = {0};
    fixture_t f;
    vp_plan_t *plan;

    set_up(&f);
    ck_assert_uint_eq(f.model->gpu_link_bytes_per_s, UINT64_C(64000000000));
    plan = build_form(f.model, together, 4, &shared);
    ck_assert_uint_eq(plan->n_activations, 1);
    ck_assert_uint_eq(plan->lanes[1].destination, 3); /* in the order of adding */
    ck_assert_uint_eq(plan->lanes[2].destination, 2);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 1500);
    check_together(&f, plan);
    vp_plan_destroy(plan);
    plan = build_form(f.model, together, 4, &narrow);
    ck_assert_int_eq(vp_plan_check(plan, f.model, nothing, ALPHA_NS, &error), VP_ERR_INTERNAL);
    ck_assert_msg(strstr(error.text, "its source sends on another") != NULL, "%s", error.text);
    vp_plan_destroy(plan);
    tear_down(&f);
}
END_TEST

START_TEST(concurrent_lanes_wait_for_the_window_and_the_busiest_link)
{
    vp_plan_form_t form = {VP_PLAN_CONCURRENT, 1, true, VP_LINKS_IDEAL};
    fixture_t f;
    vp_plan_t *plan;

    set_up(&f);
    plan = build_form(f.model, together, 4, &form);
    ck_assert_uint_eq(plan->n_activations, 1);
    ck_assert_uint_eq(plan->time_ns, 2 * ALPHA_NS + 1500); /* rank 1, lane by lane */
    check_together(&f, plan);
    vp_plan_destroy(plan);
    form.window = 2;
    plan = build_form(f.model, together, 4, &form);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 1500); /* its link */
    check_together(&f, plan);
    vp_plan_destroy(plan);
    tear_down(&f);
}
END_TEST

static void add_profile(vp_model_t *model, uint32_t gpu_ppm)
{
    vp_contention_t *profile;

    model->contention = realloc(model->contention, (model->n_contention + 1) * sizeof(*profile));
    ck_assert_ptr_nonnull(model->contention);
    profile = &model->contention[model->n_contention++];
    memset(profile, 0, sizeof(*profile));
    profile->n_entries[VP_CONTENTION_GPU] = 2;
    profile->share_ppm[VP_CONTENTION_GPU][0] = 1000000;
    profile->share_ppm[VP_CONTENTION_GPU][1] = gpu_ppm;
}

START_TEST(contention_slows_links_that_several_sources_use)
{
    vp_plan_form_t form = {VP_PLAN_CONCURRENT, 2, true, 0};
    fixture_t f;
    vp_plan_t *plan;

    set_up(&f);
    form.contention = f.model->n_contention;
    add_profile(f.model, 500000);
    plan = build_form(f.model, together, 4, &form);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 3000); /* into rank 3 at half the rate */
    check_together(&f, plan);
    vp_plan_destroy(plan);
    form.order = VP_PLAN_ACTIVATIONS;
    plan = build_form(f.model, together, 4, &form);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 3000);
    check_together(&f, plan);
    vp_plan_destroy(plan);
    tear_down(&f);
}
END_TEST

START_TEST(the_builder_refuses_what_is_outside)
{
    fixture_t f;
    vp_plan_builder_t *builder = NULL;
    vp_error_t error = {VP_OK, ""};

    set_up(&f);
    ck_assert_int_eq(vp_plan_builder_create(f.model, &builder, &error), VP_OK);
    ck_assert_int_eq(vp_plan_builder_add(builder, N_RANKS, 0, 0, 1, &error), VP_ERR_INTERNAL);
    ck_assert_int_eq(vp_plan_builder_add(builder, 0, N_RANKS, 0, 1, &error), VP_ERR_INTERNAL);
    ck_assert_int_eq(vp_plan_builder_add(builder, 0, 1, f.model->n_instances, 1, &error),
                     VP_ERR_INTERNAL);
    ck_assert_int_eq(vp_plan_builder_add(builder, 0, 1, 0, UINT64_MAX, &error), VP_OK);
    ck_assert_int_eq(vp_plan_builder_add(builder, 0, 1, 0, 1, &error), VP_ERR_INTERNAL);
    vp_plan_builder_destroy(builder);
    tear_down(&f);
}
END_TEST

START_TEST(the_hash_covers_every_member_of_a_lane)
{
    row_t changed[N_ROWS];
    fixture_t f;
    int member;

    set_up(&f);
    for (member = 0; member < 4; member++) {
        vp_plan_t *plan;

        memcpy(changed, rows, sizeof(rows));
        switch (member) {
        case 0:
            changed[4].n_bytes++;
            break;
        case 1:
            changed[4].kind = VP_PATH_PXB;
            break;
        case 2:
            changed[4].destination = 1;
            break;
        default:
            changed[6].activation = 2;
            break;
        }
        plan = build(f.model, changed, N_ROWS);
        ck_assert_msg(plan->hash != f.plan->hash, "change %d leaves the hash at %" PRIx64, member,
                      plan->hash);
        vp_plan_destroy(plan);
    }
    tear_down(&f);
}
END_TEST

START_TEST(the_empty_plan_is_good)
{
    fixture_t f;
    vp_error_t error = {VP_OK, ""};

    set_up(&f);
    vp_plan_destroy(f.plan);
    f.plan = build(f.model, rows, 0);
    memset(f.demand_bytes, 0, sizeof(f.demand_bytes));
    ck_assert_uint_eq(f.plan->n_activations, 0);
    ck_assert_uint_eq(f.plan->time_ns, 0);
    ck_assert_msg(check(&f, &error) == VP_OK, "refused: %s", error.text);
    f.demand_bytes[1] = 1;
    ck_assert_int_eq(check(&f, &error), VP_ERR_INTERNAL);
    tear_down(&f);
}
END_TEST

static void break_ranks(fixture_t *f)
{
    f->plan->n_ranks++;
}

static void break_first_begin(fixture_t *f)
{
    f->plan->activation_begin[0] = 1;
}

static void break_empty_activation(fixture_t *f)
{
    f->plan->activation_begin[1] = 0;
}

static void break_begin_beyond_lanes(fixture_t *f)
{
    f->plan->activation_begin[1] = N_ROWS + 5;
}

static void break_last_begin(fixture_t *f)
{
    f->plan->activation_begin[2] = N_ROWS - 1;
}

static void break_activation(fixture_t *f)
{
    f->plan->lanes[5].activation = 0;
}

static void break_source(fixture_t *f)
{
    f->plan->lanes[4].source = N_RANKS;
}

static void break_destination(fixture_t *f)
{
    f->plan->lanes[4].destination = UINT32_MAX;
}

static void break_self(fixture_t *f)
{
    f->plan->lanes[0].destination = 0;
}

static void break_instance(fixture_t *f)
{
    f->plan->lanes[0].instance = f->model->n_instances;
}

static void break_from_group(fixture_t *f)
{
    f->plan->lanes[0].instance = machine_instance(f->model, VP_PATH_PXB, 1, 0);
}

static void break_to_group(fixture_t *f)
{
    f->plan->lanes[0].instance = machine_instance(f->model, VP_PATH_PXB, 0, 1);
}

static void break_empty_lane(fixture_t *f)
{
    f->plan->lanes[0].n_bytes = 0;
}

static void break_wrapping_lane(fixture_t *f)
{
    f->plan->lanes[5].n_bytes = UINT64_MAX;
}

static void break_source_twice(fixture_t *f)
{
    f->plan->lanes[2].source = 1;
}

static void break_destination_twice(fixture_t *f)
{
    f->plan->lanes[2].destination = 3;
}

static void break_order(fixture_t *f)
{
    vp_lane_t lane = f->plan->lanes[0];

    f->plan->lanes[0] = f->plan->lanes[1];
    f->plan->lanes[1] = lane;
}

static void break_resource(fixture_t *f)
{
    f->plan->lanes[2].instance = f->plan->lanes[1].instance;
}

static void break_copies(fixture_t *f)
{
    f->model->instances[f->plan->lanes[0].instance].n_copies = 0;
}

static void break_activation_time(fixture_t *f)
{
    f->plan->activation_ns[1]--;
}

static void break_time(fixture_t *f)
{
    f->plan->time_ns++;
}

static void break_overlap(fixture_t *f)
{
    f->plan->lanes[5].offset_bytes--;
}

static void break_gap(fixture_t *f)
{
    f->plan->lanes[5].offset_bytes++;
}

static void break_more_than_demand(fixture_t *f)
{
    f->demand_bytes[1 * N_RANKS + 3]--;
}

static void break_less_than_demand(fixture_t *f)
{
    f->demand_bytes[1 * N_RANKS + 3]++;
}

static void break_pair_left_out(fixture_t *f)
{
    f->demand_bytes[5 * N_RANKS + 4] = 1;
}

static void break_pair_not_asked_for(fixture_t *f)
{
    f->demand_bytes[4 * N_RANKS + 0] = 0;
}

static void break_total(fixture_t *f)
{
    f->plan->total_bytes--;
}

static void break_hash(fixture_t *f)
{
    f->plan->hash ^= 1;
}

static void break_window(fixture_t *f)
{
    f->plan->form.window = 0;
}

static void break_contention(fixture_t *f)
{
    f->plan->form.contention = f->model->n_contention;
}

static void break_unshared_window(fixture_t *f)
{
    f->plan->form.window = 2;
}

static void break_list(fixture_t *f)
{
    f->plan->form.order = VP_PLAN_LIST;
}

static void break_concurrent(fixture_t *f)
{
    f->plan->form.order = VP_PLAN_CONCURRENT;
}

static void break_unknown_order(fixture_t *f)
{
    f->plan->form.order = (vp_plan_order_t)3;
}

/* Exclusive lanes are good shared lanes, of the same times. */
static void break_form_quietly(fixture_t *f)
{
    f->plan->form.shares_ports = true;
}

static void break_instance_quietly(fixture_t *f)
{
    f->plan->lanes[4].instance = machine_instance(f->model, VP_PATH_PIX, 1, 1);
    f->plan->lanes[4].destination = 5;
    f->demand_bytes[4 * N_RANKS + 0] = 0;
    f->demand_bytes[4 * N_RANKS + 5] = 7;
}

typedef struct breakage {
    void (*apply)(fixture_t *f);
    const char *why;
} breakage_t;

static const breakage_t breakages[] = {
    {break_ranks, "the number of ranks is stated as 7 where 6 is right"},
    {break_first_begin, "the first lane of activation 0"},
    {break_empty_activation, "activation 0 holds lanes 0 to 0"},
    {break_begin_beyond_lanes, "activation 0 holds lanes 0 to 12"},
    {break_last_begin, "the number of lanes in activations"},
    {break_activation, "lane 5 (rank 1 to rank 3, instance 1): it stands among"},
    {break_source, "lane 4 (rank 6 to rank 0, instance 4): a rank is outside"},
    {break_destination, "a rank is outside"},
    {break_self, "activation 0, lane 0 (rank 0 to rank 0, instance 0): it leads from a rank to"},
    {break_instance, "its path instance is outside"},
    {break_from_group, "does not connect the groups"},
    {break_to_group, "does not connect the groups"},
    {break_empty_lane, "carries no bytes"},
    {break_wrapping_lane, "reach beyond 2^64"},
    {break_source_twice, "lane 2 (rank 1 to rank 4, instance 2): its source sends on another"},
    {break_destination_twice, "its destination receives on another"},
    {break_order, "behind a lane of a higher source"},
    {break_resource, "another lane uses one of its resources"},
    {break_copies, "fewer copies than lanes"},
    {break_activation_time, "the time of an activation is stated as 10099 where 10100"},
    {break_time, "the time of the plan is stated as 21101 where 21100"},
    {break_overlap, "overlap"},
    {break_gap, "are on no lane"},
    {break_more_than_demand, "beyond the pair's demand"},
    {break_less_than_demand, "33000 of the 33001 bytes from rank 1 to rank 3 are on lanes"},
    {break_pair_left_out, "0 of the 1 bytes from rank 5 to rank 4"},
    {break_pair_not_asked_for, "beyond the pair's demand"},
    {break_total, "the total of bytes is stated as 153470 where 153471"},
    {break_hash, "the hash is stated"},
    {break_window, "its window is empty"},
    {break_contention, "its contention profile outside the machine"},
    {break_unshared_window, "only shared ports have a window"},
    {break_list, "a list has one lane in each activation"},
    {break_concurrent, "concurrent lanes share ports"},
    {break_unknown_order, "its order is unknown (order 3"},
    {break_form_quietly, "the hash is stated"},
    {break_instance_quietly, "the hash is stated"},
};

START_TEST(broken_plans_are_refused)
{
    const breakage_t *breakage = &breakages[_i];
    fixture_t f;
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;

    set_up(&f);
    breakage->apply(&f);
    status = check(&f, &error);
    ck_assert_msg(status == VP_ERR_INTERNAL, "\"%s\": status %d", breakage->why, (int)status);
    ck_assert_msg(strstr(error.text, breakage->why) != NULL, "says \"%s\", not \"%s\"", error.text,
                  breakage->why);
    tear_down(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *builder = tcase_create("builder");
    TCase *checker = tcase_create("checker");
    SRunner *runner;
    int n_failed;

    tcase_add_test(builder, the_builder_orders_cuts_and_times);
    tcase_add_test(builder, times_are_rounded_up);
    tcase_add_test(builder, empty_activations_and_lanes_are_dropped);
    tcase_add_test(builder, the_builder_refuses_what_is_outside);
    tcase_add_test(builder, the_hash_covers_every_member_of_a_lane);
    tcase_add_test(builder, a_list_waits_for_ports_only);
    tcase_add_test(builder, shared_ports_carry_the_sum);
    tcase_add_test(builder, concurrent_lanes_wait_for_the_window_and_the_busiest_link);
    tcase_add_test(builder, contention_slows_links_that_several_sources_use);
    suite_add_tcase(suite, builder);
    tcase_add_test(checker, the_empty_plan_is_good);
    tcase_add_loop_test(checker, broken_plans_are_refused, 0,
                        (int)(sizeof(breakages) / sizeof(breakages[0])));
    suite_add_tcase(suite, checker);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
