/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/request.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mca/transfer.h"

/*
 * Whoever holds `running` resumes fibers and owns the strands' lists; it is only
 * ever tried, so progress that is made inside a fiber's own call ends here.
 */
static struct scheduler {
    pthread_mutex_t running;
    pthread_mutex_t lock; /* of what follows */
    vp_request_t *started;
    vp_request_t **started_end;
    bool watching;
    vp_strand_t *strands; /* that have requests */
    int n_live;           /* requests started and not complete; atomic */
} scheduler = {.running = PTHREAD_MUTEX_INITIALIZER,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .started_end = &scheduler.started};

static void request_construct(vp_request_t *request)
{
    memset((char *)request + sizeof(request->super), 0, sizeof(*request) - sizeof(request->super));
}

static void request_destruct(vp_request_t *request)
{
    vp_engine_destroy(request->own.engine);
    vp_catalog_destroy(request->own.catalog);
    vp_messages_close(&request->own);
    free(request->types);
    free(request->blocks);
    free(request->packed.memory);
    if (NULL != request->rounds.comm) {
        OBJ_RELEASE(request->rounds.comm);
    }
    OMPI_REQUEST_FINI(&request->super.super);
}

OBJ_CLASS_INSTANCE(vp_request_t, ompi_coll_base_nbc_request_t, request_construct, request_destruct);

/* The peers' blocks arrive in what an in-place call sends: it sends a copy of the same layout. */
static char *clone_blocks(const vp_side_t *side, int n_ranks, vp_side_t *clone)
{
    uint64_t begin = UINT64_MAX, end = 0;
    char *memory;
    int i;

    *clone = *side;
    for (i = 0; i < n_ranks; i++) {
        const vp_piece_t piece = vp_side_piece(side, i);
        const vp_extent_t extent = vp_piece_extent(&piece);

        if (0 < extent.n_bytes) {
            begin = extent.begin < begin ? extent.begin : begin;
            end = extent.end > end ? extent.end : end;
        }
    }
    memory = malloc(begin < end ? (size_t)(end - begin) : 1);
    for (i = 0; NULL != memory && i < n_ranks; i++) {
        const vp_piece_t piece = vp_side_piece(side, i);
        const vp_extent_t extent = vp_piece_extent(&piece);

        if (0 < extent.n_bytes) {
            memcpy(memory + (extent.begin - begin), (const void *)(uintptr_t)extent.begin,
                   (size_t)(extent.end - extent.begin));
        }
    }
    clone->buffer = (void *)((uintptr_t)memory + ((uintptr_t)side->buffer - (uintptr_t)begin));
    return memory;
}

/* What the collective below does for a blocking call. */
static int exchange(vp_request_t *request, vp_transfer_t *transfer)
{
    vp_side_t send = transfer->send, receive = transfer->receive;
    char *memory = NULL;
    int code;

    receive.buffer = vp_stage_receive_buffer(&transfer->stage);
    if (request->in_place) {
        memory = clone_blocks(&receive, ompi_comm_size(transfer->module->comm), &send);
        if (NULL == memory) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    } else {
        send.buffer = vp_stage_send_buffer(&transfer->stage);
    }
    code = vp_rounds_exchange(&request->rounds, &send, &receive);
    free(memory);
    return code;
}

static int carry(vp_request_t *request)
{
    vp_transfer_t transfer;
    vp_verdict_t verdict;
    int code = vp_strand_prepare(request->strand, request->receive.buffer);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    vp_transfer_begin(&transfer, request->strand, request->what,
                      request->in_place ? NULL : &request->send, &request->receive, request->blocks,
                      &request->packed);
    code = vp_transfer_run(&transfer, &verdict);
    if (VP_CARRIED == verdict) {
        return code;
    }
    code = vp_stage_enter(&transfer.stage, VP_STAGED == verdict);
    return OMPI_SUCCESS == code ? vp_stage_leave(&transfer.stage, exchange(request, &transfer))
                                : code;
}

static void run(void *argument)
{
    vp_request_t *request = argument;

    request->strand->rounds = &request->rounds;
    request->code = vp_below_code(request->rounds.comm, carry(request));
    request->strand->rounds = NULL;
}

/* Puts what was started since the last time on its strand. */
static void take_started(void)
{
    vp_request_t *request, *next;

    (void)pthread_mutex_lock(&scheduler.lock);
    request = scheduler.started;
    scheduler.started = NULL;
    scheduler.started_end = &scheduler.started;
    (void)pthread_mutex_unlock(&scheduler.lock);
    for (; NULL != request; request = next) {
        vp_strand_t *strand = request->strand;

        next = request->next;
        request->next = NULL;
        if (NULL == strand->first) {
            strand->first = request;
            strand->next = scheduler.strands;
            scheduler.strands = strand;
        } else {
            strand->last->next = request;
        }
        strand->last = request;
    }
}

/*
 * The request is off its strand. Once it is complete, the application may free it, and
 * with it the communicator and the strand: nothing of them is touched afterwards.
 */
static void complete(vp_request_t *request)
{
    vp_fiber_destroy(request->rounds.fiber);
    request->rounds.fiber = NULL;
    request->super.super.req_status.MPI_ERROR = ompi_errcode_get_mpi_code(request->code);
    (void)__atomic_fetch_sub(&request->strand->n_pending, 1, __ATOMIC_RELEASE);
    (void)__atomic_fetch_sub(&scheduler.n_live, 1, __ATOMIC_RELEASE);
    (void)ompi_request_complete(&request->super.super, true);
}

/* Runs the first request of the strand at *strand_p; takes the strand out when it was the last. */
static bool step(vp_strand_t **strand_p)
{
    vp_strand_t *strand = *strand_p;
    vp_request_t *request = strand->first;

    if (!vp_rounds_ready(&request->rounds) || !vp_fiber_resume(request->rounds.fiber)) {
        return false;
    }
    strand->first = request->next;
    if (NULL == strand->first) {
        *strand_p = strand->next;
    }
    complete(request);
    return true;
}

/* A progress callback: returns the number of requests that it completed. */
static int advance(void)
{
    vp_strand_t **strand_p = &scheduler.strands;
    int n_complete = 0;

    if (0 == __atomic_load_n(&scheduler.n_live, __ATOMIC_ACQUIRE) ||
        0 != pthread_mutex_trylock(&scheduler.running)) {
        return 0;
    }
    take_started();
    while (NULL != *strand_p) {
        vp_strand_t *strand = *strand_p;

        n_complete += step(strand_p);
        if (*strand_p == strand) {
            strand_p = &strand->next;
        }
    }
    (void)pthread_mutex_unlock(&scheduler.running);
    return n_complete;
}

void vp_request_drain(vp_strand_t *strand)
{
    while (0 < __atomic_load_n(&strand->n_pending, __ATOMIC_ACQUIRE)) {
        opal_progress();
    }
}

void vp_request_close(void)
{
    if (scheduler.watching) {
        (void)opal_progress_unregister(advance);
        scheduler.watching = false;
    }
}

void vp_request_activate(ompi_request_t *base)
{
    base->req_status.MPI_ERROR = MPI_SUCCESS;
    base->req_complete = REQUEST_PENDING;
    base->req_state = OMPI_REQUEST_ACTIVE;
}

int vp_request_start(vp_request_t *request)
{
    ompi_request_t *base = &request->super.super;

    request->rounds.fiber = vp_fiber_create(run, request);
    if (NULL == request->rounds.fiber) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    vp_request_activate(base);
    request->next = NULL;
    (void)__atomic_fetch_add(&request->strand->n_pending, 1, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&scheduler.n_live, 1, __ATOMIC_RELEASE);
    (void)pthread_mutex_lock(&scheduler.lock);
    *scheduler.started_end = request;
    scheduler.started_end = &request->next;
    if (!scheduler.watching) {
        scheduler.watching = true;
        (void)opal_progress_register(advance);
    }
    (void)pthread_mutex_unlock(&scheduler.lock);
    (void)advance();
    return OMPI_SUCCESS;
}

static int start_all(size_t n_requests, ompi_request_t **requests)
{
    int code = OMPI_SUCCESS;
    size_t i;

    for (i = 0; i < n_requests && OMPI_SUCCESS == code; i++) {
        code = vp_request_start((vp_request_t *)requests[i]);
    }
    return code;
}

static int free_one(ompi_request_t **request_p)
{
    vp_request_t *request = (vp_request_t *)*request_p;

    if (!REQUEST_COMPLETE(*request_p)) {
        return MPI_ERR_REQUEST;
    }
    OBJ_RELEASE(request);
    *request_p = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

void vp_request_init(ompi_request_t *base, struct ompi_communicator_t *comm, bool persistent,
                     ompi_request_start_fn_t start, ompi_request_free_fn_t release)
{
    OMPI_REQUEST_INIT(base, persistent);
    base->req_type = OMPI_REQUEST_COLL;
    base->req_mpi_object.comm = comm;
    base->req_free = release;
    base->req_start = start;
    base->req_cancel = NULL;
    base->req_status.MPI_SOURCE = MPI_ANY_SOURCE;
    base->req_status.MPI_TAG = MPI_ANY_TAG;
    base->req_status.MPI_ERROR = MPI_SUCCESS;
    base->req_status._ucount = 0;
    base->req_status._cancelled = 0;
}

vp_request_t *vp_request_create(vp_module_t *module, const char *what, const vp_side_t *send,
                                const vp_side_t *receive, bool persistent)
{
    int n_ranks = ompi_comm_size(module->comm);
    /* Reserved whatever else happens: ranks count alike. */
    int tag = ompi_coll_base_nbc_reserve_tags(module->comm, persistent ? 2 : 1);
    vp_request_t *request = OBJ_NEW(vp_request_t);

    if (NULL == request) {
        return NULL;
    }
    vp_request_init(&request->super.super, module->comm, persistent, start_all, free_one);
    request->own.module = module;
    request->own.messages.tag = tag - 1;
    request->strand = persistent ? &request->own : &module->strand;
    request->what = what;
    request->in_place = MPI_IN_PLACE == send->buffer;
    request->send = *send;
    request->receive = *receive;
    request->rounds.comm = module->comm; /* the application may free it before the request */
    OBJ_RETAIN(module->comm);
    request->rounds.tag = tag;
    request->blocks = vp_array_new(2 * (size_t)n_ranks, sizeof(*request->blocks));
    if (NULL == request->blocks ||
        !vp_side_keep_types(request->in_place ? NULL : &request->send, &request->receive, n_ranks,
                            &request->types)) {
        OBJ_RELEASE(request);
        return NULL;
    }
    return request;
}
