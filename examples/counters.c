/* SPDX-License-Identifier: BSD-3-Clause */
#include "examples/counters.h"

#include <stdio.h>
#include <string.h>

static void open_counter(counters_t *counters, int index)
{
    static const char prefix[] = "coll_variopath_";
    char *name = counters->names[counters->n];
    int name_bytes = (int)sizeof(counters->names[0]);
    int verbosity, kind, bind, readonly, continuous, atomic;
    int count = 0;
    MPI_Datatype type;

    if (counters->n < MAX_COUNTERS &&
        MPI_T_pvar_get_info(index, name, &name_bytes, &verbosity, &kind, &type, NULL, NULL, NULL,
                            &bind, &readonly, &continuous, &atomic) == MPI_SUCCESS &&
        strncmp(name, prefix, sizeof(prefix) - 1) == 0 && type == MPI_UNSIGNED_LONG_LONG &&
        MPI_T_pvar_handle_alloc(counters->session, index, NULL, &counters->handles[counters->n],
                                &count) == MPI_SUCCESS &&
        count == 1) {
        counters->n++;
    }
}

void open_counters(counters_t *counters)
{
    int n_variables = 0;
    int i;

    counters->n = 0;
    if (MPI_T_pvar_session_create(&counters->session) != MPI_SUCCESS) {
        (void)fprintf(stderr, "MPI_T offers no session\n");
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    (void)MPI_T_pvar_get_num(&n_variables);
    for (i = 0; i < n_variables; i++) {
        open_counter(counters, i);
    }
}

void print_counters(counters_t *counters, int rank)
{
    int i;

    for (i = 0; i < counters->n; i++) {
        unsigned long long value = 0;

        (void)MPI_T_pvar_read(counters->session, counters->handles[i], &value);
        (void)MPI_T_pvar_handle_free(counters->session, &counters->handles[i]);
        (void)MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM,
                            MPI_COMM_WORLD);
        if (rank == 0 && value != 0) {
            (void)printf("%s = %llu\n", counters->names[i], value);
        }
    }
    (void)MPI_T_pvar_session_free(&counters->session);
}
