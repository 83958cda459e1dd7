/*
 * Where the ranks of a communicator are on a topology.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/build.h"
#include "catalog/store.h"
#include "coll_variopath/device_place.h"
#include "coll_variopath/engine_private.h"
#include "test/engine/small_model.h"

enum { N_PLACES = 6, MAX_RANKS = 8 };

static vp_catalog_t *make_catalog(void)
{
    vp_model_t *model = small_model(N_PLACES);
    vp_catalog_t *catalog = NULL;
    vp_error_t error;

    ck_assert_msg(vp_catalog_generate(&model, &catalog, &error) == VP_OK, "%s", error.text);
    ck_assert_int_eq(vp_catalog_seal(catalog, &error), VP_OK);
    return catalog;
}

/* An engine of n ranks, as far as places go. */
typedef struct placed {
    vp_engine_t engine;
    uint32_t place[MAX_RANKS];
    uint32_t place_rank[MAX_RANKS];
} placed_t;

static void put(placed_t *placed, const vp_catalog_t *catalog, const uint32_t *topology_rank,
                uint32_t n_ranks)
{
    vp_error_t error;

    memset(placed, 0, sizeof(*placed));
    placed->engine.n_ranks = n_ranks;
    placed->engine.place = placed->place;
    placed->engine.place_rank = placed->place_rank;
    ck_assert_msg(vp_engine_place(&placed->engine, catalog, topology_rank, &error) == VP_OK, "%s",
                  error.text);
}

static void check_numbers(const uint32_t *found, const uint32_t *expected, uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++) {
        ck_assert_msg(found[i] == expected[i], "number %u is %u, expected %u", i, found[i],
                      expected[i]);
    }
}

START_TEST(all_ranks_in_another_order)
{
    static const uint32_t ranks[] = {5, 3, 1, 0, 2, 4};
    static const uint32_t inverse[] = {3, 2, 4, 1, 5, 0};
    vp_catalog_t *catalog = make_catalog();
    placed_t placed;

    put(&placed, catalog, ranks, 6);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_OK);
    check_numbers(placed.place, ranks, 6);
    check_numbers(placed.place_rank, inverse, 6);
    ck_assert_ptr_eq(placed.engine.catalog, catalog);
    ck_assert_ptr_null(placed.engine.own_catalog);
    ck_assert_ptr_eq(placed.engine.model, catalog->model);
    ck_assert_uint_eq(placed.engine.fingerprint, catalog->fingerprint);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Three of the six: places are counted among the members, in the order of the topology. */
START_TEST(some_ranks)
{
    static const uint32_t ranks[] = {4, 1, 2};
    static const uint32_t place[] = {2, 0, 1};
    static const uint32_t place_rank[] = {1, 2, 0};
    vp_catalog_t *catalog = make_catalog();
    placed_t placed;

    put(&placed, catalog, ranks, 3);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_OK);
    check_numbers(placed.place, place, 3);
    check_numbers(placed.place_rank, place_rank, 3);
    ck_assert_ptr_nonnull(placed.engine.own_catalog);
    ck_assert_ptr_eq(placed.engine.catalog, placed.engine.own_catalog);
    ck_assert_uint_eq(placed.engine.model->n_ranks, 3);
    /* Two of the first switch, one of the second. */
    ck_assert_uint_eq(placed.engine.model->n_groups, 2);
    ck_assert_uint_eq(placed.engine.model->groups[0].n_ranks, 2);
    /* Whose catalog it is: that of the whole topology. */
    ck_assert_uint_eq(placed.engine.fingerprint, catalog->fingerprint);
    ck_assert_uint_eq(placed.engine.catalog_ranks, 6);
    vp_catalog_destroy(placed.engine.own_catalog);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(ranks_without_a_place)
{
    static const uint32_t twice[] = {1, 4, 1};
    static const uint32_t outside[] = {1, 6};
    static const uint32_t foreign[] = {1, UINT32_MAX};
    static const uint32_t many[] = {0, 1, 2, 3, 4, 5, 6};
    vp_catalog_t *catalog = make_catalog();
    placed_t placed;

    put(&placed, catalog, twice, 3);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_NO_PLACE);
    put(&placed, catalog, outside, 2);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_NO_PLACE);
    put(&placed, catalog, foreign, 2);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_NO_PLACE);
    ck_assert_ptr_null(placed.engine.catalog);
    put(&placed, catalog, many, 7);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_OTHER_SIZE);
    put(&placed, NULL, many, 6);
    ck_assert_int_eq(placed.engine.fit, VP_FIT_NO_CATALOG);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Ranks that see other places, or another order of them, notice by this hash. */
START_TEST(the_order_is_part_of_the_agreement)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {0, 1, 3}, {1, 0, 2}};
    vp_catalog_t *catalog = make_catalog();
    placed_t placed[4];
    int i;

    for (i = 0; i < 4; i++) {
        put(&placed[i], catalog, orders[i], 3);
    }
    ck_assert_uint_ne(placed[0].engine.order_hash, placed[1].engine.order_hash);
    ck_assert_uint_ne(placed[0].engine.order_hash, placed[2].engine.order_hash);
    ck_assert_uint_ne(placed[1].engine.order_hash, placed[2].engine.order_hash);
    ck_assert_uint_ne(placed[0].engine.order_hash, placed[3].engine.order_hash);
    for (i = 0; i < 4; i++) {
        vp_catalog_destroy(placed[i].engine.own_catalog);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Two nodes of two GPUs each at 0x10 and 0x20; the second GPU of the second has two ranks. */
static vp_group_t groups[] = {{.node = 0, .first_rank = 0, .n_ranks = 2},
                              {.node = 1, .first_rank = 2, .n_ranks = 1},
                              {.node = 1, .first_rank = 3, .n_ranks = 2}};
static uint32_t rank_group[] = {0, 0, 1, 2, 2};
static vp_pci_t rank_pci[] = {0x10, 0x20, 0x10, 0x20, 0x20};
static const vp_model_t two_nodes = {.n_nodes = 2,
                                     .n_ranks = 5,
                                     .n_groups = 3,
                                     .groups = groups,
                                     .rank_group = rank_group,
                                     .rank_pci = rank_pci};

START_TEST(ranks_go_where_their_gpus_are)
{
    static const vp_pci_t pci[] = {0x20, 0x10, 0x20, 0x10, 0x20};
    static const uint32_t expected[] = {1, 0, 3, 2, 4};
    uint32_t ranks[] = {0, 1, 2, 3, 4};

    ck_assert(vp_place_by_gpu(&two_nodes, pci, 5, ranks));
    check_numbers(ranks, expected, 5);
}
END_TEST

START_TEST(members_of_a_communicator_go_there_too)
{
    static const vp_pci_t pci[] = {0x20, 0x10};
    static const uint32_t expected[] = {3, 0};
    uint32_t ranks[] = {2, 1};

    ck_assert(vp_place_by_gpu(&two_nodes, pci, 2, ranks));
    check_numbers(ranks, expected, 2);
}
END_TEST

START_TEST(or_stay_where_they_were_launched)
{
    static const vp_pci_t rows[][3] = {
        {0x20, VP_PCI_UNKNOWN, 0x20}, /* one is not known */
        {0x10, 0x10, 0x20},           /* two on a GPU that has one rank */
        {0x10, 0x20, 0x30},           /* not on that node */
    };
    static const uint32_t launched[] = {1, 0, 3};
    vp_model_t without = two_nodes;
    uint32_t ranks[] = {1, 0, 3};
    uint32_t outside[] = {1, 0, 5};
    static const vp_pci_t good[] = {0x10, 0x20, 0x20};
    vp_pci_t some[] = {VP_PCI_UNKNOWN, 0x20, 0x10, 0x20, 0x20};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert(!vp_place_by_gpu(&two_nodes, rows[i], 3, ranks));
        check_numbers(ranks, launched, 3);
    }
    ck_assert(!vp_place_by_gpu(&two_nodes, good, 3, outside));
    /* Unknown is no address, not even where the topology does not know one. */
    without.rank_pci = some;
    ck_assert(!vp_place_by_gpu(&without, rows[0], 3, ranks));
    without.rank_pci = NULL;
    ck_assert(!vp_place_by_gpu(&without, good, 3, ranks));
    check_numbers(ranks, launched, 3);
}
END_TEST

START_TEST(without_a_driver_no_gpu_is_seen)
{
    char byte = 0;

    ck_assert_uint_eq(vp_device_locate(NULL), VP_PCI_UNKNOWN);
    ck_assert_uint_eq(vp_device_locate(&byte), VP_PCI_UNKNOWN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place");
    TCase *tests = tcase_create("place");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(tests, all_ranks_in_another_order);
    tcase_add_test(tests, some_ranks);
    tcase_add_test(tests, ranks_without_a_place);
    tcase_add_test(tests, the_order_is_part_of_the_agreement);
    tcase_add_test(tests, ranks_go_where_their_gpus_are);
    tcase_add_test(tests, members_of_a_communicator_go_there_too);
    tcase_add_test(tests, or_stay_where_they_were_launched);
    tcase_add_test(tests, without_a_driver_no_gpu_is_seen);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
