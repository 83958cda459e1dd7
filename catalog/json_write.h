/*
 * Making a JSON document where memory may run out: what could not be made is
 * NULL, and so is all that was to hold it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_JSON_WRITE_H
#define VP_CATALOG_JSON_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Add an item to a list, a member to an object, take over both and give the
 * list or the object back. NULL, with both released, when either is NULL or
 * memory is out.
 */
json_t *vp_json_append(json_t *list, json_t *item) __attribute__((warn_unused_result));
json_t *vp_json_put(json_t *object, const char *key, json_t *value)
    __attribute__((warn_unused_result));

/*
 * The document as text, as json_dumps makes it, in new memory that the caller
 * frees; NULL when memory is out. json_dumps itself then leaves characters out.
 */
char *vp_json_print(const json_t *json, size_t flags) __attribute__((warn_unused_result));
/* The same onto a stream, all of it or nothing; false when memory is out or the stream fails. */
bool vp_json_dump(const json_t *json, FILE *stream, size_t flags)
    __attribute__((warn_unused_result));

#endif
