/*
 * rails: RailS (arXiv 2510.19262). Each rank spreads its own messages to other
 * nodes over all NICs of its node by longest processing time: messages in
 * descending size, each whole to the NIC that it would finish first on, counting
 * this rank's messages only. NIC k talks to NIC k (modulo) of the destination's
 * node. Inside a node, nearest path. No global exchange; everything at once, no
 * barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"

typedef struct message {
    uint64_t n_bytes;
    uint32_t destination;
} message_t;

typedef struct rails {
    vp_traffic_t *traffic;
    message_t *messages;  /* [n_ranks] of one rank */
    uint32_t *nics;       /* [n_nics] by node */
    uint32_t *node_begin; /* [n_nodes + 1] */
    uint64_t *loads;      /* [n_nics] bytes of one rank */
} rails_t;

static int compare_messages(const void *a, const void *b)
{
    const message_t *left = a;
    const message_t *right = b;

    if (left->n_bytes != right->n_bytes) {
        return left->n_bytes < right->n_bytes ? 1 : -1;
    }
    return (left->destination > right->destination) - (left->destination < right->destination);
}

static void index_nics(rails_t *rails)
{
    const vp_model_t *model = rails->traffic->machine->model;
    uint32_t n = 0;
    uint32_t node;
    uint32_t i;

    for (node = 0; node < model->n_nodes; node++) {
        rails->node_begin[node] = n;
        for (i = 0; i < model->n_nics; i++) {
            if (model->nics[i].node == node) {
                rails->nics[n++] = i;
            }
        }
    }
    rails->node_begin[model->n_nodes] = n;
}

static vp_status_t send_over_rail(rails_t *rails, uint32_t source, const message_t *message,
                                  vp_error_t *error)
{
    vp_traffic_t *traffic = rails->traffic;
    const vp_machine_t *machine = traffic->machine;
    uint32_t from = vp_rank_node(machine, source);
    uint32_t to = vp_rank_node(machine, message->destination);
    uint32_t n_from = rails->node_begin[from + 1] - rails->node_begin[from];
    uint32_t n_to = rails->node_begin[to + 1] - rails->node_begin[to];
    uint64_t best_ns = UINT64_MAX;
    uint32_t best = 0;
    uint32_t i;
    vp_path_t path;
    vp_status_t status;

    if (n_from == 0 || n_to == 0) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "node %" PRIu32 " or %" PRIu32 " has no NIC: algorithm \"rails\" "
                            "cannot run on topology \"%s\"",
                            from, to, machine->model->name);
    }
    for (i = 0; i < n_from; i++) {
        uint32_t nic = rails->nics[rails->node_begin[from] + i];
        uint64_t time_ns = vp_transfer_ns(vp_add_sat(rails->loads[nic], message->n_bytes),
                                          machine->model->nics[nic].bytes_per_s);

        if (time_ns < best_ns) {
            best_ns = time_ns;
            best = i;
        }
    }
    rails->loads[rails->nics[rails->node_begin[from] + best]] += message->n_bytes;
    status = vp_path_between_nics(machine, source, message->destination,
                                  rails->nics[rails->node_begin[from] + best],
                                  rails->nics[rails->node_begin[to] + best % n_to], &path, error);
    return status != VP_OK ? status
                           : vp_traffic_send(traffic, source, &path, message->n_bytes,
                                             VP_OPERATION_PUT, VP_START_NOW, NULL, error);
}

static vp_status_t send_inside(vp_traffic_t *traffic, uint32_t source, const message_t *message,
                               vp_error_t *error)
{
    vp_path_t path;
    vp_status_t status =
        vp_path_nearest(traffic->machine, source, message->destination, &path, error);

    return status != VP_OK ? status
                           : vp_traffic_send(traffic, source, &path, message->n_bytes,
                                             VP_OPERATION_PUT, VP_START_NOW, NULL, error);
}

static vp_status_t send_row(rails_t *rails, uint32_t source, vp_error_t *error)
{
    vp_traffic_t *traffic = rails->traffic;
    vp_status_t status = VP_OK;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < traffic->n_ranks; i++) {
        if (vp_traffic_demand(traffic, source, i) > 0) {
            rails->messages[n++] = (message_t){vp_traffic_demand(traffic, source, i), i};
        }
    }
    for (i = 0; i < traffic->machine->model->n_nics; i++) {
        rails->loads[i] = 0;
    }
    qsort(rails->messages, n, sizeof(message_t), compare_messages);
    for (i = 0; status == VP_OK && i < n; i++) {
        const message_t *message = &rails->messages[i];

        if (vp_rank_node(traffic->machine, source) ==
            vp_rank_node(traffic->machine, message->destination)) {
            status = send_inside(traffic, source, message, error);
        } else {
            status = send_over_rail(rails, source, message, error);
        }
    }
    return status;
}

vp_status_t vp_baseline_rails(vp_traffic_t *traffic, vp_error_t *error)
{
    const vp_model_t *model = traffic->machine->model;
    rails_t rails = {traffic, NULL, NULL, NULL, NULL};
    vp_status_t status = VP_OK;
    uint32_t source;

    traffic->n_steps = 1;
    rails.messages = vp_array_new(traffic->n_ranks, sizeof(message_t));
    rails.nics = vp_array_new(model->n_nics, sizeof(uint32_t));
    rails.node_begin = vp_array_new((size_t)model->n_nodes + 1, sizeof(uint32_t));
    rails.loads = vp_array_new(model->n_nics, sizeof(uint64_t));
    if (rails.messages == NULL || rails.nics == NULL || rails.node_begin == NULL ||
        rails.loads == NULL) {
        status = vp_error_no_memory(error, "the rails");
    } else {
        index_nics(&rails);
    }
    for (source = 0; status == VP_OK && source < traffic->n_ranks; source++) {
        status = send_row(&rails, source, error);
    }
    free(rails.loads);
    free(rails.node_begin);
    free(rails.nics);
    free(rails.messages);
    return status;
}
