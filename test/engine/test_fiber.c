/*
 * Functions that pause: in any order, on any thread, with their own frames intact.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "mca/fiber.h"

enum { N_FIBERS = 20, N_PAUSES = 50, N_THREADS = 3 };

typedef struct job {
    vp_fiber_t *fiber;
    unsigned number;
    unsigned n_resumed; /* by whoever resumes it */
    unsigned n_steps;   /* by the function; no lock but what orders the resumes protects it */
    bool done;
} job_t;

static job_t jobs[N_FIBERS];
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;

static void work(void *argument)
{
    job_t *job = argument;
    unsigned frame[64], i;

    for (i = 0; i < 64; i++) {
        frame[i] = job->number * 64 + i;
    }
    for (i = 0; i < N_PAUSES + job->number; i++) {
        job->n_steps++;
        vp_fiber_pause(job->fiber);
    }
    for (i = 0; i < 64; i++) {
        ck_assert_uint_eq(frame[i], job->number * 64 + i);
    }
}

static void make_jobs(void)
{
    unsigned i;

    for (i = 0; i < N_FIBERS; i++) {
        jobs[i] = (job_t){.number = i};
        jobs[i].fiber = vp_fiber_create(work, &jobs[i]);
        ck_assert_ptr_nonnull(jobs[i].fiber);
    }
}

/* One pass over all; true when all have returned. */
static bool resume_all(void)
{
    bool all_done = true;
    unsigned i;

    for (i = 0; i < N_FIBERS; i++) {
        if (!jobs[i].done) {
            jobs[i].n_resumed++;
            jobs[i].done = vp_fiber_resume(jobs[i].fiber);
        }
        all_done = all_done && jobs[i].done;
    }
    return all_done;
}

static void check_jobs(void)
{
    unsigned i;

    for (i = 0; i < N_FIBERS; i++) {
        ck_assert_uint_eq(jobs[i].n_steps, N_PAUSES + i);
        ck_assert_uint_eq(jobs[i].n_resumed, N_PAUSES + i + 1);
        vp_fiber_destroy(jobs[i].fiber);
    }
}

START_TEST(fibers_take_turns)
{
    make_jobs();
    while (!resume_all()) {
    }
    check_jobs();
}
END_TEST

static void *resume_until_done(void *argument)
{
    bool done = false;

    (void)argument;
    while (!done) {
        ck_assert_int_eq(pthread_mutex_lock(&running), 0);
        done = resume_all();
        ck_assert_int_eq(pthread_mutex_unlock(&running), 0);
    }
    return NULL;
}

/* As progress does it: whichever thread comes goes on where another one left off. */
START_TEST(threads_take_over_from_each_other)
{
    pthread_t threads[N_THREADS];
    unsigned i;

    make_jobs();
    for (i = 0; i < N_THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, resume_until_done, NULL), 0);
    }
    for (i = 0; i < N_THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    check_jobs();
}
END_TEST

START_TEST(one_that_never_ran_goes_quietly)
{
    job_t job = {.number = 1};

    job.fiber = vp_fiber_create(work, &job);
    ck_assert_ptr_nonnull(job.fiber);
    vp_fiber_destroy(job.fiber);
    vp_fiber_destroy(NULL);
    ck_assert_uint_eq(job.n_steps, 0);
}
END_TEST

static Suite *fiber_suite(void)
{
    Suite *suite = suite_create("fibers");
    TCase *tcase = tcase_create("fibers");

    tcase_add_test(tcase, fibers_take_turns);
    tcase_add_test(tcase, threads_take_over_from_each_other);
    tcase_add_test(tcase, one_that_never_ran_goes_quietly);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(fiber_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
