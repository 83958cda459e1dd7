/*
 * nimble: NIMBLE (arXiv 2604.00317). Splits every pair over its candidate paths
 * so that the largest normalised link load becomes small, then starts all parts
 * at t = 0: it fixes paths, not concurrency. No window, no barrier.
 *
 * Candidates of a pair: the nearest path; over one other GPU of the source's
 * node (two hops, cut through); inside a node also the rail-matched NIC. In
 * eight rounds over all pairs in rotation order, an eighth of the pair's bytes
 * goes where the path's most loaded link would be done first (ties: the earlier
 * candidate). Messages of at most 1 MiB stay whole.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"

enum { N_ROUNDS = 8, WHOLE_BYTES = 1 << 20 };

typedef struct nimble {
    vp_traffic_t *traffic;
    uint64_t *loads; /* [links] bytes */
    uint64_t *parts; /* [n_ranks][n_ranks][n_candidates] bytes */
    uint32_t n_candidates;
} nimble_t;

/* Candidate 0: nearest. 1: NIC, inside a node. 2 + k: over GPU k of the node. False: none such. */
static vp_status_t find_candidate(const nimble_t *nimble, uint32_t source, uint32_t destination,
                                  uint32_t candidate, vp_path_t *path_p, bool *exists_p,
                                  vp_error_t *error)
{
    const vp_machine_t *machine = nimble->traffic->machine;
    const vp_model_t *model = machine->model;
    uint32_t node = vp_rank_node(machine, source);
    bool inside = node == vp_rank_node(machine, destination);
    uint32_t from = model->rank_group[source];
    uint32_t over;
    vp_path_t first;
    vp_path_t second;
    vp_status_t status;

    *exists_p = true;
    if (candidate == 0) {
        return vp_path_nearest(machine, source, destination, path_p, error);
    }
    if (candidate == 1) {
        *exists_p = inside && vp_group_n_nics(machine, from) > 0 &&
                    vp_group_n_nics(machine, model->rank_group[destination]) > 0;
        return !*exists_p ? VP_OK
                          : vp_path_nic(machine, source, destination,
                                        source - model->groups[from].first_rank, path_p, error);
    }
    over = machine->node_first[node] + candidate - 2;
    *exists_p =
        candidate - 2 < vp_node_size(machine, node) && over != source && over != destination;
    if (!*exists_p) {
        return VP_OK;
    }
    status = vp_path_nearest(machine, source, over, &first, error);
    if (status == VP_OK) {
        status = vp_path_nearest(machine, over, destination, &second, error);
    }
    if (status == VP_OK) {
        vp_path_join(&first, &second, path_p);
    }
    return status;
}

/* When the most loaded link of the path would be done with n_bytes more. */
static uint64_t cost_ns(const nimble_t *nimble, const vp_path_t *path, uint64_t n_bytes)
{
    uint64_t worst = 0;
    uint32_t i;

    for (i = 0; i < path->n_links; i++) {
        uint64_t time_ns =
            vp_transfer_ns(vp_add_sat(nimble->loads[path->links[i]], n_bytes),
                           vp_link_bytes_per_s(nimble->traffic->machine, path->links[i]));

        worst = time_ns > worst ? time_ns : worst;
    }
    return worst;
}

static vp_status_t place(nimble_t *nimble, uint32_t source, uint32_t destination, uint64_t n_bytes,
                         vp_error_t *error)
{
    size_t pair = (size_t)source * nimble->traffic->n_ranks + destination;
    uint64_t best_ns = UINT64_MAX;
    uint32_t best = 0;
    vp_path_t best_path = {.n_links = 0};
    vp_status_t status = VP_OK;
    uint32_t candidate;
    uint32_t i;

    for (candidate = 0; status == VP_OK && candidate < nimble->n_candidates; candidate++) {
        vp_path_t path;
        bool exists;

        status = find_candidate(nimble, source, destination, candidate, &path, &exists, error);
        if (status == VP_OK && exists && cost_ns(nimble, &path, n_bytes) < best_ns) {
            best_ns = cost_ns(nimble, &path, n_bytes);
            best = candidate;
            best_path = path;
        }
    }
    for (i = 0; status == VP_OK && i < best_path.n_links; i++) {
        nimble->loads[best_path.links[i]] += n_bytes;
    }
    nimble->parts[pair * nimble->n_candidates + best] += n_bytes;
    return status;
}

/* What a pair places in a round; the first round takes the remainder. */
static uint64_t round_bytes(uint64_t n_bytes, uint32_t round)
{
    if (n_bytes <= WHOLE_BYTES) {
        return round == 0 ? n_bytes : 0;
    }
    return n_bytes / N_ROUNDS + (round == 0 ? n_bytes % N_ROUNDS : 0);
}

static vp_status_t split_all(nimble_t *nimble, vp_error_t *error)
{
    vp_traffic_t *traffic = nimble->traffic;
    vp_status_t status = VP_OK;
    uint32_t round;
    uint32_t step;
    uint32_t source;

    for (round = 0; round < N_ROUNDS; round++) {
        for (step = 1; step < traffic->n_ranks; step++) {
            for (source = 0; status == VP_OK && source < traffic->n_ranks; source++) {
                uint32_t destination = (source + step) % traffic->n_ranks;
                uint64_t n_bytes =
                    round_bytes(vp_traffic_demand(traffic, source, destination), round);

                if (n_bytes > 0) {
                    status = place(nimble, source, destination, n_bytes, error);
                }
            }
        }
    }
    return status;
}

static vp_status_t send_parts(nimble_t *nimble, uint32_t source, uint32_t destination,
                              vp_error_t *error)
{
    size_t pair = (size_t)source * nimble->traffic->n_ranks + destination;
    vp_status_t status = VP_OK;
    uint32_t candidate;

    for (candidate = 0; status == VP_OK && candidate < nimble->n_candidates; candidate++) {
        uint64_t n_bytes = nimble->parts[pair * nimble->n_candidates + candidate];
        vp_path_t path;
        bool exists;

        if (n_bytes == 0) {
            continue;
        }
        status = find_candidate(nimble, source, destination, candidate, &path, &exists, error);
        if (status == VP_OK) {
            status = vp_traffic_send(nimble->traffic, source, &path, n_bytes, VP_OPERATION_PUT,
                                     VP_START_NOW, NULL, error);
        }
    }
    return status;
}

vp_status_t vp_baseline_nimble(vp_traffic_t *traffic, vp_error_t *error)
{
    nimble_t nimble = {traffic, NULL, NULL, 2};
    size_t n_pairs = (size_t)traffic->n_ranks * traffic->n_ranks;
    vp_status_t status;
    uint32_t node;
    size_t pair;

    traffic->n_steps = 1;
    for (node = 0; node < traffic->machine->model->n_nodes; node++) {
        uint32_t needed = 2 + vp_node_size(traffic->machine, node);

        nimble.n_candidates = needed > nimble.n_candidates ? needed : nimble.n_candidates;
    }
    nimble.loads = vp_array_new(vp_network_n_links(traffic->machine->network), sizeof(uint64_t));
    nimble.parts = vp_array_new(n_pairs * nimble.n_candidates, sizeof(uint64_t));
    status = nimble.loads == NULL || nimble.parts == NULL
                 ? vp_error_no_memory(error, "the paths of nimble")
                 : split_all(&nimble, error);
    for (pair = 0; status == VP_OK && pair < n_pairs; pair++) {
        status = send_parts(&nimble, (uint32_t)(pair / traffic->n_ranks),
                            (uint32_t)(pair % traffic->n_ranks), error);
    }
    free(nimble.parts);
    free(nimble.loads);
    return status;
}
