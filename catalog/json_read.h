/*
 * Reading a JSON document whose author makes mistakes: every value knows its
 * place, and the first mistake is kept as one sentence with file and path
 * ("FILE: $.paths[3].links[0]: ...").
 *
 * Nodes live on the stack and point to their parents. After a mistake every
 * further read returns a harmless value, so callers test vp_json_failed once
 * after a group of reads.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_JSON_READ_H
#define VP_CATALOG_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct vp_json_document {
    const char *file; /* named in messages */
    json_t *root;     /* owned */
    vp_status_t status;
    vp_error_t *error;
} vp_json_document_t;

typedef struct vp_json {
    vp_json_document_t *document;
    const struct vp_json *parent; /* NULL: the root */
    const char *key;              /* NULL: an element of an array */
    size_t index;
    json_t *value; /* NULL: absent */
} vp_json_t;

/* Parses the text; VP_ERR_BAD_INPUT names line and column; VP_ERR_NO_MEMORY. Close it when that
 * succeeded. */
vp_status_t vp_json_open(vp_json_document_t *document, const char *file, const char *text,
                         size_t n_bytes, vp_error_t *error) VP_MUST_CHECK;
/* Opens a document that did not come from a text, which it takes over. */
void vp_json_adopt(vp_json_document_t *document, const char *file, json_t *root, vp_error_t *error);
void vp_json_close(vp_json_document_t *document);
vp_json_t vp_json_root(vp_json_document_t *document);

bool vp_json_failed(const vp_json_t *json);
/* Keeps a mistake at this place, unless there is an earlier one. */
void vp_json_mistake(const vp_json_t *json, vp_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is it an object that has none but these keys (NULL-terminated)? Else a mistake. */
bool vp_json_object(const vp_json_t *json, const char *const *keys);
/* Is it an object, with keys that the author chose? */
bool vp_json_map(const vp_json_t *json);
/* A member; a mistake when it is required and absent. */
vp_json_t vp_json_get(const vp_json_t *json, const char *key, bool is_required);
/* The number of elements, n_min .. n_max; an absent array has none. */
size_t vp_json_array(const vp_json_t *json, size_t n_min, size_t n_max);
vp_json_t vp_json_item(const vp_json_t *json, size_t index);

/* An integer of min .. max; `fallback` when absent. */
uint64_t vp_json_integer(const vp_json_t *json, uint64_t min, uint64_t max, uint64_t fallback);
/* true or false; `fallback` when absent. */
bool vp_json_flag(const vp_json_t *json, bool fallback);
/* A text of n_min .. n_max bytes, borrowed from the document; `fallback` when absent. */
const char *vp_json_text(const vp_json_t *json, size_t n_min, size_t n_max, const char *fallback);

#endif
