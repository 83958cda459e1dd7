/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "catalog/shipped.h"
#include "catalog/topology_spec.h"

enum { MAX_FILE_BYTES = 16 * 1024 * 1024 };

const char *const *vp_topology_shipped_names(void)
{
    return vp_shipped_names;
}

const char *vp_topology_shipped_text(const char *name)
{
    size_t i;

    for (i = 0; vp_shipped_names[i] != NULL; i++) {
        if (strcmp(vp_shipped_names[i], name) == 0) {
            return vp_shipped_texts[i];
        }
    }
    return NULL;
}

/* Makes the model of an open document, which it closes. */
static vp_status_t resolve_document(vp_json_document_t *document, const vp_spec_choice_t *choice,
                                    vp_model_t **model_p, vp_error_t *error)
{
    vp_spec_t spec = {0};
    vp_status_t status = vp_spec_read(document, choice, &spec);

    if (status == VP_OK) {
        status = vp_spec_expand_one(&spec, document->file, model_p, error);
    }
    vp_spec_clear(&spec);
    vp_json_close(document);
    return status;
}

static vp_status_t resolve_text(const char *file, const char *text, size_t n_bytes,
                                const vp_spec_choice_t *choice, vp_model_t **model_p,
                                vp_error_t *error)
{
    vp_json_document_t document;
    vp_status_t status = vp_json_open(&document, file, text, n_bytes, error);

    return status != VP_OK ? status : resolve_document(&document, choice, model_p, error);
}

static vp_status_t resolve_synthetic(const char *text, const vp_spec_choice_t *choice,
                                     vp_model_t **model_p, vp_error_t *error)
{
    vp_json_document_t document;
    json_t *root = NULL;
    vp_status_t status = vp_spec_synthesize(text, &root, error);

    if (status != VP_OK) {
        return status;
    }
    vp_json_adopt(&document, "synthetic topology", root, error);
    return resolve_document(&document, choice, model_p, error);
}

static void list_shipped(char *text, size_t n_bytes)
{
    size_t used = 0;
    size_t i;

    text[0] = '\0';
    for (i = 0; vp_shipped_names[i] != NULL && used < n_bytes; i++) {
        (void)snprintf(text + used, n_bytes - used, "%s%s", i == 0 ? "" : ", ",
                       vp_shipped_names[i]);
        used = strlen(text);
    }
}

static vp_status_t resolve_file(const char *path, const vp_spec_choice_t *choice,
                                vp_model_t **model_p, vp_error_t *error)
{
    char *text;
    size_t n_bytes;
    vp_status_t status;

    if (strpbrk(path, "/.") == NULL && strcmp(path, "-") != 0 && access(path, F_OK) != 0 &&
        errno == ENOENT) {
        char shipped[256];

        list_shipped(shipped, sizeof(shipped));
        return vp_error_set(error, VP_ERR_USAGE,
                            "\"%.128s\" is neither a shipped topology nor a file; the shipped ones "
                            "are %s, and synthetic:KEY=VALUE,... makes one up",
                            path, shipped);
    }
    status = vp_file_read(path, MAX_FILE_BYTES, &text, &n_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    status = resolve_text(path, text, n_bytes, choice, model_p, error);
    free(text);
    return status;
}

static vp_status_t parse_nodes(const char *value, vp_spec_choice_t *choice, vp_error_t *error)
{
    unsigned long nodes = 0;
    size_t i;

    for (i = 0; value[i] >= '0' && value[i] <= '9' && nodes <= VP_MAX_RANKS; i++) {
        nodes = nodes * 10 + (unsigned long)(value[i] - '0');
    }
    if (i == 0 || value[i] != '\0' || nodes < 1 || nodes > VP_MAX_GROUPS) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "topology: nodes=%.64s: give a number of nodes from 1 to %d", value,
                            VP_MAX_GROUPS);
    }
    choice->n_nodes = (uint32_t)nodes;
    return VP_OK;
}

static vp_status_t parse_option(char *option, vp_spec_choice_t *choice, vp_error_t *error)
{
    char *value = strchr(option, '=');

    if (value != NULL && value[1] != '\0') {
        *value++ = '\0';
        if (strcmp(option, "nodes") == 0) {
            return parse_nodes(value, choice, error);
        }
        if (strcmp(option, "rates") == 0) {
            choice->rates = value;
            return VP_OK;
        }
        if (strcmp(option, "transports") == 0) {
            choice->transport = value;
            return VP_OK;
        }
        if (strcmp(option, "nics") == 0 &&
            (strcmp(value, "near") == 0 || strcmp(value, "all") == 0)) {
            choice->is_all_nics = strcmp(value, "all") == 0;
            return VP_OK;
        }
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "topology: cannot read \":%.64s\" behind the name; write :nodes=N, "
                        ":rates=SET, :transports=SET, :nics=near or :nics=all (a file whose name "
                        "holds a colon needs another one at its end)",
                        option);
}

/* Cuts options off, in place, from the first one on. */
static vp_status_t parse_options(char *option, vp_spec_choice_t *choice, vp_error_t *error)
{
    while (option != NULL) {
        char *next;
        vp_status_t status;

        *option++ = '\0';
        next = strchr(option, ':');
        if (next != NULL) {
            *next = '\0';
        }
        status = parse_option(option, choice, error);
        if (status != VP_OK) {
            return status;
        }
        option = next;
    }
    return VP_OK;
}

/* Resolves what is neither synthetic nor ends in a colon, or only has one of those. */
static vp_status_t resolve_name(char *name, const vp_spec_choice_t *choice, vp_model_t **model_p,
                                vp_error_t *error)
{
    const char *text = vp_topology_shipped_text(name);

    return text != NULL ? resolve_text(name, text, strlen(text), choice, model_p, error)
                        : resolve_file(name, choice, model_p, error);
}

static vp_status_t resolve_argument(char *argument, vp_model_t **model_p, vp_error_t *error)
{
    static const char synthetic[] = "synthetic:";
    vp_spec_choice_t choice = {.rates = "nominal", .transport = "hardware"};
    size_t n_bytes = strlen(argument);
    bool is_synthetic = strncmp(argument, synthetic, sizeof(synthetic) - 1) == 0;
    char *name = argument + (is_synthetic ? sizeof(synthetic) - 1 : 0);
    vp_status_t status;

    if (!is_synthetic && n_bytes > 0 && argument[n_bytes - 1] == ':') {
        argument[n_bytes - 1] = '\0';
        return resolve_name(argument, &choice, model_p, error);
    }
    status = parse_options(strchr(name, ':'), &choice, error);
    if (status != VP_OK) {
        return status;
    }
    return is_synthetic ? resolve_synthetic(name, &choice, model_p, error)
                        : resolve_name(name, &choice, model_p, error);
}

vp_status_t vp_topology_resolve(const char *argument, vp_model_t **model_p, vp_error_t *error)
{
    char *copy = vp_string_copy(argument);
    vp_status_t status;

    if (copy == NULL) {
        return vp_error_no_memory(error, "a topology's name");
    }
    status = resolve_argument(copy, model_p, error);
    free(copy);
    return status;
}
