/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Longest key that takes part in the search for similar ones, and longest one quoted. */
enum { MAX_KEY_BYTES = 64 };

/* A text that jansson gets byte by byte. */
typedef struct source {
    const char *text;
    size_t n_left;
    bool is_out_of_memory;
} source_t;

/*
 * When memory runs out while it gathers a text or a number, jansson says nothing
 * and leaves out the character. Only errno tells, until the next number is
 * converted, so that it is looked at before each byte.
 */
static size_t give_byte(void *buffer, size_t n_bytes, void *context)
{
    source_t *source = context;

    source->is_out_of_memory = source->is_out_of_memory || errno == ENOMEM;
    if (source->is_out_of_memory) {
        return SIZE_MAX; /* jansson's sign of an error */
    }
    if (source->n_left == 0 || n_bytes == 0) {
        return 0;
    }
    *(char *)buffer = *source->text++;
    source->n_left--;
    return 1;
}

vp_status_t vp_json_open(vp_json_document_t *document, const char *file, const char *text,
                         size_t n_bytes, vp_error_t *error)
{
    source_t source = {.text = text, .n_left = n_bytes};
    json_error_t place;

    document->file = file;
    document->status = VP_OK;
    document->error = error;
    errno = 0;
    document->root = json_load_callback(give_byte, &source, JSON_REJECT_DUPLICATES, &place);
    if (document->root == NULL && (source.is_out_of_memory || errno == ENOMEM)) {
        return vp_error_no_memory(error, file);
    }
    if (document->root == NULL) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line %d, column %d: not valid JSON: %s; correct the file there",
                            file, place.line, place.column, place.text);
    }
    return VP_OK;
}

void vp_json_adopt(vp_json_document_t *document, const char *file, json_t *root, vp_error_t *error)
{
    *document = (vp_json_document_t){.file = file, .root = root, .status = VP_OK, .error = error};
}

void vp_json_close(vp_json_document_t *document)
{
    json_decref(document->root);
    document->root = NULL;
}

vp_json_t vp_json_root(vp_json_document_t *document)
{
    return (vp_json_t){.document = document, .key = "$", .value = document->root};
}

bool vp_json_failed(const vp_json_t *json)
{
    return json->document->status != VP_OK;
}

/* Writes "$.paths[3].links[0]" as far as it fits. */
static void write_path(const vp_json_t *json, char *text, size_t n_bytes)
{
    size_t used;

    if (json->parent == NULL) {
        (void)snprintf(text, n_bytes, "$");
        return;
    }
    write_path(json->parent, text, n_bytes);
    used = strlen(text);
    if (json->key != NULL) {
        (void)snprintf(text + used, n_bytes - used, ".%.*s", MAX_KEY_BYTES, json->key);
    } else {
        (void)snprintf(text + used, n_bytes - used, "[%zu]", json->index);
    }
}

void vp_json_mistake(const vp_json_t *json, vp_status_t status, const char *format, ...)
{
    char path[256];
    char what[VP_ERROR_TEXT_BYTES];
    va_list arguments;

    if (vp_json_failed(json)) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    write_path(json, path, sizeof(path));
    json->document->status =
        vp_error_set(json->document->error, status, "%s: %s: %s", json->document->file, path, what);
}

static const char *type_text(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction or exponent";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

static bool has_type(const vp_json_t *json, json_type type, const char *wanted)
{
    if (vp_json_failed(json) || json->value == NULL) {
        return false;
    }
    if (json_typeof(json->value) != type) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT, "is %s; write %s", type_text(json->value), wanted);
        return false;
    }
    return true;
}

/* Edits that make one text of the other (Levenshtein), of texts below MAX_KEY_BYTES. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_KEY_BYTES + 1];
    size_t n_b = strlen(b);
    size_t i;
    size_t k;

    for (k = 0; k <= n_b; k++) {
        row[k] = k;
    }
    for (i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (k = 0; k < n_b; k++) {
            size_t change = diagonal + (a[i] != b[k]);

            diagonal = row[k + 1];
            row[k + 1] = (row[k] < diagonal ? row[k] : diagonal) + 1;
            row[k + 1] = change < row[k + 1] ? change : row[k + 1];
        }
    }
    return row[n_b];
}

/* Position of the key that is nearest to an unknown one, leaving out `but`. */
static size_t nearest(const char *const *keys, const char *unknown, size_t but)
{
    size_t best = 0;
    size_t best_distance = SIZE_MAX;
    size_t i;

    for (i = 0; keys[i] != NULL; i++) {
        size_t edits = strlen(unknown) < MAX_KEY_BYTES ? distance(unknown, keys[i]) : i;

        if (i != but && edits < best_distance) {
            best = i;
            best_distance = edits;
        }
    }
    return best;
}

static void unknown_key(const vp_json_t *json, const char *const *keys, const char *unknown)
{
    size_t first = nearest(keys, unknown, SIZE_MAX);
    size_t second = nearest(keys, unknown, first);

    vp_json_mistake(json, VP_ERR_BAD_INPUT,
                    "unknown key \"%.*s\"; the nearest that are allowed here are \"%s\" and "
                    "\"%s\"; correct or remove it",
                    MAX_KEY_BYTES, unknown, keys[first], keys[second]);
}

bool vp_json_object(const vp_json_t *json, const char *const *keys)
{
    const char *key;
    json_t *value;
    size_t i;

    if (!vp_json_map(json)) {
        return false;
    }
    json_object_foreach(json->value, key, value)
    {
        for (i = 0; keys[i] != NULL && strcmp(keys[i], key) != 0; i++) {
        }
        if (keys[i] == NULL) {
            unknown_key(json, keys, key);
            return false;
        }
    }
    return true;
}

bool vp_json_map(const vp_json_t *json)
{
    return has_type(json, JSON_OBJECT, "an object {...}");
}

vp_json_t vp_json_get(const vp_json_t *json, const char *key, bool is_required)
{
    vp_json_t member = {.document = json->document, .parent = json, .key = key};

    if (!vp_json_failed(json) && json->value != NULL) {
        member.value = json_object_get(json->value, key);
        if (member.value == NULL && is_required) {
            vp_json_mistake(json, VP_ERR_BAD_INPUT, "the key \"%.*s\" is missing; add it",
                            MAX_KEY_BYTES, key);
        }
    }
    return member;
}

size_t vp_json_array(const vp_json_t *json, size_t n_min, size_t n_max)
{
    size_t n;

    if (!has_type(json, JSON_ARRAY, "an array [...]")) {
        return 0;
    }
    n = json_array_size(json->value);
    if (n < n_min || n > n_max) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT, "has %zu elements; it must have %zu to %zu", n,
                        n_min, n_max);
        return 0;
    }
    return n;
}

vp_json_t vp_json_item(const vp_json_t *json, size_t index)
{
    return (vp_json_t){.document = json->document,
                       .parent = json,
                       .index = index,
                       .value = json_array_get(json->value, index)};
}

uint64_t vp_json_integer(const vp_json_t *json, uint64_t min, uint64_t max, uint64_t fallback)
{
    json_int_t value;

    if (!has_type(json, JSON_INTEGER, "an integer")) {
        return fallback;
    }
    value = json_integer_value(json->value);
    if (value < 0 || (uint64_t)value < min || (uint64_t)value > max) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT,
                        "is %" JSON_INTEGER_FORMAT "; it must be from %" PRIu64 " to %" PRIu64,
                        value, min, max);
        return fallback;
    }
    return (uint64_t)value;
}

bool vp_json_flag(const vp_json_t *json, bool fallback)
{
    if (vp_json_failed(json) || json->value == NULL) {
        return fallback;
    }
    if (!json_is_boolean(json->value)) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT, "is %s; write true or false",
                        type_text(json->value));
        return fallback;
    }
    return json_is_true(json->value);
}

const char *vp_json_text(const vp_json_t *json, size_t n_min, size_t n_max, const char *fallback)
{
    size_t n_bytes;

    if (!has_type(json, JSON_STRING, "a text in quotes")) {
        return fallback;
    }
    n_bytes = json_string_length(json->value);
    if (n_bytes < n_min || n_bytes > n_max) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT, "is a text of %zu bytes; it must have %zu to %zu",
                        n_bytes, n_min, n_max);
        return fallback;
    }
    return json_string_value(json->value);
}
