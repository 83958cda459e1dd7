/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/job.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum {
    ADDRESS_BYTES = 512,
    KEYS_BYTES = 512 * VP_MAX_CLASSES_PER_RANK,
    IDLE_US = 200,
    CONNECT_LIMIT_MS = 30000
};

/* What a rank tells the others. */
typedef struct note {
    uint64_t buffer;
    uint64_t n_key_bytes;
    unsigned char keys[KEYS_BYTES];
} note_t;

struct vp_probe_job {
    const vp_model_t *model;
    vp_lanes_t *lanes;
    vp_region_t *region;
    unsigned char *buffer;
    unsigned char *addresses; /* [n_ranks][n_classes][ADDRESS_BYTES], zeroes for closed classes */
    uint64_t *address_bytes;  /* [n_ranks][n_classes] */
    note_t *notes;            /* [n_ranks] */
    uint32_t rank;
};

static bool proceed(void *context)
{
    (void)vp_lanes_progress(((vp_probe_job_t *)context)->lanes);
    return true;
}

/* A barrier during which lanes go on; ranks without a part in a case leave the CPUs to the others.
 */
static void wait_for_all(vp_probe_job_t *job, bool is_idle)
{
    MPI_Request request;
    int done = 0;

    (void)MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        (void)MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (vp_lanes_progress(job->lanes) == 0 && !done) {
            if (is_idle) {
                (void)usleep(IDLE_US);
            } else {
                (void)sched_yield();
            }
        }
    }
}

vp_status_t vp_probe_agree(vp_status_t status, vp_error_t *error)
{
    struct {
        int failed;
        int rank;
    } mine, first;
    int text_bytes = (int)sizeof(error->text);

    (void)MPI_Comm_rank(MPI_COMM_WORLD, &mine.rank);
    mine.failed = status != VP_OK;
    (void)MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (!first.failed) {
        return VP_OK;
    }
    (void)MPI_Bcast(error->text, text_bytes, MPI_BYTE, first.rank, MPI_COMM_WORLD);
    (void)MPI_Bcast(&error->status, 1, MPI_INT, first.rank, MPI_COMM_WORLD);
    return error->status;
}

static vp_status_t open_lanes(vp_probe_job_t *job, size_t n_bytes, vp_error_t *error)
{
    const vp_model_t *model = job->model;
    uint32_t group = model->rank_group[job->rank];
    bool *wanted = vp_array_new(model->n_classes, sizeof(*wanted));
    vp_lanes_config_t config = {.classes = model->classes,
                                .n_classes = model->n_classes,
                                .wanted = wanted,
                                .estimated_peers = model->n_ranks};
    vp_status_t status;
    uint32_t i;

    if (wanted == NULL) {
        return vp_error_no_memory(error, "the list of path classes");
    }
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        wanted[it->source_class] = wanted[it->source_class] || it->from_group == group;
        wanted[it->destination_class] = wanted[it->destination_class] || it->to_group == group;
    }
    status = vp_lanes_create(&config, &job->lanes, error);
    if (status == VP_OK) {
        status = vp_lanes_register(job->lanes, job->buffer, n_bytes, false, &job->region, error);
    }
    free(wanted);
    return status;
}

static vp_status_t allocate(vp_probe_job_t *job, size_t n_bytes, vp_error_t *error)
{
    size_t n_ends = (size_t)job->model->n_ranks * job->model->n_classes;

    job->buffer = vp_array_new(n_bytes, 1);
    job->addresses = vp_array_new(n_ends, ADDRESS_BYTES);
    job->address_bytes = vp_array_new(n_ends, sizeof(*job->address_bytes));
    job->notes = vp_array_new(job->model->n_ranks, sizeof(*job->notes));
    if (job->buffer == NULL || job->addresses == NULL || job->address_bytes == NULL ||
        job->notes == NULL) {
        return vp_error_no_memory(error, "the buffers of a measurement");
    }
    return VP_OK;
}

/* Fills in this rank's parts of what is exchanged. */
static vp_status_t describe(vp_probe_job_t *job, vp_error_t *error)
{
    note_t *note = &job->notes[job->rank];
    size_t first = (size_t)job->rank * job->model->n_classes;
    size_t n_key_bytes;
    const void *keys = vp_region_keys(job->region, &n_key_bytes);
    uint32_t i;

    note->buffer = (uint64_t)(uintptr_t)job->buffer;
    note->n_key_bytes = n_key_bytes;
    for (i = 0; n_key_bytes <= KEYS_BYTES && i < job->model->n_classes; i++) {
        const void *address;
        size_t n_bytes;

        if (vp_lanes_address(job->lanes, i, &address, &n_bytes, NULL) != VP_OK) {
            continue; /* not a class of this rank */
        }
        if (n_bytes > ADDRESS_BYTES) {
            return vp_error_set(error, VP_ERR_LIMIT,
                                "the address of path class \"%s\" has %zu bytes, the limit is %d; "
                                "narrow its devices in the topology file",
                                job->model->classes[i].name, n_bytes, ADDRESS_BYTES);
        }
        memcpy(job->addresses + (first + i) * ADDRESS_BYTES, address, n_bytes);
        job->address_bytes[first + i] = n_bytes;
    }
    if (n_key_bytes > KEYS_BYTES) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "the remote keys of rank %u have %zu bytes, the limit is %d; use fewer "
                            "path classes",
                            (unsigned)job->rank, n_key_bytes, KEYS_BYTES);
    }
    memcpy(note->keys, keys, n_key_bytes);
    return VP_OK;
}

static void exchange(vp_probe_job_t *job)
{
    int n_classes = (int)job->model->n_classes;

    (void)MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->addresses,
                        n_classes * ADDRESS_BYTES, MPI_BYTE, MPI_COMM_WORLD);
    (void)MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->address_bytes, n_classes,
                        MPI_UINT64_T, MPI_COMM_WORLD);
    (void)MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->notes, (int)sizeof(note_t),
                        MPI_BYTE, MPI_COMM_WORLD);
}

static vp_status_t connect_flow(vp_probe_job_t *job, const vp_probe_flow_t *flow, vp_error_t *error)
{
    const vp_instance_t *instance = &job->model->instances[flow->instance];
    size_t end = (size_t)flow->destination * job->model->n_classes + instance->destination_class;

    return vp_lanes_connect(job->lanes, flow->destination, instance->source_class,
                            instance->destination_class, job->addresses + end * ADDRESS_BYTES,
                            job->address_bytes[end], CONNECT_LIMIT_MS, proceed, job, error);
}

/* Lower ranks first, then the other direction: no endpoint is made while its converse is. */
static vp_status_t connect_all(vp_probe_job_t *job, const vp_probe_case_t *cases, size_t n_cases,
                               vp_error_t *error)
{
    vp_status_t status = VP_OK;
    int phase;
    size_t i;

    for (phase = 0; phase < 2; phase++) {
        for (i = 0; status == VP_OK && i < 2 * n_cases; i++) {
            const vp_probe_flow_t *flow = &cases[i / 2].flows[i % 2];

            if (i % 2 < cases[i / 2].n_flows && flow->source == job->rank &&
                (flow->source < flow->destination) == (phase == 0)) {
                status = connect_flow(job, flow, error);
            }
        }
        wait_for_all(job, false);
        status = vp_probe_agree(status, error);
    }
    return status;
}

vp_status_t vp_probe_job_create(const vp_model_t *model, const vp_probe_case_t *cases,
                                size_t n_cases, size_t n_bytes, vp_probe_job_t **job_p,
                                vp_error_t *error)
{
    vp_probe_job_t *job = vp_array_new(1, sizeof(*job));
    vp_status_t status =
        vp_probe_agree(job == NULL ? vp_error_no_memory(error, "a measurement") : VP_OK, error);
    int rank;

    if (status != VP_OK) {
        free(job);
        return status;
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    job->model = model;
    job->rank = (uint32_t)rank;
    status = allocate(job, n_bytes, error);
    if (status == VP_OK) {
        status = open_lanes(job, n_bytes, error);
    }
    if (status == VP_OK) {
        status = describe(job, error);
    }
    status = vp_probe_agree(status, error);
    if (status == VP_OK) {
        exchange(job);
        status = connect_all(job, cases, n_cases, error);
    }
    if (status != VP_OK) {
        vp_probe_job_destroy(job);
        return status;
    }
    *job_p = job;
    return VP_OK;
}

void vp_probe_job_destroy(vp_probe_job_t *job)
{
    if (job == NULL) {
        return;
    }
    if (job->lanes != NULL) {
        vp_lanes_unregister(job->lanes, job->region);
        vp_lanes_close(job->lanes);
    }
    (void)MPI_Barrier(MPI_COMM_WORLD); /* also of ranks whose lanes did not open */
    vp_lanes_destroy(job->lanes);
    free(job->buffer);
    free(job->addresses);
    free(job->address_bytes);
    free(job->notes);
    free(job);
}

static vp_status_t put(vp_probe_job_t *job, const vp_probe_flow_t *flow, size_t n_bytes,
                       vp_error_t *error)
{
    const vp_instance_t *instance = &job->model->instances[flow->instance];
    const note_t *there = &job->notes[flow->destination];
    vp_window_t *window = NULL;
    vp_operation_t *operation = NULL;
    bool done = false;
    vp_status_t status = vp_lanes_open_window(job->lanes, flow->destination, instance->source_class,
                                              instance->destination_class, there->keys,
                                              (size_t)there->n_key_bytes, &window, error);

    if (status == VP_OK) {
        status = vp_lanes_put(job->lanes, window, job->buffer, false, there->buffer, n_bytes,
                              &operation, error);
    }
    while (status == VP_OK && !done) {
        if (vp_lanes_progress(job->lanes) == 0) {
            (void)sched_yield();
        }
        status = vp_lanes_test(job->lanes, &operation, &done, error);
    }
    vp_lanes_close_window(job->lanes, window);
    return status;
}

vp_status_t vp_probe_job_run(vp_probe_job_t *job, const vp_probe_case_t *it, size_t n_bytes,
                             double *seconds_p, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    bool is_idle = true;
    double seconds = 0;
    uint32_t i;

    wait_for_all(job, false);
    for (i = 0; i < it->n_flows; i++) {
        is_idle = is_idle && it->flows[i].destination != job->rank;
        if (it->flows[i].source == job->rank) {
            double begin = MPI_Wtime();

            status = put(job, &it->flows[i], n_bytes, error);
            seconds = MPI_Wtime() - begin;
            is_idle = false;
        }
    }
    wait_for_all(job, is_idle);
    status = vp_probe_agree(status, error);
    (void)MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (status == VP_OK) {
        *seconds_p = seconds;
    }
    return status;
}

vp_status_t vp_probe_job_overhead(vp_probe_job_t *job, const vp_probe_case_t *it, double *seconds_p,
                                  vp_error_t *error)
{
    const vp_probe_flow_t *flow = &it->flows[0];
    vp_status_t status = VP_OK;
    double begin;
    double seconds;

    wait_for_all(job, false);
    begin = MPI_Wtime();
    if (flow->source == job->rank) {
        status = put(job, flow, 1, error);
    }
    wait_for_all(job, false);
    seconds = MPI_Wtime() - begin;
    status = vp_probe_agree(status, error);
    (void)MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (status == VP_OK) {
        *seconds_p = seconds;
    }
    return status;
}
