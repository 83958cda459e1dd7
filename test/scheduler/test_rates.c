/*
 * The paper's Figure 1 as rates of the model: rotation on the nearest path,
 * rotation with the NIC beside it, and the joint channel.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/schedule.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

#define GB_PER_S UINT64_C(1000000000)

typedef struct flow {
    uint32_t source;
    uint32_t destination;
    vp_path_kind_t kind;
} flow_t;

static const flow_t rotation_on_pxb[] = {
    {0, 3, VP_PATH_PXB}, {1, 4, VP_PATH_PXB}, {2, 5, VP_PATH_PXB},
    {3, 0, VP_PATH_PXB}, {4, 1, VP_PATH_PXB}, {5, 2, VP_PATH_PXB},
};
static const flow_t rotation_with_nic[] = {
    {0, 3, VP_PATH_NIC}, {1, 4, VP_PATH_PXB}, {2, 5, VP_PATH_PXB},
    {3, 0, VP_PATH_NIC}, {4, 1, VP_PATH_PXB}, {5, 2, VP_PATH_PXB},
};
static const flow_t joint_channel[] = {
    {0, 1, VP_PATH_PIX}, {1, 3, VP_PATH_PXB}, {2, 4, VP_PATH_NIC},
    {3, 5, VP_PATH_PIX}, {4, 0, VP_PATH_PXB}, {5, 2, VP_PATH_NIC},
};
enum { N_FLOWS = 6 };

static uint32_t flow_instance(const vp_model_t *model, const flow_t *flow)
{
    return machine_instance(model, flow->kind, model->rank_group[flow->source],
                            model->rank_group[flow->destination]);
}

/* Rate of a flow that shares its resources equally with the other flows over them. */
static uint64_t fair_rate(const vp_model_t *model, const flow_t *flows, uint32_t which)
{
    const vp_instance_t *instance = &model->instances[flow_instance(model, &flows[which])];
    uint64_t rate = instance->bytes_per_s;
    uint32_t q;

    for (q = 0; q < instance->n_resources; q++) {
        uint64_t n_users = 0;
        uint64_t share;
        uint32_t i;
        uint32_t k;

        for (i = 0; i < N_FLOWS; i++) {
            const vp_instance_t *other = &model->instances[flow_instance(model, &flows[i])];

            for (k = 0; k < other->n_resources; k++) {
                n_users += other->resources[k] == instance->resources[q];
            }
        }
        share = model->resources[instance->resources[q]].bytes_per_s / n_users;
        rate = share < rate ? share : rate;
    }
    return rate;
}

/* In whole GB/s, to the nearest. */
static uint64_t aggregate(const vp_model_t *model, const flow_t *flows)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < N_FLOWS; i++) {
        sum += fair_rate(model, flows, i);
    }
    return (sum + GB_PER_S / 2) / GB_PER_S;
}

START_TEST(figure_1_has_the_papers_rates)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));

    ck_assert_uint_eq(aggregate(catalog->model, rotation_on_pxb), 128);
    ck_assert_uint_eq(aggregate(catalog->model, rotation_with_nic), 228);
    ck_assert_uint_eq(aggregate(catalog->model, joint_channel), 356);
    vp_catalog_destroy(catalog);
}
END_TEST

/* One activation, every lane busy for 1 ms: bytes over time is the channel's rate. */
START_TEST(the_joint_channel_runs_at_its_rate_in_a_plan)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[N_FLOWS * N_FLOWS] = {0};
    vp_plan_builder_t *builder = NULL;
    vp_plan_t *plan = NULL;
    vp_error_t error = {VP_OK, ""};
    uint32_t i;

    ck_assert_int_eq(vp_plan_builder_create(catalog->model, &builder, &error), VP_OK);
    for (i = 0; i < N_FLOWS; i++) {
        const flow_t *flow = &joint_channel[i];
        uint64_t n_bytes = fair_rate(catalog->model, joint_channel, i) / 1000;

        demand_bytes[flow->source * N_FLOWS + flow->destination] = n_bytes;
        ck_assert_int_eq(vp_plan_builder_add(builder, flow->source, flow->destination,
                                             flow_instance(catalog->model, flow), n_bytes, &error),
                         VP_OK);
    }
    ck_assert_int_eq(vp_plan_builder_finish(builder, 0, "test", &plan, &error), VP_OK);
    vp_plan_builder_destroy(builder);
    ck_assert_msg(vp_plan_check(plan, catalog->model, demand_bytes, 0, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_uint_eq(plan->time_ns, 1000000);
    ck_assert_uint_eq(plan->total_bytes, 356000000);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* The pairwise exchange takes the nearest path, so one rotation runs at 128 GB/s. */
START_TEST(pairwise_shares_the_nearest_path)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[N_FLOWS * N_FLOWS] = {0};
    uint64_t time_ns = 0;
    vp_error_t error;
    uint32_t i;

    for (i = 0; i < N_FLOWS; i++) {
        demand_bytes[i * N_FLOWS + (i + 3) % N_FLOWS] = 64000000;
    }
    ck_assert_int_eq(vp_pairwise_ns(catalog->model, demand_bytes, 0, &time_ns, &error), VP_OK);
    ck_assert_uint_eq(time_ns, 3000000); /* 384 MB at 128 GB/s */

    demand_bytes[0 * N_FLOWS + 1] = 32000000;
    ck_assert_int_eq(vp_pairwise_ns(catalog->model, demand_bytes, 10000, &time_ns, &error), VP_OK);
    ck_assert_uint_eq(time_ns, 3000000 + 500000 + 2 * 10000);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(pairwise_is_never_below_the_bound)
{
    uint32_t m;
    uint64_t seed;

    for (m = 0; m < n_machines; m++) {
        vp_catalog_t *catalog = machine_catalog(&machines[m]);

        for (seed = 1; seed <= 5 * N_DEMAND_KINDS; seed++) {
            uint64_t *demand_bytes =
                demand_make((demand_kind_t)(seed % N_DEMAND_KINDS), catalog->model->n_ranks, seed);
            vp_bound_t bound;
            uint64_t time_ns = 0;
            vp_error_t error;

            ck_assert_int_eq(vp_pairwise_ns(catalog->model, demand_bytes, 5000, &time_ns, &error),
                             VP_OK);
            ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 5000, &bound, &error), VP_OK);
            ck_assert_msg(time_ns >= bound.lp_ns,
                          "%s, seed %" PRIu64 ": %" PRIu64 " ns, bound %" PRIu64 " ns",
                          machines[m].name, seed, time_ns, bound.lp_ns);
            free(demand_bytes);
        }
        vp_catalog_destroy(catalog);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rates");
    TCase *cases = tcase_create("rates");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, figure_1_has_the_papers_rates);
    tcase_add_test(cases, the_joint_channel_runs_at_its_rate_in_a_plan);
    tcase_add_test(cases, pairwise_shares_the_nearest_path);
    tcase_add_test(cases, pairwise_is_never_below_the_bound);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
