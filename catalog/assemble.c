/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/assemble.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/topology_spec.h"

/* Nodes of one kind whose GPUs have equally many ranks. */
typedef struct variant {
    uint32_t kind;
    uint32_t *gpu_ranks; /* [n_gpus of the kind] */
} variant_t;

typedef struct assembling {
    const vp_assembly_t *in;
    const char *what;
    vp_error_t *error;
    vp_json_document_t *documents; /* [n_kinds] */
    uint32_t n_documents;
    /* [n_kinds + n_variants]: the kinds as their files say, then the variants. */
    vp_spec_t *specs;
    uint32_t n_specs;
    variant_t *variants; /* [n_nodes] */
    uint32_t n_variants;
    uint32_t *node_spec;  /* [n_nodes] */
    uint32_t *first_rank; /* [n_nodes] of the model */
    uint32_t *gpu_ranks;  /* of one node, while it is counted */
} assembling_t;

static vp_status_t read_spec(assembling_t *it, uint32_t kind, const uint32_t *gpu_ranks)
{
    vp_spec_choice_t choice = {.n_nodes = it->in->n_nodes > 1 ? 2 : 1,
                               .rates = "nominal",
                               .transport = it->in->transport,
                               .gpu_ranks = gpu_ranks};
    vp_spec_t *spec = &it->specs[it->n_specs++];

    if (gpu_ranks == NULL) {
        /* Read for its classes and the number of its GPUs. */
        choice.n_nodes = 1;
    } else {
        choice.n_gpu_ranks = it->specs[kind].n_gpus;
    }
    return vp_spec_read(&it->documents[kind], &choice, spec);
}

static vp_status_t read_kinds(assembling_t *it)
{
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; i < it->in->n_kinds && status == VP_OK; i++) {
        status = vp_json_open(&it->documents[i], it->what, it->in->kinds[i].text,
                              it->in->kinds[i].n_bytes, it->error);
        if (status == VP_OK) {
            it->n_documents++;
            status = read_spec(it, i, NULL);
        }
    }
    return status;
}

/* Counts the ranks on each GPU of a node into it->gpu_ranks. */
static vp_status_t count_ranks(assembling_t *it, uint32_t node)
{
    const vp_assembly_t *in = it->in;
    uint32_t n_gpus = it->specs[in->node_kind[node]].n_gpus;
    uint32_t n_here = 0;
    uint32_t i;

    memset(it->gpu_ranks, 0, n_gpus * sizeof(*it->gpu_ranks));
    for (i = 0; i < in->n_ranks; i++) {
        if (in->rank_node[i] != node) {
            continue;
        }
        if (in->rank_gpu[i] >= n_gpus) {
            return vp_error_set(it->error, VP_ERR_USAGE,
                                "%s: rank %" PRIu32 " uses GPU %" PRIu32
                                " of a node that has %" PRIu32 "; number GPUs from 0",
                                it->what, i, in->rank_gpu[i], n_gpus);
        }
        it->gpu_ranks[in->rank_gpu[i]]++;
        n_here++;
    }
    return n_here > 0
               ? VP_OK
               : vp_error_set(it->error, VP_ERR_USAGE,
                              "%s: node %" PRIu32 " has no rank; leave it out", it->what, node);
}

/* The spec of a node with the ranks in it->gpu_ranks, read unless an earlier node has it. */
static vp_status_t find_variant(assembling_t *it, uint32_t node)
{
    uint32_t kind = it->in->node_kind[node];
    size_t n_bytes = it->specs[kind].n_gpus * sizeof(*it->gpu_ranks);
    variant_t *variant;
    uint32_t i;

    for (i = 0; i < it->n_variants; i++) {
        if (it->variants[i].kind == kind &&
            memcmp(it->variants[i].gpu_ranks, it->gpu_ranks, n_bytes) == 0) {
            it->node_spec[node] = it->in->n_kinds + i;
            return VP_OK;
        }
    }
    variant = &it->variants[it->n_variants];
    variant->kind = kind;
    variant->gpu_ranks = vp_array_new(it->specs[kind].n_gpus, sizeof(*variant->gpu_ranks));
    if (variant->gpu_ranks == NULL) {
        return vp_error_no_memory(it->error, it->what);
    }
    memcpy(variant->gpu_ranks, it->gpu_ranks, n_bytes);
    it->node_spec[node] = it->in->n_kinds + it->n_variants++;
    return read_spec(it, kind, variant->gpu_ranks);
}

static vp_status_t read_nodes(assembling_t *it)
{
    vp_status_t status = VP_OK;
    uint32_t n_ranks = 0;
    uint32_t node;

    for (node = 0; node < it->in->n_nodes && status == VP_OK; node++) {
        status = count_ranks(it, node);
        if (status == VP_OK) {
            status = find_variant(it, node);
        }
        it->first_rank[node] = n_ranks;
        n_ranks += it->specs[it->node_spec[node]].n_ranks;
    }
    return status;
}

/* The k-th rank that is listed with a GPU is the k-th of that GPU. */
static void place_ranks(const assembling_t *it, uint32_t *next, uint32_t *place)
{
    const vp_assembly_t *in = it->in;
    uint32_t i;

    memset(next, 0, in->n_ranks * sizeof(*next));
    for (i = 0; i < in->n_ranks; i++) {
        uint32_t node = in->rank_node[i];
        const vp_spec_t *spec = &it->specs[it->node_spec[node]];
        uint32_t first = it->first_rank[node] + spec->gpus[in->rank_gpu[i]].first_rank;

        place[i] = first + next[first]++;
    }
}

static vp_status_t make_arrays(assembling_t *it)
{
    size_t n_kinds = it->in->n_kinds;
    size_t n_nodes = it->in->n_nodes;

    it->documents = vp_array_new(n_kinds, sizeof(*it->documents));
    it->specs = vp_array_new(n_kinds + n_nodes, sizeof(*it->specs));
    it->variants = vp_array_new(n_nodes, sizeof(*it->variants));
    it->node_spec = vp_array_new(n_nodes, sizeof(*it->node_spec));
    it->first_rank = vp_array_new(n_nodes, sizeof(*it->first_rank));
    it->gpu_ranks = vp_array_new(VP_MAX_RANKS, sizeof(*it->gpu_ranks));
    return it->documents != NULL && it->specs != NULL && it->variants != NULL &&
                   it->node_spec != NULL && it->first_rank != NULL && it->gpu_ranks != NULL
               ? VP_OK
               : vp_error_no_memory(it->error, it->what);
}

static void clear(assembling_t *it)
{
    uint32_t i;

    for (i = 0; i < it->n_specs; i++) {
        vp_spec_clear(&it->specs[i]);
    }
    for (i = 0; i < it->n_documents; i++) {
        vp_json_close(&it->documents[i]);
    }
    for (i = 0; i < it->n_variants; i++) {
        free(it->variants[i].gpu_ranks);
    }
    free(it->documents);
    free(it->specs);
    free(it->variants);
    free(it->node_spec);
    free(it->first_rank);
    free(it->gpu_ranks);
}

static vp_status_t check_numbers(const vp_assembly_t *in, const char *what, vp_error_t *error)
{
    bool is_wrong = in->n_kinds == 0 || in->n_nodes == 0 || in->n_nodes > in->n_ranks ||
                    in->n_ranks > VP_MAX_RANKS;
    uint32_t i;

    for (i = 0; i < in->n_nodes && !is_wrong; i++) {
        is_wrong = in->node_kind[i] >= in->n_kinds;
    }
    for (i = 0; i < in->n_ranks && !is_wrong; i++) {
        is_wrong = in->rank_node[i] >= in->n_nodes;
    }
    return is_wrong ? vp_error_set(error, VP_ERR_USAGE,
                                   "%s: %" PRIu32 " ranks on %" PRIu32 " nodes of %" PRIu32
                                   " kinds do not fit together; every rank needs a node and every "
                                   "node a kind",
                                   what, in->n_ranks, in->n_nodes, in->n_kinds)
                    : VP_OK;
}

vp_status_t vp_assemble(const vp_assembly_t *assembly, const char *what, vp_model_t **model_p,
                        uint32_t *place, vp_error_t *error)
{
    assembling_t it = {.in = assembly, .what = what, .error = error};
    vp_spec_nodes_t nodes;
    vp_status_t status = check_numbers(assembly, what, error);

    if (status != VP_OK) {
        return status;
    }
    status = make_arrays(&it);
    if (status == VP_OK) {
        status = read_kinds(&it);
    }
    if (status == VP_OK) {
        status = read_nodes(&it);
    }
    if (status == VP_OK) {
        nodes = (vp_spec_nodes_t){.specs = it.specs,
                                  .n_specs = it.n_specs,
                                  .node_spec = it.node_spec,
                                  .n_nodes = assembly->n_nodes};
        status = vp_spec_expand(&nodes, what, model_p, error);
    }
    if (status == VP_OK) {
        /* As many numbers as there are ranks: the first rank of each GPU has one. */
        place_ranks(&it, it.gpu_ranks, place);
    }
    clear(&it);
    return status;
}
