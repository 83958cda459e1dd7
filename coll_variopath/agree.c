/*
 * How ranks come to know the same: one report each, read by all.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdarg.h>
#include <stdio.h>

#include "coll_variopath/engine_private.h"

vp_status_t vp_engine_allgather(vp_engine_t *engine, const void *send, void *receive,
                                size_t n_bytes, vp_error_t *error)
{
    vp_status_t status = engine->around.allgather(engine->around.context, send, receive, n_bytes);

    return status == VP_OK
               ? VP_OK
               : vp_error_set(error, status,
                              "the allgather below this collective failed (%s); the communicator "
                              "cannot be used further",
                              vp_status_text(status));
}

vp_status_t vp_engine_alltoall(vp_engine_t *engine, const void *send, void *receive, size_t n_bytes,
                               vp_error_t *error)
{
    vp_status_t status = engine->around.alltoall(engine->around.context, send, receive, n_bytes);

    return status == VP_OK
               ? VP_OK
               : vp_error_set(error, status,
                              "the alltoall below this collective failed (%s); the communicator "
                              "cannot be used further",
                              vp_status_text(status));
}

vp_status_t vp_engine_agree(vp_engine_t *engine, const vp_report_t *mine, uint32_t *bad_p,
                            vp_error_t *error)
{
    uint32_t rank, bad = engine->n_ranks;
    vp_status_t status;

    vp_report_encode(mine, engine->send_wire);
    status = vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, VP_REPORT_BYTES,
                                 error);
    if (status != VP_OK) {
        return status;
    }
    for (rank = 0; rank < engine->n_ranks; rank++) {
        vp_report_decode(engine->receive_wire + (size_t)rank * VP_REPORT_BYTES,
                         &engine->reports[rank]);
        if (engine->reports[rank].status != VP_OK && bad == engine->n_ranks) {
            bad = rank;
        }
    }
    *bad_p = bad;
    return VP_OK;
}

static const char *class_name(const vp_engine_t *engine, uint32_t path_class)
{
    return path_class < engine->model->n_classes ? engine->model->classes[path_class].name : "?";
}

void vp_engine_report_text(const vp_engine_t *engine, uint32_t rank, char *text, size_t n_bytes)
{
    const vp_report_t *report = &engine->reports[rank];

    if (report->peer == rank) {
        (void)snprintf(text, n_bytes, "rank %u: %s", rank, vp_status_text(report->status));
    } else {
        (void)snprintf(text, n_bytes, "rank %u to rank %u over %s > %s: %s", rank, report->peer,
                       class_name(engine, report->source_class),
                       class_name(engine, report->destination_class),
                       vp_status_text(report->status));
    }
}

void vp_engine_lane_text(const vp_engine_t *engine, const vp_lane_t *lane, uint32_t index,
                         char *text, size_t n_bytes)
{
    const vp_instance_t *instance = &engine->model->instances[lane->instance];

    (void)snprintf(text, n_bytes, "lane %u, rank %u to rank %u over %s > %s", index,
                   engine->place_rank[lane->source], engine->place_rank[lane->destination],
                   class_name(engine, instance->source_class),
                   class_name(engine, instance->destination_class));
}

void vp_engine_trouble_text(const vp_engine_t *engine, const vp_trouble_t *trouble,
                            const vp_plan_t *plan, char *text, size_t n_bytes)
{
    const char *status = vp_status_text(trouble->status);
    char lane[96] = "";

    if (trouble->lane < plan->n_lanes) {
        vp_engine_lane_text(engine, &plan->lanes[trouble->lane], trouble->lane, lane, sizeof(lane));
    }
    if (trouble->cause == VP_CAUSE_LANE && lane[0] != '\0') {
        (void)snprintf(text, n_bytes, "%s: %s", lane, status);
    } else if (trouble->cause == VP_CAUSE_WAIT) {
        (void)snprintf(text, n_bytes, "rank %u waited for %s: %s", trouble->rank, lane, status);
    } else if (trouble->peer != trouble->rank) {
        (void)snprintf(text, n_bytes, "rank %u waited for rank %u: %s", trouble->rank,
                       trouble->peer, status);
    } else {
        (void)snprintf(text, n_bytes, "rank %u: %s", trouble->rank, status);
    }
}

bool vp_engine_is_broken(const vp_engine_t *engine, uint32_t *peer_p)
{
    uint32_t peer = engine->rank;

    if (engine->around.is_broken == NULL ||
        !engine->around.is_broken(engine->around.context, &peer)) {
        return false;
    }
    if (peer_p != NULL) {
        *peer_p = peer;
    }
    return true;
}

void vp_engine_decline(vp_engine_t *engine, uint32_t rank, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(engine->reason, sizeof(engine->reason), format, arguments);
    va_end(arguments);
    engine->state = VP_ENGINE_DECLINED;
    engine->reason_rank = rank;
    vp_log(engine->options.log, VP_LOG_CALL, "alltoallv on %u ranks is passed on from now on: %s",
           engine->n_ranks, engine->reason);
}
