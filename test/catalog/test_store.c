/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "catalog/build.h"
#include "catalog/diff.h"
#include "catalog/restrict.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "test/catalog/machines.h"

/* Offsets of docs/catalog-format.md. */
enum { AT_VERSION = 8, AT_LENGTH = 12, AT_CHECKSUM = 20, AT_FINGERPRINT = 28, AT_CONTENT = 52 };
enum { N_MUTATIONS = 60000 };

/* What is damaged: a tree of one node, and several nodes without a tree. */
static const char *const damaged[] = {"fig1-6", "+r5080-bf3:nodes=3"};
enum { N_DAMAGED = sizeof(damaged) / sizeof(damaged[0]) };

/* Topologies whose name begins with '+' get a generated catalog. */
static vp_catalog_t *make_catalog(const char *topology)
{
    vp_build_mode_t mode = topology[0] == '+' ? VP_BUILD_GENERATED : VP_BUILD_EXHAUSTIVE;
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;

    topology += topology[0] == '+' ? 1 : 0;
    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_catalog_make(&model, mode, NULL, NULL, &catalog, &error) == VP_OK, "%s",
                  error.text);
    catalog->build_ns = 12345;
    ck_assert_msg(vp_catalog_seal(catalog, &error) == VP_OK, "%s", error.text);
    return catalog;
}

static uint8_t *encode(const vp_catalog_t *catalog, size_t *n_bytes_p)
{
    vp_error_t error = {.text = ""};
    uint8_t *data = NULL;

    ck_assert_msg(vp_catalog_encode(catalog, &data, n_bytes_p, &error) == VP_OK, "%s", error.text);
    return data;
}

static uint8_t *encode_topology(const char *topology, size_t *n_bytes_p)
{
    vp_catalog_t *catalog = make_catalog(topology);
    uint8_t *data = encode(catalog, n_bytes_p);

    vp_catalog_destroy(catalog);
    return data;
}

static vp_status_t decode(const uint8_t *data, size_t n_bytes, vp_error_t *error)
{
    vp_catalog_t *catalog = NULL;
    vp_status_t status = vp_catalog_decode(data, n_bytes, "some/file", &catalog, error);

    ck_assert_int_eq(status == VP_OK, catalog != NULL);
    if (status != VP_OK) {
        ck_assert_int_eq(error->status, status);
        ck_assert_msg(strncmp(error->text, "some/file: ", 11) == 0, "no file name: %s",
                      error->text);
    }
    vp_catalog_destroy(catalog);
    return status;
}

static void write_u64(uint8_t *at, uint64_t value)
{
    int i;

    for (i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void reseal(uint8_t *data, size_t n_bytes, bool has_new_fingerprint)
{
    if (has_new_fingerprint) {
        write_u64(data + AT_FINGERPRINT, vp_hash64(data + AT_CONTENT, n_bytes - AT_CONTENT));
    }
    write_u64(data + AT_LENGTH, n_bytes);
    write_u64(data + AT_CHECKSUM, vp_hash64(data + AT_FINGERPRINT, n_bytes - AT_FINGERPRINT));
}

static void compare_catalogs(const vp_catalog_t *a, const vp_catalog_t *b)
{
    size_t n_pairs = (size_t)a->model->n_groups * a->model->n_groups;
    vp_diff_t diff;

    ck_assert_msg(vp_catalog_diff(a, b, &diff), "%s", diff.facts[0]);
    ck_assert_mem_eq(a->model->rank_group, b->model->rank_group,
                     a->model->n_ranks * sizeof(*a->model->rank_group));

    ck_assert_uint_eq(a->fingerprint, b->fingerprint);
    ck_assert_uint_eq(a->build_ns, b->build_ns);
    ck_assert_uint_eq(a->build_steps, b->build_steps);
    ck_assert_str_eq(a->model->name, b->model->name);
    ck_assert_str_eq(a->model->rates, b->model->rates);
    ck_assert_str_eq(a->model->transport, b->model->transport);
    ck_assert_uint_eq(a->model->alpha_ns, b->model->alpha_ns);
    ck_assert_uint_eq(a->model->put_overhead_ns, b->model->put_overhead_ns);
    ck_assert_uint_eq(a->model->n_instances, b->model->n_instances);
    ck_assert_mem_eq(a->model->instances, b->model->instances,
                     a->model->n_instances * sizeof(*a->model->instances));
    ck_assert_mem_eq(a->model->pair_begin, b->model->pair_begin,
                     (n_pairs + 1) * sizeof(*a->model->pair_begin));
    ck_assert_str_eq(a->model->classes[1].devices, b->model->classes[1].devices);
    ck_assert_str_eq(a->model->contention[a->model->n_contention - 1].origin[0],
                     b->model->contention[a->model->n_contention - 1].origin[0]);
    ck_assert_uint_eq(a->n_shapes, b->n_shapes);
    ck_assert_uint_eq(a->n_families, b->n_families);
    ck_assert_mem_eq(a->shape_lanes, b->shape_lanes,
                     a->n_shapes * n_pairs * sizeof(*a->shape_lanes));
    ck_assert_mem_eq(a->shapes, b->shapes, a->n_shapes * sizeof(*a->shapes));
    ck_assert_mem_eq(a->members, b->members, a->member_begin[a->n_families] * sizeof(*a->members));
}

START_TEST(store_and_load_round_trip)
{
    static const char *const topologies[] = {
        "fig1-6:transports=local",
        "r5080-bf3:nodes=2",
        "r5090-bf3:rates=measured",
        "+r5080-bf3:nodes=2",
        "+r5080-cx8:nodes=16",
        "+r5090-bf3:nodes=11",
        "+l20-cx7:nodes=128",
        "+synthetic:nodes=3,switches=3,nics=2,pairs=any,links=uplinks,p2p=off,gdr=off,memory=200"};
    vp_error_t error = {.text = ""};
    vp_catalog_t *catalog = make_catalog(topologies[_i]);
    vp_catalog_t *loaded = NULL;
    uint8_t *again;
    uint8_t *data;
    size_t n_stored = 0;
    size_t n_loaded = 0;
    size_t n_again;
    char file[] = "/tmp/vp_test_store.XXXXXX";

    (void)close(mkstemp(file));
    ck_assert_msg(vp_catalog_store(catalog, file, &n_stored, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_catalog_load(file, &loaded, &n_loaded, &error) == VP_OK, "%s", error.text);
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_uint_eq(n_stored, n_loaded);
    compare_catalogs(catalog, loaded);
    data = encode(catalog, &n_stored);
    again = encode(loaded, &n_again);
    ck_assert_uint_eq(n_again, n_stored);
    ck_assert_mem_eq(again, data, n_stored);
    free(data);
    free(again);
    vp_catalog_destroy(catalog);
    vp_catalog_destroy(loaded);
}
END_TEST

/* The i-th way to make nodes differ, or the paths between them. */
static void make_unlike(vp_catalog_t *catalog, int way)
{
    vp_model_t *model = catalog->model;
    static const uint32_t ranks[] = {1, 2, 3, 9, 10, 11, 12, 13, 14, 15, 40, 43, 46, 47};
    vp_model_t *part = NULL;
    vp_error_t error;
    uint32_t i;

    switch (way) {
    case 0: /* three nodes of which no two are alike */
        ck_assert_int_eq(
            vp_model_restrict(model, ranks, sizeof(ranks) / sizeof(ranks[0]), &part, &error),
            VP_OK);
        ck_assert_uint_eq(part->n_nodes, 3);
        catalog->model = part;
        vp_model_destroy(model);
        return;
    case 1: /* one path between two nodes is missing */
        i = model->pair_begin[vp_pair(model, 5, 14)];
        memmove(&model->instances[i], &model->instances[i + 1],
                (model->n_instances - i - 1) * sizeof(*model->instances));
        model->n_instances--;
        break;
    case 2: /* a name that does not tell its node */
        free(model->groups[6].name);
        model->groups[6].name = vp_string_copy("node01/sw0");
        break;
    default: /* one NIC is slower */
        model->nics[9].bytes_per_s /= 2;
        break;
    }
    ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
}

START_TEST(unlike_nodes_round_trip)
{
    vp_error_t error = {.text = ""};
    vp_catalog_t *catalog = make_catalog("+r5080-cx8:nodes=6");
    vp_catalog_t *loaded = NULL;
    uint64_t fingerprint = catalog->fingerprint;
    size_t n_bytes = 0;
    uint8_t *data;

    make_unlike(catalog, _i);
    ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "%s", error.text);
    ck_assert_int_eq(vp_catalog_seal(catalog, &error), VP_OK);
    ck_assert_uint_ne(catalog->fingerprint, fingerprint);
    data = encode(catalog, &n_bytes);
    ck_assert_msg(vp_catalog_decode(data, n_bytes, "unlike", &loaded, &error) == VP_OK, "%s",
                  error.text);
    compare_catalogs(catalog, loaded);
    free(data);
    vp_catalog_destroy(catalog);
    vp_catalog_destroy(loaded);
}
END_TEST

START_TEST(files_of_equal_nodes_are_small)
{
    size_t n_few = 0;
    size_t n_many = 0;
    uint8_t *few = encode_topology("+r5080-cx8:nodes=2", &n_few);
    uint8_t *many = encode_topology("+r5080-cx8:nodes=64", &n_many);

    ck_assert_uint_eq(n_many, n_few + (size_t)62 * 8); /* template and label of each node */
    ck_assert_uint_lt(n_many, 8192);
    free(few);
    free(many);
}
END_TEST

/* Finds the list of nodes: `n` times (template 0, label 0, 1, ...), behind their number. */
static size_t find_nodes(const uint8_t *data, size_t n_bytes, uint32_t n)
{
    size_t at;

    for (at = AT_CONTENT; at + 4 + (size_t)n * 8 <= n_bytes; at++) {
        uint32_t i = 0;

        while (i < n && data[at + 4 + i * 8] == 0 && data[at + 8 + i * 8] == i &&
               data[at + 9 + i * 8] == 0) {
            i++;
        }
        if (i == n && data[at] == n && data[at + 1] == 0 && data[at + 2] == 0) {
            return at;
        }
    }
    ck_abort_msg("no list of nodes");
    return 0;
}

/* A small file cannot make a large machine: each limit holds before memory is taken. */
START_TEST(expansion_is_bounded)
{
    /* Too many groups, ranks, path instances, nodes. */
    static const char *const topologies[] = {
        "+synthetic:nodes=2,switches=64,gpus=1,nics=1,links=uplinks",
        "+synthetic:nodes=2,switches=2,gpus=1024,nics=1",
        "+synthetic:nodes=2,switches=8,gpus=1,nics=8,links=uplinks,pairs=any",
        "+synthetic:nodes=2,switches=1,gpus=1,nics=1",
    };
    static const uint32_t n_nodes[] = {33, 3, 64, 4096};
    vp_error_t error = {.text = ""};
    size_t n_bytes = 0;
    size_t n_more = ((size_t)n_nodes[_i] - 2) * 8;
    uint8_t *data;
    uint8_t *more;
    size_t at;
    uint32_t i;

    data = encode_topology(topologies[_i], &n_bytes);
    at = find_nodes(data, n_bytes, 2);
    more = vp_array_new(n_bytes + n_more, 1);
    memcpy(more, data, at);
    more[at] = (uint8_t)n_nodes[_i];
    more[at + 1] = (uint8_t)(n_nodes[_i] >> 8);
    for (i = 0; i < n_nodes[_i]; i++) {
        more[at + 8 + (size_t)i * 8] = (uint8_t)i;
        more[at + 9 + (size_t)i * 8] = (uint8_t)(i >> 8);
    }
    memcpy(more + at + 20 + n_more, data + at + 20, n_bytes - at - 20);
    reseal(more, n_bytes + n_more, true);
    ck_assert_int_eq(decode(more, n_bytes + n_more, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "a count or a text does not fit") != NULL, "%s", error.text);
    free(more);
    free(data);
}
END_TEST

/* The same machine in other words has another fingerprint than its own. */
START_TEST(other_encodings_are_refused)
{
    vp_error_t error = {.text = ""};
    size_t n_bytes = 0;
    uint8_t *data = encode_topology("+r5080-bf3:nodes=2", &n_bytes);
    size_t at = find_nodes(data, n_bytes, 2);

    if (_i == 0) {
        data[at + 20] = 1; /* the only list, said to be one of several */
    } else {
        data[at + 4] = 1; /* a template that is not there */
    }
    reseal(data, n_bytes, true);
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "inconsistent"));
    free(data);
}
END_TEST

/* Nor may its fingerprint be kept: two words of a list in the other order are the same machine. */
START_TEST(lists_in_another_order_are_refused)
{
    vp_error_t error = {.text = ""};
    size_t n_bytes = 0;
    uint8_t *data = encode_topology("+r5080-bf3", &n_bytes);
    size_t at;

    for (at = AT_CONTENT; at + 8 <= n_bytes; at++) {
        uint8_t words[8];

        memcpy(words, data + at, 8);
        memcpy(data + at, words + 4, 4);
        memcpy(data + at + 4, words, 4);
        if (memcmp(words, data + at, 8) != 0) {
            reseal(data, n_bytes, false);
            ck_assert_msg(decode(data, n_bytes, &error) == VP_ERR_BAD_INPUT, "byte %zu", at);
        }
        memcpy(data + at, words, 8);
    }
    free(data);
}
END_TEST

START_TEST(fingerprint_covers_contents_not_build_facts)
{
    vp_error_t error;
    vp_catalog_t *catalog = make_catalog("fig1-6");
    uint64_t fingerprint = catalog->fingerprint;

    catalog->build_ns++;
    catalog->build_steps++;
    ck_assert_int_eq(vp_catalog_seal(catalog, &error), VP_OK);
    ck_assert_uint_eq(catalog->fingerprint, fingerprint);
    catalog->model->alpha_ns++;
    ck_assert_int_eq(vp_catalog_seal(catalog, &error), VP_OK);
    ck_assert_uint_ne(catalog->fingerprint, fingerprint);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(every_corrupted_byte_is_refused)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x20};
    vp_error_t error;
    size_t n_bytes = 0;
    uint8_t *data = encode_topology(damaged[_i], &n_bytes);
    size_t i;
    size_t k;

    for (i = 0; i < n_bytes; i++) {
        for (k = 0; k < sizeof(flips); k++) {
            data[i] ^= flips[k];
            ck_assert_msg(decode(data, n_bytes, &error) != VP_OK, "byte %zu ^ %#x is accepted", i,
                          flips[k]);
            data[i] ^= flips[k];
        }
    }
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_OK);
    free(data);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    vp_error_t error;
    size_t n_bytes = 0;
    uint8_t *data = encode_topology(damaged[_i], &n_bytes);
    size_t n;

    for (n = 0; n < n_bytes; n++) {
        uint8_t *part = malloc(n == 0 ? 1 : n); /* its own block: reading past it is seen */

        ck_assert_ptr_nonnull(part);
        memcpy(part, data, n);
        ck_assert_msg(decode(part, n, &error) == VP_ERR_BAD_INPUT, "%zu bytes are accepted", n);
        ck_assert_msg(strstr(error.text, n < 8 ? "not a catalog" : "truncated") != NULL, "%zu: %s",
                      n, error.text);
        if (n > AT_CONTENT) {
            reseal(part, n, true);
            ck_assert_msg(decode(part, n, &error) == VP_ERR_BAD_INPUT,
                          "%zu bytes are accepted when sealed again", n);
            ck_assert_ptr_nonnull(strstr(error.text, "inconsistent"));
        }
        free(part);
    }
    free(data);
}
END_TEST

START_TEST(messages_tell_the_damage)
{
    vp_error_t error;
    size_t n_bytes = 0;
    uint8_t *data = encode_topology("fig1-6", &n_bytes);
    uint8_t *longer = calloc(1, n_bytes + 1);

    memcpy(longer, data, n_bytes);
    ck_assert_int_eq(decode(longer, n_bytes + 1, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "corrupted"));
    reseal(longer, n_bytes + 1, true);
    ck_assert_int_eq(decode(longer, n_bytes + 1, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "something follows"));
    free(longer);

    data[0] ^= 1;
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "not a catalog file"));
    data[0] ^= 1;
    data[AT_VERSION] = 2;
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "version 2, this program reads version 3"));
    data[AT_VERSION] = 3;
    data[n_bytes - 1] ^= 1;
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "corrupted"));
    data[n_bytes - 1] ^= 1;
    data[AT_FINGERPRINT] ^= 1;
    reseal(data, n_bytes, false);
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "fingerprint"));
    free(data);
}
END_TEST

START_TEST(huge_counts_allocate_nothing)
{
    vp_error_t error;
    size_t n_bytes = 0;
    uint8_t *data = encode_topology(damaged[_i], &n_bytes);
    size_t at;

    /* Whatever count stands there, it cannot follow in so few bytes. */
    for (at = AT_CONTENT; at + 4 <= n_bytes; at++) {
        uint8_t kept[4];

        memcpy(kept, data + at, 4);
        memset(data + at, 0xff, 4);
        reseal(data, n_bytes, true);
        (void)decode(data, n_bytes, &error);
        memcpy(data + at, kept, 4);
    }
    reseal(data, n_bytes, true);
    ck_assert_int_eq(decode(data, n_bytes, &error), VP_OK);
    free(data);
}
END_TEST

/* One to four changes in a row: random bytes, small integers, bytes from elsewhere. */
static void mutate(uint64_t *state, uint8_t *data, size_t n_bytes)
{
    uint32_t n_changes = 1 + machine_random(state, 4);

    for (; n_changes > 0; n_changes--) {
        uint32_t range = (uint32_t)(n_bytes - AT_FINGERPRINT);
        uint8_t *at = data + AT_FINGERPRINT + machine_random(state, range);

        switch (machine_random(state, 3)) {
        case 0:
            *at = (uint8_t)machine_random(state, 256);
            break;
        case 1:
            *at = (uint8_t)machine_random(state, 5);
            break;
        default:
            *at = data[AT_FINGERPRINT + machine_random(state, range)];
            break;
        }
    }
}

START_TEST(resealed_mutations_stay_consistent)
{
    uint64_t state = machine_seed();
    vp_error_t error = {.text = ""};
    size_t n_bytes = 0;
    uint8_t *data = encode_topology(damaged[_i], &n_bytes);
    uint8_t *mutant = vp_array_new(n_bytes, 1);
    int n_accepted = 0;
    int n_refused = 0;
    int i;

    for (i = 0; i < N_MUTATIONS / N_DAMAGED; i++) {
        vp_catalog_t *catalog = NULL;
        size_t n = machine_random(&state, 8) == 0
                       ? AT_CONTENT + machine_random(&state, (uint32_t)(n_bytes - AT_CONTENT))
                       : n_bytes;

        memcpy(mutant, data, n_bytes);
        mutate(&state, mutant, n);
        reseal(mutant, n, machine_random(&state, 4) != 0);
        if (vp_catalog_decode(mutant, n, "mutant", &catalog, &error) == VP_OK) {
            ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "mutation %d: %s", i,
                          error.text);
            n_accepted++;
        } else {
            n_refused++;
        }
        vp_catalog_destroy(catalog);
    }
    (void)printf("%d mutations are other catalogs, %d are refused\n", n_accepted, n_refused);
    ck_assert_int_gt(n_accepted, 0);
    ck_assert_int_gt(n_refused, 0);
    free(mutant);
    free(data);
}
END_TEST

START_TEST(failures_leave_the_output_alone)
{
    vp_error_t error;
    vp_catalog_t *catalog = make_catalog("fig1-6");
    vp_catalog_t *kept = catalog;
    size_t n_bytes = 77;

    ck_assert_int_eq(vp_catalog_load("/nonexistent/file", &catalog, &n_bytes, &error), VP_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/file"));
    ck_assert_int_eq(vp_catalog_load("/", &catalog, &n_bytes, &error), VP_ERR_BAD_INPUT);
    ck_assert_int_eq(vp_catalog_store(catalog, "/nonexistent/file", &n_bytes, &error), VP_ERR_IO);
    ck_assert_ptr_eq(catalog, kept);
    ck_assert_uint_eq(n_bytes, 77);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog store");
    TCase *cases = tcase_create("store");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, store_and_load_round_trip, 0, 8);
    tcase_add_loop_test(cases, unlike_nodes_round_trip, 0, 4);
    tcase_add_test(cases, files_of_equal_nodes_are_small);
    tcase_add_loop_test(cases, expansion_is_bounded, 0, 4);
    tcase_add_loop_test(cases, other_encodings_are_refused, 0, 2);
    tcase_add_test(cases, lists_in_another_order_are_refused);
    tcase_add_test(cases, fingerprint_covers_contents_not_build_facts);
    tcase_add_loop_test(cases, every_corrupted_byte_is_refused, 0, N_DAMAGED);
    tcase_add_loop_test(cases, every_truncation_is_refused, 0, N_DAMAGED);
    tcase_add_test(cases, messages_tell_the_damage);
    tcase_add_loop_test(cases, huge_counts_allocate_nothing, 0, N_DAMAGED);
    tcase_add_loop_test(cases, resealed_mutations_stay_consistent, 0, N_DAMAGED);
    tcase_add_test(cases, failures_leave_the_output_alone);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
