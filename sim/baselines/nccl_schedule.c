/*
 * NCCL's point-to-point schedule (src/init.cc, ncclP2pSchedule) and window
 * (src/enqueue.cc).
 *
 * Order: ranks form groups of gs = gcd of the nodes' sizes, on several nodes the
 * largest divisor of it up to 8. The group offset walks the triangular numbers
 * modulo the next power of two, leaving out values that are no group; inside
 * each, delta = 0 .. gs - 1. Round: send to (group + offset, local + delta).
 * Static, blind to sizes.
 *
 * Window: 32 channels, each with 8 messages in flight; a peer takes several
 * channels (2 on one node; on several the NICs of a node, at least one per 14
 * GB/s of NIC rate), halved until all peers fit. Up to 32 / channels * 8
 * messages of a rank are in flight, a freed slot takes the next round. No
 * barrier. Only the sender's window counts, in NCCL's favour.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include <stdlib.h>

#include "base/array.h"

enum { CHANNELS = 32, PER_CHANNEL = 8, MAX_GROUP = 8, PCIE_CHANNELS_PER_PEER = 2 };
#define BYTES_PER_S_PER_CHANNEL UINT64_C(14000000000)

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static uint32_t power_of_two(uint32_t n)
{
    uint32_t power = 1;

    while (power < n) {
        power *= 2;
    }
    return power;
}

static uint32_t group_size(const vp_machine_t *machine)
{
    uint32_t n_nodes = machine->model->n_nodes;
    uint32_t size = 0;
    uint32_t divisor;
    uint32_t node;

    for (node = 0; node < n_nodes; node++) {
        size = gcd(size, vp_node_size(machine, node));
    }
    divisor = size;
    while (n_nodes > 1 && (divisor > MAX_GROUP || size % divisor != 0)) {
        divisor--;
    }
    return divisor;
}

void vp_nccl_peers(const vp_machine_t *machine, uint32_t rank, uint32_t *peers)
{
    uint32_t size = group_size(machine);
    uint32_t n_groups = machine->model->n_ranks / size;
    uint32_t power = power_of_two(n_groups);
    uint32_t offset = 0;
    uint32_t n = 0;
    uint32_t round;
    uint32_t delta;

    for (round = 0; round < power; round++) {
        offset = (offset + round) & (power - 1);
        for (delta = 0; offset < n_groups && delta < size; delta++) {
            uint32_t group = (rank / size + offset) % n_groups;

            peers[n++] = group * size + (rank % size + delta) % size;
        }
    }
}

static uint32_t channels_per_peer(const vp_machine_t *machine)
{
    const vp_model_t *model = machine->model;
    uint32_t channels = 0;
    uint32_t i;

    if (model->n_nodes == 1) {
        return PCIE_CHANNELS_PER_PEER;
    }
    for (i = 0; i < model->n_nics; i++) {
        uint64_t needed =
            (model->nics[i].bytes_per_s + BYTES_PER_S_PER_CHANNEL - 1) / BYTES_PER_S_PER_CHANNEL;

        channels = needed > channels ? (uint32_t)(needed < CHANNELS ? needed : CHANNELS) : channels;
    }
    i = model->n_nics / model->n_nodes;
    channels = i > channels ? i : channels;
    return power_of_two(channels == 0 ? 1 : channels);
}

uint32_t vp_nccl_window(const vp_machine_t *machine)
{
    uint32_t channels = channels_per_peer(machine);

    while (channels > 1 &&
           (channels > CHANNELS || machine->model->n_ranks > CHANNELS / channels * PER_CHANNEL)) {
        channels /= 2;
    }
    return CHANNELS / channels * PER_CHANNEL;
}

static vp_status_t rotate_rank(vp_traffic_t *traffic, uint32_t rank, const uint32_t *peers,
                               vp_path_fn_t find_path, vp_error_t *error)
{
    vp_start_t start = {VP_NO_GATE, VP_NO_QUEUE, 0};
    vp_status_t status = vp_network_add_queue(
        traffic->machine->network, vp_nccl_window(traffic->machine), &start.queue, error);
    uint32_t round;

    for (round = 0; status == VP_OK && round < traffic->n_ranks; round++) {
        uint64_t n_bytes = vp_traffic_demand(traffic, rank, peers[round]);
        vp_path_t path;

        if (n_bytes == 0) {
            continue;
        }
        status = find_path(traffic->machine, rank, peers[round], &path, error);
        if (status == VP_OK) {
            status = vp_traffic_send(traffic, rank, &path, n_bytes, VP_OPERATION_PROXY, start, NULL,
                                     error);
        }
    }
    return status;
}

vp_status_t vp_nccl_rotate(vp_traffic_t *traffic, vp_path_fn_t find_path, vp_error_t *error)
{
    uint32_t *peers = vp_array_new(traffic->n_ranks, sizeof(uint32_t));
    vp_status_t status = VP_OK;
    uint32_t rank;

    if (peers == NULL) {
        return vp_error_no_memory(error, "the rotation of NCCL");
    }
    traffic->n_steps = traffic->n_ranks - 1;
    for (rank = 0; status == VP_OK && rank < traffic->n_ranks; rank++) {
        vp_nccl_peers(traffic->machine, rank, peers);
        status = rotate_rank(traffic, rank, peers, find_path, error);
    }
    free(peers);
    return status;
}
