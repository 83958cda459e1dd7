/*
 * Every allocation of the command line fails once: exit code 3, one sentence,
 * no file; or the same output without it. Each run is a process of its own.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.h"
#include "sweep.h"
#include "tools/command.h"

#undef main

enum { MAX_WORDS = 24, MAX_NUMBERS = 1 << 16, MAX_OUTPUT = 1 << 20, SECONDS = 20 };

/* OUT is a file that the command writes, IN/ the files of set_up. */
static const char *const commands[] = {
    "topology show fig1-6 --json",
    "topology show synthetic:nodes=2,links=uplinks,p2p=off,gdr=off --svg OUT",
    "topology check " VP_SOURCE_DIR "/catalog/topologies/fig1-6.json",
    "topology import " VP_SOURCE_DIR "/test/import/data/t15-x2-pxb-nicrowsmissing.txt -o OUT",
    "topology import " VP_SOURCE_DIR "/test/import/data/t11-x5-phb.txt --json",
    "catalog build fig1-6 -o OUT",
    "catalog build r5080-bf3 --mode generated -o OUT",
    "catalog show IN/c.vpcat --json --shapes",
    "catalog verify IN/c.vpcat fig1-6",
    "catalog diff IN/c.vpcat IN/c.vpcat",
    "demand zipf --ranks 6 -o OUT",
    "demand moe --ranks 6 --json",
    "plan --catalog IN/c.vpcat --demand IN/d.csv --json --lanes",
    "plan --topology fig1-6 --demand IN/e.csv --scheduler colour",
    "bound --topology fig1-6 --demand IN/d.csv --json",
    "simulate --topology fig1-6 --demand IN/d.csv --algorithms nccl,colour --json",
    "simulate --topology fig1-6 --demand IN/e.csv --schedule IN/s.json",
    "simulate --topology fig1-6 --demand IN/d.csv --algorithms nearest --svg OUT",
    "simulate --topology fig1-6 --demand IN/d.csv --algorithms list --csv --sweep 1M,2M "
    "--fail node0/nic0:tx --links collapses",
    "trace " VP_SOURCE_DIR "/test/fuzz/trace-lines.seed --json",
    "trace " VP_SOURCE_DIR "/test/fuzz/trace-chrome.seed --svg OUT",
};
enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* What a run leaves in memory that it shares with the test. */
typedef struct shared {
    size_t n_allocations;
    size_t n_sites;
    size_t n_numbers;
    size_t numbers[MAX_NUMBERS];
    bool has_returned; /* else it has left from inside */
    size_t n_live;
} shared_t;

typedef struct run {
    int code; /* -1: ended by a signal */
    char *out;
    char *err;
    char *file; /* NULL: not there */
} run_t;

static shared_t *shared;
static char directory[64];

/* The path of a file in the directory of this test; of two at a time. */
static const char *inside(const char *name)
{
    static char paths[2][128];
    static int turn;

    turn = 1 - turn;
    (void)snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", directory, name);
    return paths[turn];
}

/* NULL: there is none. */
static char *slurp(const char *name)
{
    FILE *stream = fopen(inside(name), "rb");
    char *text;
    size_t n_bytes;

    if (stream == NULL) {
        return NULL;
    }
    text = calloc(1, MAX_OUTPUT + 1);
    ck_assert_ptr_nonnull(text);
    n_bytes = fread(text, 1, MAX_OUTPUT, stream);
    ck_assert_uint_lt(n_bytes, MAX_OUTPUT);
    (void)fclose(stream);
    return text;
}

/* Words of the command line with their places filled in; they stay until the process ends. */
static int make_words(const char *line, char **words)
{
    char *rest = NULL;
    char *copy = strdup(line);
    char *word;
    int n = 0;

    ck_assert_ptr_nonnull(copy);
    words[n++] = copy; /* argv[0] is of no interest */
    for (word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        const char *path = strncmp(word, "IN/", 3) == 0 ? inside(word + 3)
                           : strcmp(word, "OUT") == 0   ? inside("out")
                                                        : word;

        ck_assert_int_lt(n, MAX_WORDS - 1);
        words[n] = strdup(path);
        ck_assert_ptr_nonnull(words[n++]);
    }
    words[n] = NULL;
    return n;
}

static void redirect(const char *name, int descriptor)
{
    int file = open(inside(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || dup2(file, descriptor) < 0) {
        _exit(99);
    }
    (void)close(file);
}

static _Noreturn void run_here(const char *line, size_t fail_at, bool is_listing)
{
    char *words[MAX_WORDS];
    int n = make_words(line, words);
    const size_t *numbers;
    int code;

    redirect("stdout", STDOUT_FILENO);
    redirect("stderr", STDERR_FILENO);
    (void)alarm(SECONDS);
    if (is_listing) {
        failing_start_listing();
    } else {
        failing_start(fail_at);
    }
    code = variopath_main(n, words);
    shared->n_allocations = failing_stop();
    shared->has_returned = true;
    shared->n_live = failing_n_live();
    if (is_listing) {
        shared->n_sites = failing_n_sites();
        numbers = failing_choose(sweep_is_whole(), &shared->n_numbers);
        if (shared->n_numbers > MAX_NUMBERS) {
            _exit(98);
        }
        memcpy(shared->numbers, numbers, shared->n_numbers * sizeof(*numbers));
    }
    (void)fflush(NULL);
    _exit(code);
}

static run_t run(const char *line, size_t fail_at, bool is_listing)
{
    run_t result = {.code = -1};
    int state = 0;
    pid_t pid;

    (void)unlink(inside("out"));
    shared->has_returned = false;
    shared->n_live = 0;
    (void)fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        run_here(line, fail_at, is_listing);
    }
    ck_assert_int_eq(waitpid(pid, &state, 0), pid);
    result.code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    result.out = slurp("stdout");
    result.err = slurp("stderr");
    result.file = slurp("out");
    return result;
}

static void release(run_t *result)
{
    free(result->out);
    free(result->err);
    free(result->file);
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What is wrong with a run in which an allocation failed; NULL: nothing. */
static const char *find_fault(const run_t *good, const run_t *it)
{
    /* What is told without a failure, too, comes first. */
    size_t n_told = strncmp(it->err, good->err, strlen(good->err)) == 0 ? strlen(good->err) : 0;
    const char *text = it->err + n_told;
    const char *end = strchr(text, '\n');

    if (it->code < 0) {
        return "it crashed or hung";
    }
    if (shared->has_returned && shared->n_live != 0) {
        return "memory is not given back";
    }
    if (it->code == good->code) {
        return is_same(good->out, it->out) && is_same(good->file, it->file) ? NULL
                                                                            : "another result";
    }
    if (it->code != VP_EXIT_ENVIRONMENT) {
        return "another exit code";
    }
    if (it->file != NULL) {
        return "a file is left";
    }
    if (end == NULL || end[1] != '\0' || strncmp(text, "variopath: ", 11) != 0 ||
        strstr(text, "memory") == NULL) {
        return "not one sentence about memory";
    }
    return it->out[0] == '\0' || is_same(good->out, it->out) ? NULL : "half an answer";
}

static void write_file(const char *name, const char *text)
{
    FILE *stream = fopen(inside(name), "w");

    ck_assert_ptr_nonnull(stream);
    (void)fputs(text, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

static void set_up(void)
{
    static const char schedule[] =
        "{\"format\": \"variopath-schedule\", \"version\": 1, \"algorithm\": \"x\", "
        "\"ranks\": 6, \"synthesis_ms\": 1, \"execution\": \"deps\", \"transfers\": [[0, 0, 1, 0, "
        "0, 1, 4096]]}";
    run_t made;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    (void)snprintf(directory, sizeof(directory), "/tmp/vp-robust-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    made = run("catalog build fig1-6 -o IN/c.vpcat", 0, false);
    ck_assert_msg(made.code == 0, "%s", made.err);
    release(&made);
    made = run("demand zipf --ranks 6 --bytes-per-rank 1M -o IN/d.csv", 0, false);
    ck_assert_msg(made.code == 0, "%s", made.err);
    release(&made);
    write_file("s.json", schedule);
    write_file("e.csv", "0,4096,0,0,0,0\n0,0,0,0,0,0\n0,0,0,0,0,0\n0,0,0,0,0,0\n0,0,0,0,0,0\n"
                        "0,0,0,0,0,0\n");
}

/* No file but those that are known is left, temporary ones neither. */
static void tear_down(void)
{
    static const char *const names[] = {"c.vpcat", "d.csv",  "e.csv", "s.json",
                                        "stdout",  "stderr", "out"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(inside(names[i]));
    }
    ck_assert_int_eq(rmdir(directory), 0);
    (void)munmap(shared, sizeof(*shared));
}

START_TEST(commands_run_out_of_memory)
{
    const char *line = commands[_i];
    run_t good = run(line, 0, true);
    size_t n_allocations = shared->n_allocations;
    size_t n_through = 0;
    size_t i;

    ck_assert_msg(good.code == VP_EXIT_OK || good.code == VP_EXIT_NO, "%s: %d %s", line, good.code,
                  good.err);
    ck_assert_msg(shared->n_live == 0, "%s: memory is not given back", line);
    for (i = 0; i < shared->n_numbers; i++) {
        run_t it = run(line, shared->numbers[i], false);
        const char *fault = find_fault(&good, &it);

        ck_assert_msg(fault == NULL, "variopath %s, allocation %zu: %s: exit code %d, \"%s\"", line,
                      shared->numbers[i], fault, it.code, it.err);
        n_through += it.code == good.code;
        release(&it);
    }
    (void)printf("swept variopath %s: %zu allocations from %zu places, %zu failed, %zu done "
                 "without\n",
                 line, n_allocations, shared->n_sites, shared->n_numbers, n_through);
    release(&good);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations of the command line");
    TCase *tcase = tcase_create("sweep");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, sweep_is_whole() ? 3600 : 240);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, commands_run_out_of_memory, 0, N_COMMANDS);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
