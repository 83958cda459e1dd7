/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/schedule_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "catalog/json_read.h"

enum { MAX_TRANSFERS = 1 << 20, MAX_INSTANCES = 1 << 24, N_FIELDS = 7 };
#define MAX_SCHEDULE_BYTES ((size_t)128 << 20)
#define MAX_TRANSFER_BYTES (UINT64_C(1) << 62)
#define MAX_MS UINT64_C(1000000000)

static void read_transfer(const vp_json_t *json, vp_transfer_t *transfer)
{
    static const uint64_t limits[N_FIELDS] = {
        MAX_TRANSFERS,          VP_STEPS_MAX_RANKS - 1, VP_STEPS_MAX_RANKS - 1, MAX_INSTANCES,
        VP_STEPS_MAX_RANKS - 1, VP_STEPS_MAX_RANKS - 1, MAX_TRANSFER_BYTES};
    uint64_t values[N_FIELDS] = {0};
    size_t i;

    if (vp_json_array(json, N_FIELDS, N_FIELDS) != N_FIELDS) {
        return;
    }
    for (i = 0; i < N_FIELDS; i++) {
        vp_json_t item = vp_json_item(json, i);

        values[i] = vp_json_integer(&item, i + 1 == N_FIELDS, limits[i], 0);
    }
    *transfer = (vp_transfer_t){(uint32_t)values[0],
                                (uint32_t)values[1],
                                (uint32_t)values[2],
                                (uint32_t)values[3],
                                (uint32_t)values[4],
                                (uint32_t)values[5],
                                values[6]};
}

static void read_execution(const vp_json_t *root, vp_steps_t *steps)
{
    vp_json_t json = vp_json_get(root, "execution", true);
    const char *text = vp_json_text(&json, 1, 16, "deps");

    if (!vp_execution_parse(text, &steps->execution)) {
        vp_json_mistake(&json, VP_ERR_BAD_INPUT,
                        "\"%s\" is no way to run a schedule; give barrier, free or deps", text);
    }
}

static void read_root(const vp_json_t *root, vp_schedule_file_t *file)
{
    static const char *const keys[] = {"format",    "version",   "algorithm",
                                       "topology",  "ranks",     "synthesis_ms",
                                       "execution", "transfers", NULL};
    vp_json_t format = vp_json_get(root, "format", true);
    vp_json_t version = vp_json_get(root, "version", true);
    vp_json_t algorithm = vp_json_get(root, "algorithm", true);
    vp_json_t ranks = vp_json_get(root, "ranks", true);
    vp_json_t synthesis = vp_json_get(root, "synthesis_ms", true);
    const char *text = vp_json_text(&format, 1, 64, "");

    (void)vp_json_object(root, keys);
    if (strcmp(text, "variopath-schedule") != 0) {
        vp_json_mistake(&format, VP_ERR_BAD_INPUT,
                        "\"%s\" is not \"variopath-schedule\"; give a schedule file", text);
    }
    (void)vp_json_integer(&version, 1, 1, 1);
    file->steps.n_ranks = (uint32_t)vp_json_integer(&ranks, 2, VP_STEPS_MAX_RANKS, 2);
    file->synthesis_ms = vp_json_integer(&synthesis, 0, MAX_MS, 0);
    read_execution(root, &file->steps);
    file->algorithm = vp_string_copy(vp_json_text(&algorithm, 1, 64, "schedule"));
}

static vp_status_t read_document(vp_json_document_t *document, vp_schedule_file_t *file,
                                 vp_error_t *error)
{
    vp_json_t root = vp_json_root(document);
    vp_json_t transfers = vp_json_get(&root, "transfers", true);
    size_t n = vp_json_array(&transfers, 0, MAX_TRANSFERS);
    size_t i;

    read_root(&root, file);
    file->steps.transfers = vp_array_new(n, sizeof(*file->steps.transfers));
    if (file->algorithm == NULL || file->steps.transfers == NULL) {
        return vp_error_no_memory(error, "a schedule");
    }
    file->steps.n_transfers = n;
    for (i = 0; i < n && !vp_json_failed(&root); i++) {
        vp_json_t item = vp_json_item(&transfers, i);

        read_transfer(&item, &file->steps.transfers[i]);
    }
    return document->status;
}

vp_status_t vp_schedule_file_read(const char *path, vp_schedule_file_t *file_p, vp_error_t *error)
{
    vp_schedule_file_t file = {0};
    vp_json_document_t document;
    char *text = NULL;
    size_t n_bytes = 0;
    vp_status_t status = vp_file_read(path, MAX_SCHEDULE_BYTES, &text, &n_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_json_open(&document, path, text, n_bytes, error);
    if (status == VP_OK) {
        status = read_document(&document, &file, error);
        vp_json_close(&document);
    }
    free(text);
    if (status != VP_OK) {
        vp_schedule_file_release(&file);
        return status;
    }
    *file_p = file;
    return VP_OK;
}

void vp_schedule_file_release(vp_schedule_file_t *file)
{
    free(file->algorithm);
    free(file->steps.transfers);
    *file = (vp_schedule_file_t){0};
}
