/*
 * The report of `variopath probe --local` as one JSON object.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <jansson.h>

#include "catalog/json_write.h"
#include "tools/probe/local.h"

static json_t *pack_rates(const uint64_t *rates, size_t n)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < n; i++) {
        (void)json_array_append_new(list, json_integer((json_int_t)rates[i]));
    }
    return list;
}

static json_t *pack_matrix(const vp_probe_local_t *local, const uint64_t *rates)
{
    json_t *rows = json_array();
    uint32_t i;

    for (i = 0; i < local->n_ranks; i++) {
        (void)json_array_append_new(rows,
                                    pack_rates(rates + (size_t)i * local->n_ranks, local->n_ranks));
    }
    return rows;
}

static json_t *pack_gpus(const vp_probe_local_t *local)
{
    const vp_model_t *model = local->model;
    json_t *gpus = json_array();
    uint32_t i;

    for (i = 0; i < local->n_ranks; i++) {
        (void)json_array_append_new(gpus,
                                    json_pack("{s:I, s:s, s:s, s:s}", "rank", (json_int_t)i, "name",
                                              vp_probe_gpu_name(local->gpus, local->gpu[i]), "pci",
                                              vp_probe_gpu_pci(local->gpus, local->gpu[i]), "group",
                                              model->groups[model->rank_group[i]].name));
    }
    return gpus;
}

/* Ordered pairs [source, destination] whose reach is that one. */
static json_t *pack_pairs(const vp_probe_local_t *local, vp_probe_reach_t reach)
{
    json_t *pairs = json_array();
    uint32_t a;
    uint32_t b;

    for (a = 0; a < local->n_ranks; a++) {
        for (b = 0; b < local->n_ranks; b++) {
            if (a != b && vp_probe_gpus_reach(local->gpus, local->gpu[a], local->gpu[b]) == reach) {
                (void)json_array_append_new(pairs,
                                            json_pack("[I, I]", (json_int_t)a, (json_int_t)b));
            }
        }
    }
    return pairs;
}

static json_t *pack_shared(const vp_probe_local_t *local)
{
    static const char *const tables[] = {"gpu", "uplink", "nic", "none"};
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < local->n_shared; i++) {
        const vp_probe_shared_t *it = &local->shared[i];
        bool is_written = it->way == VP_PROBE_WRITE || it->way == VP_PROBE_TO_HOST;

        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "link", it->name,
                                                    "table", tables[it->table], "by",
                                                    is_written ? "write" : "read", "bytes_per_s",
                                                    pack_rates(it->bytes_per_s, it->n_sources)));
    }
    return list;
}

vp_status_t vp_probe_local_print_json(const vp_probe_local_t *local, FILE *stream,
                                      vp_error_t *error)
{
    json_t *root = json_pack(
        "{s:s, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "topology",
        local->model->name, "driver_version", vp_probe_driver_version(local->gpus),
        "found_by_address", local->is_by_address, "gpus", pack_gpus(local), "unreachable",
        pack_pairs(local, VP_PROBE_NO_PEER), "wrong_bytes", pack_pairs(local, VP_PROBE_WRONG_BYTES),
        "write_bytes_per_s", pack_matrix(local, local->write), "read_bytes_per_s",
        pack_matrix(local, local->read), "staged_bytes_per_s", pack_matrix(local, local->staged),
        "to_host_bytes_per_s", pack_rates(local->to_host, local->n_ranks), "from_host_bytes_per_s",
        pack_rates(local->from_host, local->n_ranks), "shared", pack_shared(local));
    bool is_printed = root != NULL && vp_json_dump(root, stream, JSON_INDENT(2));

    json_decref(root);
    if (!is_printed) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the report as JSON; check the disk and the memory");
    }
    (void)fprintf(stream, "\n");
    return VP_OK;
}
