/*
 * Bound families: valid channels, which no exchange of two endpoints improves.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/binding.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

typedef struct setting {
    const vp_model_t *model;
    vp_catalog_t *catalog;
    uint64_t *demand_bytes;
    vp_remaining_t remaining;
    vp_binder_t binder;
    vp_channel_t channel;
} setting_t;

static void set_up(setting_t *s, const char *machine, demand_kind_t kind, uint64_t seed,
                   uint64_t tau_ns)
{
    vp_error_t error;

    s->catalog = machine_catalog(machine_find(machine));
    s->model = s->catalog->model;
    s->demand_bytes = demand_make(kind, s->model->n_ranks, seed);
    ck_assert_int_eq(vp_remaining_init(&s->remaining, s->model, s->demand_bytes, 0, &error), VP_OK);
    ck_assert_int_eq(vp_binder_init(&s->binder, s->model, &error), VP_OK);
    ck_assert_int_eq(vp_channel_init(&s->channel, s->model->n_ranks, &error), VP_OK);
    vp_binder_set_quantum(&s->binder, tau_ns, NULL);
}

static void bind(setting_t *s, uint32_t family)
{
    uint32_t begin = s->catalog->member_begin[family];

    vp_binder_bind(&s->binder, &s->remaining, s->catalog->members + begin,
                   s->catalog->member_begin[family + 1] - begin, &s->channel);
}

static void tear_down(setting_t *s)
{
    vp_channel_release(&s->channel);
    vp_binder_release(&s->binder);
    vp_remaining_release(&s->remaining);
    free(s->demand_bytes);
    vp_catalog_destroy(s->catalog);
}

/* Bytes of a lane in one quantum between two ranks, from the header's words alone. */
static uint64_t volume(const setting_t *s, uint32_t lane, uint32_t source, uint32_t destination)
{
    uint64_t rest = s->remaining.bytes[source * s->model->n_ranks + destination];
    uint64_t quantum = s->binder.quantum_bytes[s->channel.instance[lane]];

    return rest < quantum ? rest : quantum;
}

/* Every rank once on each side, in the groups of its instance, with the volume that follows. */
static void check_channel(const setting_t *s, uint64_t seed)
{
    bool sends[64] = {false};
    bool receives[64] = {false};
    uint32_t lane;

    ck_assert_uint_eq(s->channel.n_lanes, s->model->n_ranks);
    for (lane = 0; lane < s->channel.n_lanes; lane++) {
        const vp_instance_t *instance = &s->model->instances[s->channel.instance[lane]];
        uint32_t source = s->channel.source[lane];
        uint32_t destination = s->channel.destination[lane];

        if (sends[source] || receives[destination] ||
            s->model->rank_group[source] != instance->from_group ||
            s->model->rank_group[destination] != instance->to_group ||
            s->channel.n_bytes[lane] != volume(s, lane, source, destination)) {
            ck_abort_msg("seed %" PRIu64 ": lane %u carries %" PRIu64 " bytes from %u to %u over "
                         "instance %u; a rank or its group, or the volume is wrong",
                         seed, lane, s->channel.n_bytes[lane], source, destination,
                         s->channel.instance[lane]);
        }
        sends[source] = true;
        receives[destination] = true;
    }
}

static void check_exchanges(const setting_t *s, uint64_t seed)
{
    const vp_channel_t *c = &s->channel;
    uint32_t x;
    uint32_t y;

    for (x = 0; x < c->n_lanes; x++) {
        for (y = x + 1; y < c->n_lanes; y++) {
            const vp_instance_t *a = &s->model->instances[c->instance[x]];
            const vp_instance_t *b = &s->model->instances[c->instance[y]];
            uint64_t sum = c->n_bytes[x] + c->n_bytes[y];
            uint64_t sources = volume(s, x, c->source[y], c->destination[x]) +
                               volume(s, y, c->source[x], c->destination[y]);
            uint64_t destinations = volume(s, x, c->source[x], c->destination[y]) +
                                    volume(s, y, c->source[y], c->destination[x]);

            if ((a->from_group == b->from_group && sources > sum) ||
                (a->to_group == b->to_group && destinations > sum)) {
                ck_abort_msg("seed %" PRIu64 ": lanes %u and %u carry %" PRIu64 " bytes, %" PRIu64
                             " with exchanged sources, %" PRIu64 " with exchanged destinations",
                             seed, x, y, sum, sources, destinations);
            }
        }
    }
}

START_TEST(bindings_are_not_improved_by_exchanges)
{
    static const uint64_t taus_ns[] = {10000, 50000, UINT64_MAX};
    static const demand_kind_t kinds[] = {DEMAND_DENSE, DEMAND_SPARSE, DEMAND_HOT, DEMAND_FEW};
    uint64_t seed;

    for (seed = 1; seed <= 24; seed++) {
        setting_t s;
        uint32_t family;

        set_up(&s, seed % 2 == 0 ? "r5080-bf3-2" : "uneven", kinds[seed % 4], seed,
               taus_ns[seed % 3]);
        for (family = 0; family < s.catalog->n_families; family++) {
            bind(&s, family);
            check_channel(&s, seed);
            check_exchanges(&s, seed);
        }
        tear_down(&s);
    }
}
END_TEST

/* One pair is left, at the end of its groups: a binding from the identity would miss it. */
START_TEST(the_last_pair_is_found)
{
    setting_t s;
    uint32_t family;
    uint32_t lane;
    uint64_t sum = 0;

    set_up(&s, "r5080-bf3-2", DEMAND_ZERO, 1, 1000);
    s.demand_bytes[3 * 16 + 14] = 5000;
    vp_remaining_release(&s.remaining);
    ck_assert_int_eq(vp_remaining_init(&s.remaining, s.model, s.demand_bytes, 0, NULL), VP_OK);
    for (family = 0; family < s.catalog->n_families; family++) {
        bind(&s, family);
        for (lane = 0; lane < s.channel.n_lanes; lane++) {
            uint32_t r = s.channel.instance[lane];

            sum += s.channel.n_bytes[lane];
            if (s.model->instances[r].from_group == 0 && s.model->instances[r].to_group == 3) {
                ck_assert_uint_eq(s.channel.n_bytes[lane], 5000);
            }
        }
    }
    ck_assert_uint_gt(sum, 0);
    tear_down(&s);
}
END_TEST

START_TEST(a_short_quantum_still_moves_a_byte)
{
    setting_t s;

    set_up(&s, "fig1-6", DEMAND_DENSE, 1, 0);
    ck_assert_uint_eq(s.binder.quantum_bytes[0], 1);
    vp_binder_set_quantum(&s.binder, 1000, NULL);
    ck_assert_uint_eq(s.binder.quantum_bytes[0], 64000);
    vp_binder_set_quantum(&s.binder, UINT64_MAX, NULL);
    ck_assert_uint_eq(s.binder.quantum_bytes[0], UINT64_MAX);
    tear_down(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("binding");
    TCase *cases = tcase_create("binding");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, bindings_are_not_improved_by_exchanges);
    tcase_add_test(cases, the_last_pair_is_found);
    tcase_add_test(cases, a_short_quantum_still_moves_a_byte);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
