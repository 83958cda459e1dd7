/*
 * The network against a second, slow implementation: random links, routes,
 * sizes and start times; sharing computed anew from scratch at every event, in
 * doubles. Ends must agree to a few nanoseconds.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "sim/network.h"
#include "sim/random.h"

enum { N_LINKS = 12, N_FLOWS = 60, MAX_HOPS = 4, N_CASES = 40 };

typedef struct reference {
    double capacity[N_LINKS];
    uint32_t n_hops[N_FLOWS];
    uint32_t hops[N_FLOWS][MAX_HOPS];
    double limit[N_FLOWS];
    double start[N_FLOWS];
    double left[N_FLOWS];
    double rate[N_FLOWS];
    double done[N_FLOWS];
} reference_t;

/* Progressive filling by its definition: raise all, stop whoever meets a full link or limit. */
static void fill(reference_t *r, double now)
{
    double left[N_LINKS];
    bool open[N_FLOWS];
    uint32_t n_open = 0;
    uint32_t f;
    uint32_t l;
    uint32_t h;

    for (l = 0; l < N_LINKS; l++) {
        left[l] = r->capacity[l];
    }
    for (f = 0; f < N_FLOWS; f++) {
        open[f] = r->start[f] <= now && r->left[f] > 0.0;
        r->rate[f] = 0.0;
        n_open += open[f];
    }
    while (n_open > 0) {
        double raise = INFINITY;
        double count[N_LINKS] = {0};

        for (f = 0; f < N_FLOWS; f++) {
            for (h = 0; open[f] && h < r->n_hops[f]; h++) {
                count[r->hops[f][h]] += 1.0;
            }
            if (open[f] && r->limit[f] - r->rate[f] < raise) {
                raise = r->limit[f] - r->rate[f];
            }
        }
        for (l = 0; l < N_LINKS; l++) {
            if (count[l] > 0.0 && left[l] / count[l] < raise) {
                raise = left[l] / count[l];
            }
        }
        for (l = 0; l < N_LINKS; l++) {
            left[l] -= raise * count[l];
        }
        for (f = 0; f < N_FLOWS; f++) {
            bool stays = open[f];

            r->rate[f] += open[f] ? raise : 0.0;
            for (h = 0; open[f] && h < r->n_hops[f]; h++) {
                stays = stays && left[r->hops[f][h]] > r->capacity[r->hops[f][h]] * 1e-12;
            }
            stays = stays && r->rate[f] < r->limit[f] * (1.0 - 1e-12);
            n_open -= open[f] && !stays;
            open[f] = stays;
        }
    }
}

static void run_reference(reference_t *r)
{
    double now = 0.0;

    for (;;) {
        double next = INFINITY;
        uint32_t f;

        fill(r, now);
        for (f = 0; f < N_FLOWS; f++) {
            if (r->start[f] > now && r->start[f] < next) {
                next = r->start[f];
            }
            if (r->rate[f] > 0.0 && now + r->left[f] / r->rate[f] < next) {
                next = now + r->left[f] / r->rate[f];
            }
        }
        if (isinf(next)) {
            return;
        }
        for (f = 0; f < N_FLOWS; f++) {
            if (r->rate[f] > 0.0) {
                r->left[f] -= r->rate[f] * (next - now);
                if (r->left[f] < r->rate[f] * 1e-3) { /* a thousandth of a nanosecond */
                    r->left[f] = 0.0;
                    r->done[f] = next;
                }
            }
        }
        now = next;
    }
}

/* The same case for both; rates in bytes per ns. */
static vp_network_t *make_case(uint64_t seed, reference_t *r)
{
    vp_network_t *network;
    vp_error_t error;
    uint32_t f;
    uint32_t l;

    ck_assert_int_eq(vp_network_create(N_FLOWS, &network, &error), VP_OK);
    for (l = 0; l < N_LINKS; l++) {
        vp_link_t link = {1000000000 * (1 + vp_random_below(&seed, 64)), 0, 0, NULL};

        r->capacity[l] = (double)link.bytes_per_s / 1e9;
        ck_assert_int_eq(vp_network_add_link(network, &link, NULL, &error), VP_OK);
    }
    for (f = 0; f < N_FLOWS; f++) {
        vp_flow_t flow = {.source = f,
                          .links = r->hops[f],
                          .n_bytes = 1 + vp_random_below(&seed, 10000000),
                          .overhead_ns = vp_random_below(&seed, 1000000),
                          .gate = VP_NO_GATE,
                          .queue = VP_NO_QUEUE};

        flow.n_links = 1 + (uint32_t)vp_random_below(&seed, MAX_HOPS);
        for (l = 0; l < flow.n_links; l++) {
            r->hops[f][l] = (uint32_t)vp_random_below(&seed, N_LINKS);
        }
        if (vp_random_below(&seed, 4) == 0) {
            flow.bytes_per_s = 1000000000 * (1 + vp_random_below(&seed, 8));
        }
        r->n_hops[f] = flow.n_links;
        r->limit[f] = flow.bytes_per_s == 0 ? INFINITY : (double)flow.bytes_per_s / 1e9;
        r->start[f] = (double)flow.overhead_ns;
        r->left[f] = (double)flow.n_bytes;
        ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    }
    return network;
}

START_TEST(random_networks_agree)
{
    uint64_t seed = (uint64_t)_i + 1;
    reference_t *r = calloc(1, sizeof(*r));
    vp_network_t *network;
    vp_network_result_t result;
    vp_error_t error;
    uint32_t f;

    ck_assert_ptr_nonnull(r);
    network = make_case(seed, r);
    run_reference(r);
    ck_assert_msg(vp_network_run(network, &result, &error) == VP_OK, "%s", error.text);
    for (f = 0; f < N_FLOWS; f++) {
        double done = (double)vp_network_flow_done_ns(network, f);

        ck_assert_msg(fabs(done - r->done[f]) < 5.0, "seed %llu flow %u: %.0f, reference %.3f",
                      (unsigned long long)seed, f, done, r->done[f]);
    }
    vp_network_destroy(network);
    free(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference");
    TCase *cases = tcase_create("random");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(cases, random_networks_agree, 0, N_CASES);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
