/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"

#include <stdlib.h>

#include "base/buf.h"

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

static int add_bytes(const char *bytes, size_t n_bytes, void *context)
{
    vp_writer_t *writer = context;

    vp_write_bytes(writer, bytes, n_bytes);
    return writer->failed ? -1 : 0;
}

char *vp_json_print(const json_t *json, size_t flags)
{
    vp_writer_t writer = VP_WRITER_INIT;
    int failed = json_dump_callback(json, add_bytes, &writer, flags);

    vp_write_u8(&writer, 0);
    if (failed != 0 || writer.failed) {
        vp_writer_clear(&writer);
        return NULL;
    }
    return (char *)writer.data;
}

bool vp_json_dump(const json_t *json, FILE *stream, size_t flags)
{
    char *text = vp_json_print(json, flags);
    bool is_written = text != NULL && fputs(text, stream) >= 0;

    free(text);
    return is_written;
}
