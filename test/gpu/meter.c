/*
 * Preloaded into an MPI program on emulated devices: what all ranks' calls of
 * MPI_Alltoallv moved over each link, without what the program itself copies
 * between them, and without the first call, in which paths are checked. Rank 0 writes a line "LINK
 * BYTES" per link to the file that METER_FILE names when MPI ends.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/cuda_emu/counters.h"

enum { MAX_LINKS = 128 };

static uint64_t before[MAX_LINKS], moved[MAX_LINKS];
static const char *(*link_name)(unsigned);
static uint64_t (*link_bytes)(const char *);

static int find_counters(void)
{
    *(void **)&link_name = dlsym(RTLD_DEFAULT, "cuda_emu_link_name");
    *(void **)&link_bytes = dlsym(RTLD_DEFAULT, "cuda_emu_link_bytes");
    return link_name != NULL && link_bytes != NULL;
}

int MPI_Alltoallv(const void *send_buffer, const int *send_counts, const int *send_displs,
                  MPI_Datatype send_type, void *receive_buffer, const int *receive_counts,
                  const int *receive_displs, MPI_Datatype receive_type, MPI_Comm comm)
{
    static int n_calls;
    int counted = ++n_calls > 1 && find_counters();
    unsigned i;
    int code;

    (void)PMPI_Barrier(comm);
    for (i = 0; counted && i < MAX_LINKS && link_name(i) != NULL; i++) {
        before[i] = link_bytes(link_name(i));
    }
    (void)PMPI_Barrier(comm);
    code = PMPI_Alltoallv(send_buffer, send_counts, send_displs, send_type, receive_buffer,
                          receive_counts, receive_displs, receive_type, comm);
    (void)PMPI_Barrier(comm);
    for (i = 0; counted && i < MAX_LINKS && link_name(i) != NULL; i++) {
        moved[i] += link_bytes(link_name(i)) - before[i];
    }
    (void)PMPI_Barrier(comm);
    return code;
}

int MPI_Finalize(void)
{
    const char *name = getenv("METER_FILE");
    FILE *file = NULL;
    unsigned i;
    int rank;

    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && name != NULL && find_counters()) {
        file = fopen(name, "w");
    }
    for (i = 0; file != NULL && i < MAX_LINKS && link_name(i) != NULL; i++) {
        (void)fprintf(file, "%s %" PRIu64 "\n", link_name(i), moved[i]);
    }
    if (file != NULL && fclose(file) != 0) {
        (void)fprintf(stderr, "meter: cannot write %s\n", name);
    }
    return PMPI_Finalize();
}
