/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/fuzz/fuzz_import.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/import/model_report.h"
#include "catalog/import/native.h"

/* A machine that the importer accepts must come out as a file that the loader accepts. */
static void use_machine(vp_hardware_t *machine)
{
    vp_error_t error = {0};
    json_t *native = NULL;
    json_t *report = json_object();
    vp_model_t *model = NULL;
    vp_status_t status = vp_hardware_report(machine, report, &error);

    if (status != VP_OK) {
        abort();
    }
    json_decref(report);
    if (vp_hardware_topology(machine, "fuzz", &native, &error) == VP_OK) {
        char *text = json_dumps(native, 0);

        if (text == NULL) {
            abort();
        }
        status = vp_import_model("fuzz", text, strlen(text), &model, &error);
        if (status == VP_OK) {
            vp_model_destroy(model);
        } else if (strstr(error.text, "elements") == NULL &&
                   strstr(error.text, "16 path") == NULL) {
            abort(); /* other than a stated limit of topology files */
        }
        free(text);
        json_decref(native);
    }
}

int fuzz_import(const uint8_t *data, size_t n_bytes, vp_import_format_t format)
{
    char *text = vp_array_new(n_bytes + 1, 1);
    vp_hardware_t *machine = NULL;
    vp_error_t error = {0};

    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, n_bytes);
    if (vp_import_read("fuzz", text, n_bytes, format, &machine, &error) == VP_OK) {
        use_machine(machine);
        vp_hardware_destroy(machine);
    } else if (error.text[0] == '\0') {
        abort(); /* every refusal says why */
    }
    free(text);
    return 0;
}
