/*
 * The reader of topology files and of synthetic topologies: what it accepts is
 * a model that passes its check, what it refuses has one message.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/build.h"
#include "catalog/json_read.h"
#include "catalog/topology.h"
#include "catalog/topology_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void judge(vp_status_t status, vp_model_t *model, const vp_error_t *error)
{
    if (status != VP_OK && (error->status != status || error->text[0] == '\0')) {
        abort();
    }
    if (status == VP_OK && vp_model_check(model, NULL) != VP_OK) {
        abort();
    }
    vp_model_destroy(model);
}

/* A machine that is large and valid only costs time here. */
static bool is_small(const vp_spec_t *spec)
{
    size_t n = spec->n_paths + vp_spec_count_pairs(spec, spec, false);

    return n * spec->n_nodes * spec->n_nodes <= 100000;
}

static void read_file(const char *text, size_t n_bytes)
{
    const vp_spec_choice_t choice = {.rates = "nominal", .transport = "hardware"};
    vp_error_t error = {.status = VP_OK};
    vp_json_document_t document;
    vp_spec_t spec = {0};
    vp_model_t *model = NULL;
    vp_status_t status = vp_json_open(&document, "fuzz", text, n_bytes, &error);

    if (status != VP_OK) {
        judge(status, NULL, &error);
        return;
    }
    status = vp_spec_read(&document, &choice, &spec);
    if (status != VP_OK || is_small(&spec)) {
        status = status == VP_OK ? vp_spec_expand_one(&spec, "fuzz", &model, &error) : status;
        judge(status, model, &error);
    }
    vp_spec_clear(&spec);
    vp_json_close(&document);
}

static void read_synthetic(const char *text)
{
    vp_error_t error = {.status = VP_OK};
    json_t *root = NULL;
    vp_status_t status = vp_spec_synthesize(text, &root, &error);

    if (status == VP_OK) {
        json_decref(root);
    } else {
        judge(status, NULL, &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = malloc(n_bytes + 1);

    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0';
    if (n_bytes > 0 && text[0] == '{') {
        read_file(text, n_bytes);
    } else {
        read_synthetic(text);
    }
    free(text);
    return 0;
}
