/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/import.h"

#include <ctype.h>
#include <string.h>

typedef vp_status_t (*reader_fn_t)(const char *where, const char *text, size_t n_bytes,
                                   vp_hardware_t *machine, vp_error_t *error);

static const struct {
    const char *text;
    reader_fn_t read;
} formats[VP_IMPORT_N_FORMATS] = {
    [VP_IMPORT_AUTO] = {"auto", NULL},
    [VP_IMPORT_HWLOC] = {"hwloc", vp_import_hwloc},
    [VP_IMPORT_NCCL] = {"nccl", vp_import_nccl},
    [VP_IMPORT_NVIDIA_SMI] = {"nvidia-smi", vp_import_nvidia_smi},
    [VP_IMPORT_JSON] = {"json", NULL},
};

const char *vp_import_format_text(vp_import_format_t format)
{
    return formats[format].text;
}

bool vp_import_format_parse(const char *text, vp_import_format_t *format_p)
{
    size_t i;

    for (i = 0; i < VP_IMPORT_N_FORMATS; i++) {
        if (strcmp(text, formats[i].text) == 0) {
            *format_p = (vp_import_format_t)i;
            return true;
        }
    }
    return false;
}

/* Name of the root element, behind declaration, document type and comments; NULL: there is none. */
static const char *find_root(const char *text)
{
    while (text != NULL) {
        text = strchr(text, '<');
        if (text == NULL || (text[1] != '?' && text[1] != '!')) {
            return text == NULL ? NULL : text + 1;
        }
        if (strncmp(text, "<!--", 4) == 0) {
            text = strstr(text + 4, "-->");
        } else {
            text = strchr(text, '>');
        }
    }
    return NULL;
}

static bool begins_with_name(const char *text, const char *name)
{
    size_t n = strlen(name);

    return strncmp(text, name, n) == 0 && !isalnum((unsigned char)text[n]) && text[n] != '_';
}

vp_status_t vp_import_detect(const char *where, const char *text, size_t n_bytes,
                             vp_import_format_t *format_p, vp_error_t *error)
{
    size_t n_blank = strspn(text, " \t\r\n\xef\xbb\xbf");

    if (n_blank >= n_bytes) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line 1: the file is empty; was the program that wrote it stopped?",
                            where);
    }
    if (text[n_blank] == '{') {
        *format_p = VP_IMPORT_JSON;
        return VP_OK;
    }
    if (text[n_blank] == '<') {
        const char *root = find_root(text + n_blank);

        if (root != NULL && begins_with_name(root, "topology")) {
            *format_p = VP_IMPORT_HWLOC;
            return VP_OK;
        }
        if (root != NULL && begins_with_name(root, "system")) {
            *format_p = VP_IMPORT_NCCL;
            return VP_OK;
        }
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line 1: XML, but its root is neither <topology> (hwloc) nor "
                            "<system> (NCCL); is the file complete?",
                            where);
    }
    if (strstr(text, "GPU") != NULL) {
        *format_p = VP_IMPORT_NVIDIA_SMI;
        return VP_OK;
    }
    return vp_error_set(error, VP_ERR_BAD_INPUT,
                        "%s: line 1: neither XML of hwloc or NCCL, nor `nvidia-smi topo -m`, nor "
                        "a topology file in JSON; give a file of one of these",
                        where);
}

vp_status_t vp_import_read(const char *where, const char *text, size_t n_bytes,
                           vp_import_format_t format, vp_hardware_t **machine_p, vp_error_t *error)
{
    vp_hardware_t *machine = vp_hardware_create(formats[format].text);
    vp_status_t status;

    if (machine == NULL) {
        return vp_error_no_memory(error, where);
    }
    status = formats[format].read(where, text, n_bytes, machine, error);
    if (status == VP_OK) {
        status = vp_hardware_finish(machine, where, error);
    }
    if (status != VP_OK) {
        vp_hardware_destroy(machine);
        return status;
    }
    *machine_p = machine;
    return VP_OK;
}
