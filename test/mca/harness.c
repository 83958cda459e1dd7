/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/mca/cases.h"

#include <stdio.h>
#include <string.h>

static int world_rank(void)
{
    int rank;

    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int check_equal(long long got, long long expected, const char *what)
{
    if (got == expected) {
        return 0;
    }
    (void)fprintf(stderr, "rank %d: %s is %lld, expected %lld\n", world_rank(), what, got,
                  expected);
    return 1;
}

static int find_counter(const char *name)
{
    int n_variables = 0;
    int i;

    (void)MPI_T_pvar_get_num(&n_variables);
    for (i = 0; i < n_variables; i++) {
        char found[128];
        int bytes = (int)sizeof(found);
        int verbosity, kind, bind, readonly, continuous, atomic;
        MPI_Datatype type;

        if (MPI_T_pvar_get_info(i, found, &bytes, &verbosity, &kind, &type, NULL, NULL, NULL, &bind,
                                &readonly, &continuous, &atomic) == MPI_SUCCESS &&
            strcmp(found, name) == 0) {
            return i;
        }
    }
    return -1;
}

void counter_open(counter_t *counter, const char *name)
{
    int index = find_counter(name);
    int count = 0;

    counter->exists = index >= 0 && MPI_T_pvar_session_create(&counter->session) == MPI_SUCCESS &&
                      MPI_T_pvar_handle_alloc(counter->session, index, NULL, &counter->handle,
                                              &count) == MPI_SUCCESS;
}

long long counter_sum(counter_t *counter)
{
    long long value = -1;
    long long sum;

    if (counter->exists) {
        (void)MPI_T_pvar_read(counter->session, counter->handle, &value);
        (void)MPI_T_pvar_handle_free(counter->session, &counter->handle);
        (void)MPI_T_pvar_session_free(&counter->session);
    }
    (void)MPI_Allreduce(&value, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum < 0 ? -1 : sum;
}

static int run_one(const mpi_case_t *test)
{
    int n_wrong = test->run();
    int sum;

    (void)MPI_Allreduce(&n_wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank() == 0) {
        (void)printf("%s: %s (%d wrong)\n", sum == 0 ? "ok" : "FAILED", test->name, sum);
        (void)fflush(stdout);
    }
    return sum != 0;
}

static int check_carried(int expected, counter_t *carried_counter, counter_t *passed_counter)
{
    long long carried = counter_sum(carried_counter);
    long long passed = counter_sum(passed_counter);
    int right = expected > 0 ? carried > 0 : carried <= 0;

    if (expected < 0) {
        return 0;
    }
    right = right && !(expected == 2 && passed > 0);
    if (world_rank() == 0) {
        (void)printf("%s: calls, summed over ranks: carried %lld, passed on %lld\n",
                     right ? "ok" : "FAILED", carried, passed);
    }
    return !right;
}

int carried_argument(const char *text)
{
    static const char *const texts[] = {"passed", "carried", "all"};
    int i;

    for (i = 0; i < 3; i++) {
        if (strcmp(text, texts[i]) == 0) {
            return i;
        }
    }
    return -1;
}

int run_cases(const mpi_case_t *cases, int n_cases, int carried_expected, const char *only)
{
    int n_failed = 0;
    int n_checks = 0;
    counter_t carried, passed;
    int i;

    counter_open(&carried, "coll_variopath_carried");
    counter_open(&passed, "coll_variopath_passed_on");
    for (i = 0; i < n_cases; i++) {
        if (only == NULL || strstr(cases[i].name, only) != NULL) {
            n_failed += run_one(&cases[i]);
            n_checks++;
        }
    }
    n_failed += check_carried(carried_expected, &carried, &passed);
    n_checks += carried_expected >= 0;
    if (world_rank() == 0 && n_checks > 0) {
        (void)printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n",
                     100 * (n_checks - n_failed) / n_checks, n_checks, n_failed);
    }
    return n_failed != 0 || n_checks == 0;
}
