/*
 * Reading a command line by its table, and what shows on a terminal.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/terminal.h"

typedef struct values {
    bool is_loud;
    bool is_word;
    bool has_count;
    uint32_t count;
    uint64_t size;
    double part;
    uint32_t word;
    const char *text;
} values_t;

static const char *const words[] = {"none", "some", "all", NULL};

static const vp_option_t options[] = {
    {.name = "loud", .letter = 'l', .help = "x", VP_FIELD(values_t, is_loud)},
    {.name = "count",
     .value = "N",
     .help = "x",
     VP_FIELD(values_t, count),
     VP_GIVEN(values_t, has_count),
     .kind = VP_OPTION_NUMBER,
     .least = 2,
     .most = 4000000000},
    {.name = "size",
     .letter = 's',
     .value = "B",
     .help = "x",
     VP_FIELD(values_t, size),
     .kind = VP_OPTION_SIZE,
     .most = UINT64_MAX},
    {.name = "part",
     .value = "P",
     .help = "x",
     VP_FIELD(values_t, part),
     .kind = VP_OPTION_REAL,
     .least = 0,
     .most = 1},
    {.name = "word",
     .value = "W",
     .help = "x",
     VP_FIELD(values_t, word),
     .kind = VP_OPTION_WORD,
     .words = words},
    {.name = "flag-word",
     .value = "W",
     .help = "x",
     VP_FIELD(values_t, is_word),
     .kind = VP_OPTION_WORD,
     .words = words},
    {.name = "text", .value = "T", .help = "x", VP_FIELD(values_t, text), .kind = VP_OPTION_TEXT},
    {.name = NULL},
};

static const vp_command_t command = {.name = "test", .options = options};

static bool parse(const char *const *line, values_t *values, int *code_p)
{
    char *argv[16] = {(char *)"test"};
    int argc = 1;

    for (; *line != NULL; line++) {
        argv[argc++] = (char *)*line;
    }
    return vp_options_parse_all(&command, argc, argv, values, code_p);
}

START_TEST(values_arrive)
{
    values_t values = {0};
    int code = -1;

    ck_assert(
        parse((const char *const[]){"-l", "--count", "4000000000", "-s3K", "--part=0.25", "--word",
                                    "all", "--flag-word=some", "--text", "--x", NULL},
              &values, &code));
    ck_assert_int_eq(code, VP_EXIT_OK);
    ck_assert(values.is_loud && values.is_word && values.has_count);
    ck_assert_uint_eq(values.count, 4000000000);
    ck_assert_uint_eq(values.size, 3072);
    ck_assert_double_eq(values.part, 0.25);
    ck_assert_uint_eq(values.word, 2);
    ck_assert_str_eq(values.text, "--x");
}
END_TEST

START_TEST(nothing_is_touched_that_is_not_given)
{
    values_t values = {.count = 7, .size = 8, .text = "x"};
    int code = -1;

    ck_assert(parse((const char *const[]){NULL}, &values, &code));
    ck_assert(!values.is_loud && !values.has_count);
    ck_assert_uint_eq(values.count, 7);
    ck_assert_uint_eq(values.size, 8);
    ck_assert_str_eq(values.text, "x");
}
END_TEST

static const char *const refused[][3] = {
    {"--count", "1"},   {"--count", "4000000001"}, {"--count", "2K"},
    {"--count", "-2"},  {"--count", ""},           {"--size", "20000000000G"},
    {"--size", "1k"},   {"--part", "1.5"},         {"--part", "nan"},
    {"--part", "x"},    {"--word", "most"},        {"--word", ""},
    {"--loud=1", NULL}, {"--loud", "--loud"},      {"-l", "--loud"},
    {"--text", NULL},   {"--texts", "x"},          {"-x", NULL},
    {"argument", NULL}, {"--size=1", "--size=1"},
};

START_TEST(wrong_lines_are_refused)
{
    values_t values = {0};
    int code = -1;

    ck_assert(!parse(refused[_i], &values, &code));
    ck_assert_int_eq(code, VP_EXIT_BAD_INPUT);
}
END_TEST

START_TEST(slips_find_their_word)
{
    static const char *const names[] = {"topology", "catalog", "alpha-ns", "json", NULL};

    ck_assert_str_eq(vp_nearest_word("topolgy", names), "topology");
    ck_assert_str_eq(vp_nearest_word("catalogue", names), "catalog");
    ck_assert_str_eq(vp_nearest_word("alphans", names), "alpha-ns");
    ck_assert_str_eq(vp_nearest_word("jsno", names), "json");
    ck_assert_ptr_null(vp_nearest_word("svg", names));
    ck_assert_ptr_null(vp_nearest_word("frobnicate", names));
    ck_assert_ptr_null(vp_nearest_word("", (const char *const[]){"json", NULL}));
}
END_TEST

START_TEST(numbers)
{
    uint64_t value = 0;

    ck_assert(vp_number_parse("18446744073709551615", false, 0, UINT64_MAX, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert(!vp_number_parse("18446744073709551616", false, 0, UINT64_MAX, &value));
    ck_assert(vp_number_parse("2G", true, 0, UINT64_C(2) << 30, &value));
    ck_assert_uint_eq(value, UINT64_C(2) << 30);
    ck_assert(!vp_number_parse("2G", true, 0, (UINT64_C(2) << 30) - 1, &value));
    ck_assert(!vp_number_parse(" 2", true, 0, 9, &value));
    ck_assert(!vp_number_parse("2GG", true, 0, UINT64_MAX, &value));
}
END_TEST

/* Waits until the line has come; it comes after a second, on a busy machine later. */
static bool shows(int terminal, const char *text)
{
    char seen[4096] = "";
    size_t n = 0;

    while (n + 1 < sizeof(seen)) {
        struct pollfd wait = {terminal, POLLIN, 0};
        ssize_t got;

        if (poll(&wait, 1, 20000) != 1) {
            return false;
        }
        got = read(terminal, seen + n, sizeof(seen) - n - 1);
        if (got <= 0) {
            return false;
        }
        n += (size_t)got;
        seen[n] = '\0';
        if (strstr(seen, text) != NULL) {
            return true;
        }
    }
    return false;
}

START_TEST(progress_shows_on_a_terminal)
{
    int outside = posix_openpt(O_RDWR | O_NOCTTY);
    int saved = dup(STDERR_FILENO);
    vp_progress_t progress;
    bool is_shown;
    int inside;

    ck_assert(outside >= 0 && grantpt(outside) == 0 && unlockpt(outside) == 0);
    inside = open(ptsname(outside), O_RDWR | O_NOCTTY);
    ck_assert(inside >= 0 && dup2(inside, STDERR_FILENO) == STDERR_FILENO);
    vp_progress_begin(&progress, "counting %d", 3);
    vp_progress_tell(&progress, "%d of 9", 4);
    is_shown = shows(outside, "counting 3: 4 of 9, ");
    vp_progress_end(&progress);
    (void)dup2(saved, STDERR_FILENO);
    ck_assert(is_shown);
    (void)close(inside);
    (void)close(outside);
    (void)close(saved);
}
END_TEST

START_TEST(progress_is_silent_elsewhere)
{
    char name[] = "/tmp/vp_progress_XXXXXX";
    int file = mkstemp(name);
    int saved = dup(STDERR_FILENO);
    vp_progress_t progress;

    ck_assert(file >= 0 && dup2(file, STDERR_FILENO) == STDERR_FILENO);
    vp_progress_begin(&progress, "counting");
    vp_progress_tell(&progress, "1");
    vp_progress_end(&progress);
    (void)dup2(saved, STDERR_FILENO);
    ck_assert(!progress.is_running);
    ck_assert_int_eq(lseek(file, 0, SEEK_END), 0);
    (void)close(file);
    (void)close(saved);
    (void)unlink(name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *cases = tcase_create("options");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, values_arrive);
    tcase_add_test(cases, nothing_is_touched_that_is_not_given);
    tcase_add_loop_test(cases, wrong_lines_are_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(cases, slips_find_their_word);
    tcase_add_test(cases, numbers);
    tcase_add_test(cases, progress_shows_on_a_terminal);
    tcase_add_test(cases, progress_is_silent_elsewhere);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
