/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/import/samples.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "catalog/import/import.h"
#include "catalog/import/model_report.h"
#include "catalog/import/native.h"

static const char *data_directory(void)
{
    const char *directory = getenv("VP_IMPORT_DATA");

    return directory != NULL ? directory : VP_TEST_IMPORT_DIR "/data";
}

char *sample_read(const char *name, size_t *n_bytes_p)
{
    char path[1024];
    char *text;
    vp_error_t error;

    (void)snprintf(path, sizeof(path), "%s/%s", data_directory(), name);
    ck_assert_msg(vp_file_read(path, (size_t)1 << 24, &text, n_bytes_p, &error) == VP_OK, "%s",
                  error.text);
    return text;
}

char *sample_edit(const char *name, const char *from, const char *to)
{
    size_t n_bytes;
    char *text = sample_read(name, &n_bytes);
    char *at = strstr(text, from);
    char *edited = vp_array_new(n_bytes + strlen(to) + 1, 1);

    ck_assert_ptr_nonnull(edited);
    ck_assert_msg(at != NULL, "%s does not hold %s", name, from);
    memcpy(edited, text, (size_t)(at - text));
    (void)strcat(edited, to);
    (void)strcat(edited, at + strlen(from));
    free(text);
    return edited;
}

/* Everything that is made of a machine; the topology file must be one that the loader takes. */
static json_t *report(vp_hardware_t *machine)
{
    vp_error_t error = {0};
    json_t *native = NULL;
    json_t *result = json_object();
    vp_model_t *model = NULL;
    char *text;

    ck_assert_msg(vp_hardware_topology(machine, "sample", &native, &error) == VP_OK, "%s",
                  error.text);
    text = json_dumps(native, 0);
    ck_assert_msg(vp_import_model("native", text, strlen(text), &model, &error) == VP_OK, "%s",
                  error.text);
    vp_model_destroy(model);
    free(text);
    ck_assert_int_eq(vp_hardware_report(machine, result, &error), VP_OK);
    ck_assert_int_eq(json_object_set_new(result, "native", native), 0);
    return result;
}

json_t *sample_import(const char *where, const char *text, size_t n_bytes, vp_error_t *error)
{
    vp_import_format_t format;
    vp_hardware_t *machine = NULL;
    json_t *result;

    error->text[0] = '\0';
    if (vp_import_detect(where, text, n_bytes, &format, error) != VP_OK) {
        return NULL;
    }
    if (format == VP_IMPORT_JSON) {
        vp_model_t *model = NULL;

        if (vp_import_model(where, text, n_bytes, &model, error) != VP_OK) {
            return NULL;
        }
        result = json_object();
        ck_assert_int_eq(vp_model_report(model, result, error), VP_OK);
        vp_model_destroy(model);
        return result;
    }
    if (vp_import_read(where, text, n_bytes, format, &machine, error) != VP_OK) {
        return NULL;
    }
    result = report(machine);
    vp_hardware_destroy(machine);
    return result;
}

void sample_check_error(const char *where, const vp_error_t *error)
{
    ck_assert_msg(error->status == VP_ERR_BAD_INPUT || error->status == VP_ERR_UNSUPPORTED ||
                      error->status == VP_ERR_LIMIT || error->status == VP_ERR_USAGE,
                  "%s: status %d: %s", where, error->status, error->text);
    ck_assert_msg(strncmp(error->text, where, strlen(where)) == 0, "\"%s\" does not name %s",
                  error->text, where);
    ck_assert_msg(strchr(error->text, '\n') == NULL, "several lines: %s", error->text);
}
