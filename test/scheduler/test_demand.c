/*
 * The demand parser: what it reads, and where it says that a text is wrong.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/demand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/model.h"

typedef struct bad_text {
    const char *text;
    const char *where; /* how the message begins */
    const char *why;   /* what it holds */
} bad_text_t;

static const bad_text_t bad_texts[] = {
    {"0,1\n2,x\n", "d.csv:2:3: ", "\"x\" is not a number"},
    {"0,1\n2,\n", "d.csv:2:3: ", "\"\" is not a number"},
    {"0,,1\n", "d.csv:1:3: ", "is not a number"},
    {"0, 1.5\n2,0\n", "d.csv:1:4: ", "\"1.5\" is not a number"},
    {"0,1e6\n2,0\n", "d.csv:1:3: ", "\"1e6\" is not a number"},
    {"0,0x10\n2,0\n", "d.csv:1:3: ", "\"0x10\" is not a number"},
    {"0,+1\n2,0\n", "d.csv:1:3: ", "\"+1\" is not a number"},
    {"0,1 2\n2,0\n", "d.csv:1:3: ", "\"1 2\" is not a number"},
    {"0;1\n2;0\n", "d.csv:1:1: ", "\"0;1\" is not a number"},
    {"# bytes\n\n0,-7\n", "d.csv:3:3: ", "\"-7\" is negative"},
    {"0,4611686018427387905\n0,0\n", "d.csv:1:3: ", "is above 2^62"},
    {"0,99999999999999999999999999999999\n0,0\n", "d.csv:1:3: ", "is above 2^62"},
    {"0,1,2\n3,0\n", "d.csv:2:4: ", "row 2 has 2 columns, the first has 3"},
    {"0,1\n3,0,5\n", "d.csv:2:6: ", "row 2 has 3 columns, the first has 2"},
    {"0,1\n2,0\n4,5\n", "d.csv:3:4: ", "row 3 has 2 columns"},
    {"0,1,2\n3,0,4\n", "d.csv:3:1: ", "ends after 2 rows of 3 columns"},
    {"", "d.csv:1:1: ", "ends after 0 rows"},
    {"# nothing\n\n", "d.csv:3:1: ", "ends after 0 rows"},
};

START_TEST(bad_texts_are_refused)
{
    const bad_text_t *bad = &bad_texts[_i];
    uint64_t *bytes = NULL;
    uint32_t n_ranks = 77;
    vp_error_t error = {VP_OK, ""};
    vp_status_t status = vp_demand_parse(bad->text, "d.csv", &bytes, &n_ranks, &error);

    ck_assert_msg(status == VP_ERR_BAD_INPUT, "\"%s\" gives status %d", bad->text, (int)status);
    ck_assert_msg(strncmp(error.text, bad->where, strlen(bad->where)) == 0,
                  "\"%s\" begins \"%s\", not \"%s\"", bad->text, error.text, bad->where);
    ck_assert_msg(strstr(error.text, bad->why) != NULL, "\"%s\" says \"%s\", not \"%s\"", bad->text,
                  error.text, bad->why);
    ck_assert_ptr_null(bytes);
    ck_assert_uint_eq(n_ranks, 77);
}
END_TEST

static void check_good(const char *text, uint32_t n_ranks, const uint64_t *expected)
{
    uint64_t *bytes = NULL;
    uint32_t n_read = 0;
    vp_error_t error = {VP_OK, ""};
    uint32_t i;

    ck_assert_msg(vp_demand_parse(text, "d.csv", &bytes, &n_read, &error) == VP_OK,
                  "\"%s\" is refused: %s", text, error.text);
    ck_assert_uint_eq(n_read, n_ranks);
    for (i = 0; i < n_ranks * n_ranks; i++) {
        ck_assert_uint_eq(bytes[i], expected[i]);
    }
    free(bytes);
}

START_TEST(good_texts_are_read)
{
    static const uint64_t two[] = {0, 12, 3, 4};
    static const uint64_t one[] = {5};
    static const uint64_t largest[] = {0, UINT64_C(1) << 62, 0, 0};

    check_good("0,12\n3,4\n", 2, two);
    check_good("0,12\n3,4", 2, two);
    check_good("# by rank\n\n 0 ,\t12 \r\n   \n3,4\r\n# end", 2, two);
    check_good("5", 1, one);
    check_good("0,4611686018427387904\n0,0", 2, largest);
}
END_TEST

START_TEST(columns_are_limited)
{
    size_t n_cells = VP_MAX_RANKS + 1;
    char *text = malloc(2 * n_cells + 1);
    uint64_t *bytes = NULL;
    uint32_t n_ranks = 0;
    vp_error_t error = {VP_OK, ""};
    size_t i;

    ck_assert_ptr_nonnull(text);
    for (i = 0; i < n_cells; i++) {
        memcpy(text + 2 * i, "0,", 2);
    }
    text[2 * n_cells - 1] = '\0';
    ck_assert_int_eq(vp_demand_parse(text, "d.csv", &bytes, &n_ranks, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "more than 4096 columns") != NULL, "says \"%s\"", error.text);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("demand");
    TCase *cases = tcase_create("parse");
    SRunner *runner;
    int n_failed;

    tcase_add_loop_test(cases, bad_texts_are_refused, 0,
                        (int)(sizeof(bad_texts) / sizeof(bad_texts[0])));
    tcase_add_test(cases, good_texts_are_read);
    tcase_add_test(cases, columns_are_limited);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
