/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"

#include <stddef.h>

json_t *vp_json_append(json_t *list, json_t *item)
{
    if (json_array_append_new(list, item) != 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *vp_json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}
