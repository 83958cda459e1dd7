/*
 * Small messages between the ranks of a communicator, point to point: the part of
 * the engine's surroundings that is no collective. They have a tag of their own, so
 * that a receive from any source meets nothing else.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

_Static_assert(VP_MESSAGE_TAG < MCA_COLL_BASE_TAG_NEIGHBOR_END &&
                   VP_MESSAGE_TAG < MCA_COLL_BASE_TAG_NONBLOCKING_END,
               "no call of Open MPI's may reach this tag by counting");
_Static_assert(((uint32_t)VP_MESSAGE_TAG & 0xffffff) == 0xfffffe, "nor where 24 bits are kept");

/* A message that the layer below still reads. */
struct vp_outgoing {
    vp_outgoing_t *next;
    struct ompi_request_t *request;
    char bytes[VP_MESSAGE_BYTES];
};

static void reap(vp_messages_t *messages)
{
    vp_outgoing_t **link = &messages->outgoing;

    while (NULL != *link) {
        vp_outgoing_t *outgoing = *link;

        if (REQUEST_COMPLETE(outgoing->request)) {
            *link = outgoing->next;
            (void)ompi_request_free(&outgoing->request);
            free(outgoing);
        } else {
            link = &outgoing->next;
        }
    }
}

vp_status_t vp_messages_send(void *context, uint32_t peer, const void *message)
{
    vp_strand_t *strand = context;
    vp_outgoing_t *outgoing = malloc(sizeof(*outgoing));
    int code;

    if (NULL == outgoing) {
        return VP_ERR_NO_MEMORY;
    }
    memcpy(outgoing->bytes, message, VP_MESSAGE_BYTES);
    code = MCA_PML_CALL(isend(outgoing->bytes, VP_MESSAGE_BYTES, MPI_BYTE, (int)peer,
                              strand->messages.tag, MCA_PML_BASE_SEND_STANDARD,
                              strand->module->comm, &outgoing->request));
    if (OMPI_SUCCESS != code) {
        free(outgoing);
        return VP_ERR_TRANSPORT;
    }
    outgoing->next = strand->messages.outgoing;
    strand->messages.outgoing = outgoing;
    reap(&strand->messages);
    return VP_OK;
}

vp_status_t vp_messages_receive(void *context, void *message, bool *arrived_p)
{
    vp_strand_t *strand = context;
    vp_messages_t *messages = &strand->messages;
    int code = OMPI_SUCCESS;

    *arrived_p = false;
    if (NULL == messages->incoming &&
        OMPI_SUCCESS !=
            MCA_PML_CALL(irecv(messages->bytes, VP_MESSAGE_BYTES, MPI_BYTE, MPI_ANY_SOURCE,
                               messages->tag, strand->module->comm, &messages->incoming))) {
        messages->incoming = NULL;
        return VP_ERR_TRANSPORT;
    }
    if (!REQUEST_COMPLETE(messages->incoming)) {
        return VP_OK;
    }
    code = messages->incoming->req_status.MPI_ERROR;
    memcpy(message, messages->bytes, VP_MESSAGE_BYTES);
    (void)ompi_request_free(&messages->incoming);
    messages->incoming = NULL;
    if (OMPI_SUCCESS != code) {
        return VP_ERR_TRANSPORT;
    }
    *arrived_p = true;
    return VP_OK;
}

void vp_messages_abandon(void *context)
{
    vp_messages_t *messages = &((vp_strand_t *)context)->messages;

    if (NULL != messages->incoming) {
        if (!REQUEST_COMPLETE(messages->incoming)) {
            (void)ompi_request_cancel(messages->incoming);
        }
        (void)ompi_request_free(&messages->incoming);
        messages->incoming = NULL;
    }
}

void vp_messages_close(vp_strand_t *strand)
{
    vp_messages_t *messages = &strand->messages;
    vp_outgoing_t *outgoing;

    vp_messages_abandon(strand);
    reap(messages);
    /* What is left goes to a rank that does not answer; the layer below may still read it. */
    for (outgoing = messages->outgoing; NULL != outgoing; outgoing = outgoing->next) {
        (void)ompi_request_free(&outgoing->request);
    }
}
