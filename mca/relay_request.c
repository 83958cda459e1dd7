/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/relay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mca/request.h"

/* Relays whose inner request has been started; progress looks at them while there are any. */
static struct {
    pthread_mutex_t lock;
    vp_relay_t *first;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void relay_construct(vp_relay_t *relay)
{
    memset((char *)relay + sizeof(relay->super), 0, sizeof(*relay) - sizeof(relay->super));
}

static void relay_destruct(vp_relay_t *relay)
{
    vp_stage_release(&relay->stage);
    free(relay->types);
    if (NULL != relay->stage.comm) {
        OBJ_RELEASE(relay->stage.comm);
    }
    OMPI_REQUEST_FINI(&relay->super.super);
}

OBJ_CLASS_INSTANCE(vp_relay_t, ompi_coll_base_nbc_request_t, relay_construct, relay_destruct);

/* The inner request is complete. The relay may be gone afterwards. */
static void complete(vp_relay_t *relay)
{
    int code = relay->inner->req_status.MPI_ERROR;

    if (!relay->super.super.req_persistent) {
        (void)ompi_request_free(&relay->inner);
        relay->inner = NULL;
    }
    if (OMPI_SUCCESS == code) {
        code = vp_stage_empty(&relay->stage);
    }
    relay->super.super.req_status.MPI_ERROR = ompi_errcode_get_mpi_code(code);
    (void)ompi_request_complete(&relay->super.super, true);
}

/* Takes one out whose inner request is complete; NULL: there is none. */
static vp_relay_t *take_complete(void)
{
    vp_relay_t **link = &waiting.first, *relay;

    while (NULL != *link && !REQUEST_COMPLETE((*link)->inner)) {
        link = &(*link)->next;
    }
    relay = *link;
    if (NULL != relay) {
        *link = relay->next;
    }
    return relay;
}

/* A progress callback: returns the number of requests that it completed. */
static int advance(void)
{
    int n_complete = 0;
    vp_relay_t *relay;

    do {
        if (0 != pthread_mutex_trylock(&waiting.lock)) {
            return n_complete;
        }
        relay = take_complete();
        if (NULL == waiting.first) {
            (void)opal_progress_unregister(advance);
        }
        (void)pthread_mutex_unlock(&waiting.lock);
        if (NULL != relay) {
            complete(relay);
            n_complete++;
        }
    } while (NULL != relay);
    return n_complete;
}

static void wait_for(vp_relay_t *relay)
{
    vp_request_activate(&relay->super.super);
    (void)pthread_mutex_lock(&waiting.lock);
    if (NULL == waiting.first) {
        (void)opal_progress_register(advance);
    }
    relay->next = waiting.first;
    waiting.first = relay;
    (void)pthread_mutex_unlock(&waiting.lock);
}

static int start_all(size_t n_requests, ompi_request_t **requests)
{
    int code = OMPI_SUCCESS;
    size_t i;

    for (i = 0; i < n_requests && OMPI_SUCCESS == code; i++) {
        vp_relay_t *relay = (vp_relay_t *)requests[i];

        code = vp_stage_fill(&relay->stage);
        if (OMPI_SUCCESS == code) {
            code = relay->inner->req_start(1, &relay->inner);
        }
        if (OMPI_SUCCESS == code) {
            wait_for(relay);
        }
    }
    return code;
}

static int free_one(ompi_request_t **request_p)
{
    vp_relay_t *relay = (vp_relay_t *)*request_p;

    if (!REQUEST_COMPLETE(*request_p)) {
        return MPI_ERR_REQUEST;
    }
    if (NULL != relay->inner) {
        (void)ompi_request_free(&relay->inner);
    }
    OBJ_RELEASE(relay);
    *request_p = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

vp_relay_t *vp_relay_create(const vp_stage_t *stage, bool persistent)
{
    vp_relay_t *relay = OBJ_NEW(vp_relay_t);
    vp_stage_t taken = *stage;

    if (NULL == relay) {
        vp_stage_release(&taken);
        return NULL;
    }
    vp_request_init(&relay->super.super, stage->comm, persistent, start_all, free_one);
    relay->stage = taken;
    OBJ_RETAIN(stage->comm); /* the application may free it before the request */
    if (!vp_side_keep_types(stage->in_place ? NULL : &relay->stage.send.side,
                            &relay->stage.receive.side, stage->n_ranks, &relay->types)) {
        OBJ_RELEASE(relay);
        return NULL;
    }
    return relay;
}

int vp_relay_open(vp_relay_t *relay, int code, ompi_request_t **request_p)
{
    if (OMPI_SUCCESS != code) {
        OBJ_RELEASE(relay);
        return code;
    }
    if (!relay->super.super.req_persistent) {
        wait_for(relay);
    }
    *request_p = &relay->super.super;
    return OMPI_SUCCESS;
}
