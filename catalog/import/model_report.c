/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/model_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/topology_spec.h"

vp_status_t vp_import_model(const char *where, const char *text, size_t n_bytes,
                            vp_model_t **model_p, vp_error_t *error)
{
    const vp_spec_choice_t choice = {.rates = "nominal", .transport = "hardware"};
    vp_json_document_t document;
    vp_spec_t spec = {0};
    vp_status_t status = vp_json_open(&document, where, text, n_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_spec_read(&document, &choice, &spec);
    if (status == VP_OK) {
        status = vp_spec_expand_one(&spec, where, model_p, error);
    }
    vp_spec_clear(&spec);
    vp_json_close(&document);
    return status;
}

static uint32_t count_gpus(const vp_model_t *model)
{
    uint32_t n = 0;

    while (n < model->n_ranks && model->groups[model->rank_group[n]].node == 0) {
        n++;
    }
    return n;
}

static json_t *pci_json(const vp_model_t *model, uint32_t rank)
{
    char text[VP_PCI_TEXT_BYTES];

    vp_pci_format(model->rank_pci == NULL ? VP_PCI_UNKNOWN : model->rank_pci[rank], text);
    return text[0] == '\0' ? json_null() : json_string(text);
}

static json_t *gpus_json(const vp_model_t *model, uint32_t n_gpus)
{
    json_t *list = json_array();
    char name[32];
    uint32_t i;

    for (i = 0; i < n_gpus; i++) {
        (void)snprintf(name, sizeof(name), "rank %" PRIu32, i);
        if (json_array_append_new(
                list, json_pack("{s:I, s:s, s:o, s:I, s:I}", "index", (json_int_t)i, "name", name,
                                "pci", pci_json(model, i), "group",
                                (json_int_t)model->rank_group[i], "rank", (json_int_t)i)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Kinds are ordered from near to far, and so are the instances of a pair. */
static const char *pair_text(const vp_model_t *model, uint32_t a, uint32_t b)
{
    size_t pair = vp_pair(model, model->rank_group[a], model->rank_group[b]);
    uint32_t first = model->pair_begin[pair];

    if (a == b) {
        return "SELF";
    }
    if (model->rank_group[a] == model->rank_group[b]) {
        return "PIX";
    }
    return first < model->pair_begin[pair + 1] && model->instances[first].kind < VP_PATH_NIC
               ? vp_path_kind_text(model->instances[first].kind)
               : "SYS";
}

static json_t *pairs_json(const vp_model_t *model, uint32_t n_gpus)
{
    json_t *rows = json_array();
    uint32_t a;
    uint32_t b;

    for (a = 0; a < n_gpus; a++) {
        json_t *row = json_array();

        for (b = 0; b < n_gpus && row != NULL; b++) {
            if (json_array_append_new(row, json_string(pair_text(model, a, b))) != 0) {
                json_decref(row);
                row = NULL;
            }
        }
        if (json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

static json_t *nearest_json(const vp_model_t *model, uint32_t n_gpus)
{
    json_t *rows = json_array();
    uint32_t a;
    uint32_t i;

    for (a = 0; a < n_gpus; a++) {
        json_t *names = json_array();

        for (i = 0; i < model->n_nics && names != NULL; i++) {
            if (model->nics[i].group == model->rank_group[a] &&
                json_array_append_new(names, json_string(model->nics[i].name)) != 0) {
                json_decref(names);
                names = NULL;
            }
        }
        if (json_array_append_new(rows, names) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

vp_status_t vp_model_report(const vp_model_t *model, json_t *object, vp_error_t *error)
{
    uint32_t n_gpus = count_gpus(model);

    if (json_object_set_new(object, "format", json_string("json")) != 0 ||
        json_object_set_new(object, "gpus", gpus_json(model, n_gpus)) != 0 ||
        json_object_set_new(object, "pairs", pairs_json(model, n_gpus)) != 0 ||
        json_object_set_new(object, "nearest_nics", nearest_json(model, n_gpus)) != 0 ||
        json_object_set_new(object, "ignored", json_array()) != 0) {
        return vp_error_no_memory(error, "the report of an import");
    }
    return VP_OK;
}
