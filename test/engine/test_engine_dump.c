/*
 * What ranks tell of a call that hangs, when a while has passed and when a signal asks.
 * The hanging put goes on when every rank has told, so nothing here depends on time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "engine_rank.h"
#include "lanes_fake.h"

enum { N_RANKS = 4, VICTIM = 2, SILENCE_MS = 20 };

static vp_dump_t dump = {.lock = PTHREAD_MUTEX_INITIALIZER};
static unsigned *n_told; /* [N_RANKS] lines of each rank; shared memory */
static uint32_t this_rank;
static char outstanding[1024]; /* the victim's lane */
static char awaited[1024];     /* what the others wait for */

/* Everybody has told: the put of the victim goes on. */
static void let_go(void)
{
    uint32_t rank;

    for (rank = 0; rank < N_RANKS; rank++) {
        if (__atomic_load_n(&n_told[rank], __ATOMIC_ACQUIRE) == 0) {
            return;
        }
    }
    lanes_fake.knobs.stall_put = 0;
}

static void keep(void *context, vp_log_level_t level, const char *line)
{
    (void)context;
    if (level != VP_LOG_WARN || strncmp(line, "state: ", 7) != 0) {
        return;
    }
    if (strstr(line, "outstanding") != NULL) {
        (void)strncpy(outstanding, line, sizeof(outstanding) - 1);
    } else if (strstr(line, "awaits") != NULL) {
        (void)strncpy(awaited, line, sizeof(awaited) - 1);
    }
    if (this_rank == VICTIM ? outstanding[0] != '\0' : awaited[0] != '\0') {
        (void)__atomic_fetch_add(&n_told[this_rank], 1, __ATOMIC_RELEASE);
    }
    if (this_rank == VICTIM) {
        let_go();
    }
}

static void body(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    uint32_t i, j;

    this_rank = rank;
    cluster.options.timeout_ms = 0;
    cluster.options.dump = &dump;
    cluster.options.name = "world";
    lanes_fake.knobs.stall_put = rank == VICTIM ? 2 : 0;
    engine_rank_start(&self, rank, &cluster, true);
    self.log.write = keep;
    dump.log = &self.log;
    memset(&traffic, 0, sizeof(traffic));
    for (i = 0; i < N_RANKS; i++) {
        for (j = 0; j < N_RANKS; j++) {
            traffic.send[i][j] = traffic.room[i][j] = 100 + 10 * i + j;
        }
    }
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    if (rank == VICTIM) {
        RANKS_CHECK(strstr(outstanding, "state: rank 2 of world, call 1: lane ") == outstanding &&
                        strstr(outstanding, "rank 2 to rank 0 over pcie > pcie: ") != NULL &&
                        strstr(outstanding, "60 of 60 bytes outstanding") != NULL,
                    "told \"%s\"", outstanding);
    } else {
        RANKS_CHECK(strstr(awaited, " of world, call 1: awaits ") != NULL, "told \"%s\"", awaited);
    }
    engine_rank_stop(&self);
}

static void run(vp_sync_t sync)
{
    cluster_t cluster;

    n_told = ranks_share(N_RANKS * sizeof(*n_told));
    cluster_make(&cluster, N_RANKS);
    cluster.options.sync = sync;
    cluster.options.overlap_percent = 0; /* one put per lane: knobs count puts */
    cluster_run(&cluster, body);
    ranks_unshare(n_told, N_RANKS * sizeof(*n_told));
}

START_TEST(a_call_in_which_nothing_happens_is_told)
{
    static const vp_sync_t modes[] = {VP_SYNC_FREE, VP_SYNC_BARRIER, VP_SYNC_DEPS};

    dump.silence_ms = SILENCE_MS;
    run(modes[_i]);
}
END_TEST

static void ask(int number)
{
    (void)number;
    (void)__atomic_fetch_add(&dump.n_asked, 1, __ATOMIC_RELAXED);
}

/* Timers are not inherited: every rank starts its own. */
static void asking_body(uint32_t rank, void *argument)
{
    const struct itimerval timer = {{0, SILENCE_MS * 1000}, {0, SILENCE_MS * 1000}};

    (void)signal(SIGALRM, ask);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    body(rank, argument);
}

START_TEST(a_signal_asks)
{
    cluster_t cluster;

    dump.silence_ms = 0;
    n_told = ranks_share(N_RANKS * sizeof(*n_told));
    cluster_make(&cluster, N_RANKS);
    cluster.options.sync = VP_SYNC_DEPS;
    cluster.options.overlap_percent = 0;
    cluster_run(&cluster, asking_body);
    ranks_unshare(n_told, N_RANKS * sizeof(*n_told));
}
END_TEST

/* Once per request, once per time of silence, nothing for who does not ask. */
START_TEST(lines_are_not_repeated)
{
    vp_dump_t asked = {.lock = PTHREAD_MUTEX_INITIALIZER};
    vp_dump_call_t call = {.name = "world"};

    ck_assert(!vp_dump_due(NULL, &call, 0));
    vp_dump_enter(&asked, &call);
    ck_assert(!vp_dump_due(&asked, &call, 0));
    asked.n_asked = 2;
    ck_assert(vp_dump_due(&asked, &call, 0));
    ck_assert(!vp_dump_due(&asked, &call, 0));
    asked.silence_ms = 3600 * 1000;
    ck_assert(!vp_dump_due(&asked, &call, call.written_ns));
    vp_dump_leave(&asked, &call);
    ck_assert_ptr_null(asked.calls);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine state");
    TCase *tcase = tcase_create("a hanging call");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, a_call_in_which_nothing_happens_is_told, 0, 3);
    tcase_add_test(tcase, a_signal_asks);
    tcase_add_test(tcase, lines_are_not_repeated);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
