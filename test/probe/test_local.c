/*
 * Which GPUs copy at once in the probe of one node, and what is made of it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/topology.h"
#include "tools/probe/flows.h"
#include "tools/probe/local.h"

static vp_model_t *model;
static vp_probe_load_t *loads;
static size_t n_loads;

static void load(const char *topology)
{
    vp_error_t error;

    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_probe_loads(model, &loads, &n_loads, &error) == VP_OK, "%s", error.text);
}

static void clear(void)
{
    free(loads);
    vp_model_destroy(model);
}

static const vp_probe_load_t *find(const char *name, vp_probe_way_t way)
{
    size_t i;

    for (i = 0; i < n_loads; i++) {
        if (strcmp(loads[i].name, name) == 0 && loads[i].way == way) {
            return &loads[i];
        }
    }
    return NULL;
}

static void check_differ(const vp_probe_load_t *it)
{
    uint32_t a, b;

    for (a = 0; a < it->n_flows; a++) {
        for (b = 0; b < a; b++) {
            ck_assert_uint_ne(it->flows[a].source, it->flows[b].source);
            ck_assert_msg(it->table == VP_CONTENTION_GPU ||
                              it->flows[a].destination != it->flows[b].destination,
                          "%s: flows %u and %u end at %u", it->name, a, b,
                          it->flows[a].destination);
        }
    }
}

/* Two switches of four with a link each way: four sources everywhere. */
START_TEST(links_between_switches)
{
    const vp_probe_load_t *it;
    size_t i;
    uint32_t k;

    load("r5080-bf3:nodes=3");
    /* 8 GPUs and 2 links written and read, 2 switches to and from the host. */
    ck_assert_uint_eq(n_loads, 2 * 8 + 2 * 2 + 2 * 2);
    for (i = 0; i < n_loads; i++) {
        ck_assert_uint_eq(loads[i].n_flows, 4);
        check_differ(&loads[i]);
    }
    it = find("node0/sw0>sw1", VP_PROBE_READ);
    ck_assert_ptr_nonnull(it);
    ck_assert_uint_eq(it->table, VP_CONTENTION_UPLINK);
    ck_assert_str_eq(model->resources[it->resource].name, "node0/sw0>sw1");
    for (k = 0; k < it->n_flows; k++) {
        ck_assert_uint_lt(it->flows[k].source, 4);
        ck_assert_uint_ge(it->flows[k].destination, 4);
        ck_assert_uint_lt(it->flows[k].destination, 8);
    }
    it = find("into GPU 5", VP_PROBE_WRITE);
    ck_assert_ptr_nonnull(it);
    for (k = 0; k < it->n_flows; k++) {
        ck_assert_uint_eq(it->flows[k].destination, 5);
        /* The three neighbours first: they cross no link that could be the narrow one. */
        ck_assert(k == 3 || it->flows[k].source >= 4);
    }
    /* Nothing of this model is shared on the way to the host. */
    it = find("node0/sw0 to host", VP_PROBE_TO_HOST);
    ck_assert_ptr_nonnull(it);
    ck_assert_uint_eq(it->table, VP_N_CONTENTION_TABLES);
    clear();
}
END_TEST

/* With up- and downlinks the way to the host is one of them. */
START_TEST(ways_to_the_host)
{
    const vp_probe_load_t *it;

    load("r5090-bf3");
    it = find("node0/sw1 to host", VP_PROBE_TO_HOST);
    ck_assert_ptr_nonnull(it);
    ck_assert_uint_eq(it->table, VP_CONTENTION_UPLINK);
    ck_assert_str_eq(model->resources[it->resource].name, "node0/sw1:up");
    it = find("host to node0/sw1", VP_PROBE_FROM_HOST);
    ck_assert_ptr_nonnull(it);
    ck_assert_str_eq(model->resources[it->resource].name, "node0/sw1:down");
    /* Flows over a link spread over the others where they can. */
    it = find("node0/sw0:up", VP_PROBE_WRITE);
    ck_assert_ptr_nonnull(it);
    check_differ(it);
    ck_assert_uint_ne(model->rank_group[it->flows[0].destination],
                      model->rank_group[it->flows[1].destination]);
    clear();
}
END_TEST

START_TEST(shares)
{
    const uint64_t collapses[] = {50, 25, 24, 20};
    const uint64_t wide[] = {50, 100, 150, 120};
    const uint64_t none[] = {0, 0};
    uint32_t ppm[4];

    vp_probe_shares(collapses, 4, ppm);
    ck_assert_uint_eq(ppm[0], 1000000);
    ck_assert_uint_eq(ppm[1], 500000);
    ck_assert_uint_eq(ppm[2], 480000);
    ck_assert_uint_eq(ppm[3], 400000);
    /* Two of three GPUs do not fill it, and lose nothing. */
    vp_probe_shares(wide, 4, ppm);
    ck_assert_uint_eq(ppm[1], 1000000);
    ck_assert_uint_eq(ppm[2], 1000000);
    ck_assert_uint_eq(ppm[3], 800000);
    vp_probe_shares(none, 2, ppm);
    ck_assert_uint_eq(ppm[1], 1000000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probe of one node");
    TCase *tests = tcase_create("probe of one node");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(tests, links_between_switches);
    tcase_add_test(tests, ways_to_the_host);
    tcase_add_test(tests, shares);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed != 0;
}
