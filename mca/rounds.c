/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "coll_variopath/surroundings.h"
#include "mca/component.h"

/* A failure that anybody may have left the exchange for is one too: nothing more may come. */
bool vp_rounds_ready(const vp_rounds_t *rounds)
{
    int i;

    if (0 < rounds->n_waiting && OMPI_SUCCESS != vp_below_fault(rounds->comm)) {
        return true;
    }

    for (i = 0; i < rounds->n_waiting; i++) {
        if (!REQUEST_COMPLETE(rounds->waiting[i])) {
            return false;
        }
    }
    return true;
}

/* Frees a request; one that is not complete, because somebody died, is given up. */
static int end_request(const vp_rounds_t *rounds, ompi_request_t **request_p)
{
    int code;

    if (REQUEST_COMPLETE(*request_p)) {
        code = (*request_p)->req_status.MPI_ERROR;
    } else {
        code = vp_below_fault(rounds->comm);
        (void)ompi_request_cancel(*request_p);
    }
    (void)ompi_request_free(request_p);
    return code;
}

/* Waits for all and frees them; the first code that is no success. */
static int finish(vp_rounds_t *rounds, ompi_request_t **requests, int n_requests)
{
    int code = OMPI_SUCCESS;
    int i;

    rounds->waiting = requests;
    rounds->n_waiting = n_requests;
    while (!vp_rounds_ready(rounds)) {
        if (NULL == rounds->fiber) {
            opal_progress();
        } else {
            vp_fiber_pause(rounds->fiber);
        }
    }
    rounds->waiting = NULL;
    rounds->n_waiting = 0;
    for (i = 0; i < n_requests; i++) {
        int ended = end_request(rounds, &requests[i]);

        code = OMPI_SUCCESS == code ? ended : code;
    }
    return code;
}

static int post_receive(const vp_rounds_t *rounds, void *buffer, size_t count,
                        struct ompi_datatype_t *type, int peer, ompi_request_t **request_p)
{
    return MCA_PML_CALL(irecv(buffer, count, type, peer, rounds->tag, rounds->comm, request_p));
}

static int post_send(const vp_rounds_t *rounds, const void *buffer, size_t count,
                     struct ompi_datatype_t *type, int peer, ompi_request_t **request_p)
{
    return MCA_PML_CALL(isend(buffer, count, type, peer, rounds->tag, MCA_PML_BASE_SEND_STANDARD,
                              rounds->comm, request_p));
}

vp_status_t vp_rounds_swap(vp_rounds_t *rounds, const void *send, size_t n_sent, uint32_t to,
                           void *receive, size_t n_received, uint32_t from)
{
    ompi_request_t *requests[2];
    int n_requests = 0, code = OMPI_SUCCESS, ended;

    if (VP_NOBODY != from) {
        code = post_receive(rounds, receive, n_received, MPI_BYTE, (int)from, &requests[0]);
        n_requests += OMPI_SUCCESS == code;
    }
    if (VP_NOBODY != to && OMPI_SUCCESS == code) {
        code = post_send(rounds, send, n_sent, MPI_BYTE, (int)to, &requests[n_requests]);
        if (OMPI_SUCCESS == code) {
            n_requests++;
        } else if (0 < n_requests) {
            (void)ompi_request_cancel(requests[0]);
        }
    }
    ended = finish(rounds, requests, n_requests);
    return OMPI_SUCCESS == code && OMPI_SUCCESS == ended ? VP_OK : VP_ERR_TRANSPORT;
}

/*
 * Bruck's algorithm: in round k what is known of 2^k ranks goes 2^k ranks down.
 * Rank's own part is first in `known`, its successors' follow.
 */
static vp_status_t gather_known(vp_rounds_t *rounds, char *known, size_t n_bytes, uint32_t rank,
                                uint32_t n_ranks)
{
    vp_status_t status = VP_OK;
    uint32_t distance;

    for (distance = 1; distance < n_ranks && VP_OK == status; distance *= 2) {
        uint32_t n_parts = distance < n_ranks - distance ? distance : n_ranks - distance;

        status = vp_rounds_swap(rounds, known, n_parts * n_bytes,
                                (rank + n_ranks - distance) % n_ranks, known + distance * n_bytes,
                                n_parts * n_bytes, (rank + distance) % n_ranks);
    }
    return status;
}

vp_status_t vp_rounds_allgather(vp_rounds_t *rounds, const void *send, void *receive,
                                size_t n_bytes)
{
    int rank = ompi_comm_rank(rounds->comm), n_ranks = ompi_comm_size(rounds->comm);
    char *known = malloc((size_t)n_ranks * n_bytes + 1);
    size_t n_last = (size_t)(n_ranks - rank) * n_bytes; /* of this rank to the last one */
    vp_status_t status;

    if (NULL == known) {
        return VP_ERR_NO_MEMORY;
    }
    memcpy(known, send, n_bytes);
    status = gather_known(rounds, known, n_bytes, (uint32_t)rank, (uint32_t)n_ranks);
    if (VP_OK != status) {
        return status; /* a send that was given up may still read what is known */
    }
    memcpy((char *)receive + (size_t)rank * n_bytes, known, n_last);
    memcpy(receive, known + n_last, (size_t)rank * n_bytes);
    free(known);
    return VP_OK;
}

/* Posts one direction of an exchange, a message per block that has bytes. */
static int post_all(const vp_rounds_t *rounds, const vp_side_t *side, bool sends,
                    ompi_request_t **requests, int *n_requests_p)
{
    int rank = ompi_comm_rank(rounds->comm), n_ranks = ompi_comm_size(rounds->comm);
    int i, code = OMPI_SUCCESS;

    for (i = 0; i < n_ranks && OMPI_SUCCESS == code; i++) {
        /* Each rank begins behind itself, so that not all send to the same one first. */
        int peer = (sends ? rank + i : rank - i + n_ranks) % n_ranks;
        const vp_piece_t piece = vp_side_piece(side, peer);

        if (0 == vp_piece_extent(&piece).n_bytes) {
            continue;
        }
        code = sends ? post_send(rounds, (const void *)piece.address, piece.count, piece.type, peer,
                                 &requests[*n_requests_p])
                     : post_receive(rounds, (void *)piece.address, piece.count, piece.type, peer,
                                    &requests[*n_requests_p]);
        *n_requests_p += OMPI_SUCCESS == code;
    }
    return code;
}

int vp_rounds_exchange(vp_rounds_t *rounds, const vp_side_t *send, const vp_side_t *receive)
{
    int n_ranks = ompi_comm_size(rounds->comm);
    ompi_request_t **requests = calloc(2 * (size_t)n_ranks, sizeof(ompi_request_t *));
    int n_requests = 0;
    int code, finished;

    if (NULL == requests) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    code = post_all(rounds, receive, false, requests, &n_requests);
    if (OMPI_SUCCESS == code) {
        code = post_all(rounds, send, true, requests, &n_requests);
    }
    finished = finish(rounds, requests, n_requests);
    free(requests);
    return OMPI_SUCCESS == code ? finished : code;
}

vp_status_t vp_rounds_alltoall(vp_rounds_t *rounds, const void *send, void *receive, size_t n_bytes)
{
    const vp_side_t from = vp_side_uniform(send, n_bytes, MPI_BYTE);
    const vp_side_t to = vp_side_uniform(receive, n_bytes, MPI_BYTE);

    return OMPI_SUCCESS == vp_rounds_exchange(rounds, &from, &to) ? VP_OK : VP_ERR_TRANSPORT;
}
