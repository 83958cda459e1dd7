/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cmd_import.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "catalog/import/import.h"
#include "catalog/import/model_report.h"
#include "catalog/import/native.h"
#include "catalog/json_write.h"
#include "tools/command.h"
#include "tools/model_json.h"

enum { MAX_FILE_BYTES = 32 * 1024 * 1024 };

/* What an import gives. */
typedef struct result {
    vp_model_t *model;
    json_t *report;    /* the JSON object to print */
    char *native_text; /* the topology file */
} result_t;

/* "n01-3090" of "dir/n01-3090.xml", in characters that need no care anywhere. */
static void make_name(const char *file, char *name)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(base, '.');
    size_t n = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);

    if (n == 0 || strcmp(file, "-") == 0) {
        base = "imported";
        n = strlen(base);
    }
    (void)snprintf(name, VP_HW_NAME_BYTES, "%.*s", n < VP_HW_NAME_BYTES ? (int)n : 63, base);
    vp_hw_name_clean(name);
}

/* The topology file of a machine, read back by the loader that everything else uses. */
static vp_status_t take_machine(vp_hardware_t *machine, const char *file, result_t *result,
                                vp_error_t *error)
{
    char name[VP_HW_NAME_BYTES];
    json_t *native = NULL;
    vp_status_t status;

    make_name(file, name);
    status = vp_hardware_topology(machine, name, &native, error);
    if (status != VP_OK) {
        return status;
    }
    result->native_text = vp_json_print(native, JSON_INDENT(2));
    json_decref(native);
    if (result->native_text == NULL) {
        return vp_error_no_memory(error, file);
    }
    status = vp_import_model(file, result->native_text, strlen(result->native_text), &result->model,
                             error);
    if (status != VP_OK) {
        return status;
    }
    result->report = vp_model_to_json(result->model);
    return vp_hardware_report(machine, result->report, error);
}

static vp_status_t import_native(const char *file, char *text, size_t n_bytes, result_t *result,
                                 vp_error_t *error)
{
    vp_status_t status = vp_import_model(file, text, n_bytes, &result->model, error);

    if (status != VP_OK) {
        return status;
    }
    result->native_text = strdup(text);
    if (result->native_text == NULL) {
        return vp_error_no_memory(error, file);
    }
    result->report = vp_model_to_json(result->model);
    return vp_model_report(result->model, result->report, error);
}

static vp_status_t import_text(const vp_import_request_t *request, char *text, size_t n_bytes,
                               result_t *result, vp_error_t *error)
{
    vp_import_format_t format = request->format;
    vp_hardware_t *machine = NULL;
    vp_status_t status = VP_OK;

    if (format == VP_IMPORT_AUTO) {
        status = vp_import_detect(request->file, text, n_bytes, &format, error);
    }
    if (status != VP_OK) {
        return status;
    }
    if (format == VP_IMPORT_JSON) {
        return import_native(request->file, text, n_bytes, result, error);
    }
    status = vp_import_read(request->file, text, n_bytes, format, &machine, error);
    if (status == VP_OK) {
        status = take_machine(machine, request->file, result, error);
    }
    vp_hardware_destroy(machine);
    return status;
}

static vp_status_t import_live(result_t *result, vp_error_t *error)
{
    vp_hardware_t *machine = NULL;
    vp_status_t status = vp_import_live(false, &machine, error);

    if (status == VP_OK) {
        status = take_machine(machine, "live", result, error);
    }
    vp_hardware_destroy(machine);
    return status;
}

static vp_status_t import(const vp_import_request_t *request, result_t *result, vp_error_t *error)
{
    const char *path = request->file;
    char *text;
    size_t n_bytes;
    vp_status_t status;

    if (path == NULL) {
        return import_live(result, error);
    }
    status = vp_file_read(path, MAX_FILE_BYTES, &text, &n_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    status = import_text(request, text, n_bytes, result, error);
    free(text);
    return status;
}

static const char *text_at(const json_t *list, size_t row, size_t column)
{
    return json_string_value(json_array_get(json_array_get(list, row), column));
}

static void print_gpu(const json_t *report, size_t i)
{
    const json_t *gpu = json_array_get(json_object_get(report, "gpus"), i);
    const json_t *nics = json_array_get(json_object_get(report, "nearest_nics"), i);
    const char *pci = json_string_value(json_object_get(gpu, "pci"));
    size_t k;

    (void)printf("  GPU %-3zu %-12s  group %-3" JSON_INTEGER_FORMAT " rank %-3" JSON_INTEGER_FORMAT
                 " %s ",
                 i, pci == NULL ? "-" : pci, json_integer_value(json_object_get(gpu, "group")),
                 json_integer_value(json_object_get(gpu, "rank")),
                 json_string_value(json_object_get(gpu, "name")));
    for (k = 0; k < json_array_size(nics); k++) {
        (void)printf("%s%s", k == 0 ? " nearest NIC " : ", ",
                     json_string_value(json_array_get(nics, k)));
    }
    (void)printf("\n");
}

static void print_text(const result_t *result)
{
    const json_t *report = result->report;
    const json_t *pairs = json_object_get(report, "pairs");
    const json_t *ignored = json_object_get(report, "ignored");
    size_t n = json_array_size(pairs);
    size_t i;
    size_t k;

    (void)printf("%s (%s): %zu GPUs in %" PRIu32 " groups, %" PRIu32 " NICs\n", result->model->name,
                 json_string_value(json_object_get(report, "format")), n,
                 result->model->n_groups / result->model->n_nodes,
                 result->model->n_nics / result->model->n_nodes);
    for (i = 0; i < n; i++) {
        print_gpu(report, i);
    }
    (void)printf("\n");
    for (i = 0; i < n; i++) {
        (void)printf("  GPU %-3zu", i);
        for (k = 0; k < n; k++) {
            (void)printf(" %-4s", text_at(pairs, i, k));
        }
        (void)printf("\n");
    }
    for (i = 0; i < json_array_size(ignored); i++) {
        const json_t *note = json_array_get(ignored, i);

        (void)printf("%s  %s: %s\n", i == 0 ? "\nnot used as it is:\n" : "",
                     json_string_value(json_object_get(note, "what")),
                     json_string_value(json_object_get(note, "why")));
    }
}

static vp_status_t print(const vp_import_request_t *request, const result_t *result,
                         vp_error_t *error)
{
    if (!request->is_json) {
        print_text(result);
    } else if (!vp_json_dump(result->report, stdout, JSON_INDENT(2))) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the import as JSON; check the disk and the memory");
    } else {
        (void)printf("\n");
    }
    return VP_OK;
}

int vp_topology_import(const vp_import_request_t *request)
{
    result_t result = {0};
    vp_error_t error;
    vp_status_t status = import(request, &result, &error);

    if (status == VP_OK && request->output != NULL) {
        status =
            vp_file_write(request->output, result.native_text, strlen(result.native_text), &error);
    }
    if (status == VP_OK && (request->output == NULL || strcmp(request->output, "-") != 0)) {
        status = print(request, &result, &error);
    }
    json_decref(result.report);
    free(result.native_text);
    vp_model_destroy(result.model);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}
