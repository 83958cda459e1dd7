/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "catalog/content.h"

/*
 * Header: magic, version (4), length of the file (8), checksum of all that follows it (8). Then
 * fingerprint, build time and search steps, and the contents.
 */
enum {
    MAGIC_BYTES = 8,
    CHECKED_BEGIN = MAGIC_BYTES + 4 + 8 + 8,
    CONTENT_BEGIN = CHECKED_BEGIN + 3 * 8
};

#define REBUILD "; build it again with `variopath catalog build`"

vp_status_t vp_catalog_seal(vp_catalog_t *catalog, vp_error_t *error)
{
    vp_writer_t writer = VP_WRITER_INIT;

    vp_content_write(&writer, catalog);
    if (writer.failed) {
        vp_writer_clear(&writer);
        return vp_error_no_memory(error, "the fingerprint of a catalog");
    }
    catalog->fingerprint = vp_hash64(writer.data, writer.n_bytes);
    vp_writer_clear(&writer);
    return VP_OK;
}

/* Encodes what the checksum covers. */
static vp_status_t encode_checked(const vp_catalog_t *catalog, vp_writer_t *writer,
                                  vp_error_t *error)
{
    vp_write_u64(writer, catalog->fingerprint);
    vp_write_u64(writer, catalog->build_ns);
    vp_write_u64(writer, catalog->build_steps);
    vp_content_write(writer, catalog);
    if (writer->failed) {
        return vp_error_no_memory(error, "the bytes of a catalog");
    }
    if (writer->n_bytes > VP_CATALOG_MAX_BYTES - CHECKED_BEGIN) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "the catalog takes %zu bytes, more than the limit of %zu for a file; "
                            "use fewer nodes or a smaller budget of families",
                            writer->n_bytes, VP_CATALOG_MAX_BYTES);
    }
    return VP_OK;
}

vp_status_t vp_catalog_encode(const vp_catalog_t *catalog, uint8_t **data_p, size_t *n_bytes_p,
                              vp_error_t *error)
{
    vp_writer_t checked = VP_WRITER_INIT;
    vp_writer_t file = VP_WRITER_INIT;
    vp_status_t status = encode_checked(catalog, &checked, error);

    if (status == VP_OK) {
        vp_write_bytes(&file, VP_CATALOG_MAGIC, MAGIC_BYTES);
        vp_write_u32(&file, VP_CATALOG_VERSION);
        vp_write_u64(&file, CHECKED_BEGIN + checked.n_bytes);
        vp_write_u64(&file, vp_hash64(checked.data, checked.n_bytes));
        vp_write_bytes(&file, checked.data, checked.n_bytes);
        if (file.failed) {
            status = vp_error_no_memory(error, "the bytes of a catalog");
        }
    }
    vp_writer_clear(&checked);
    if (status != VP_OK) {
        vp_writer_clear(&file);
        return status;
    }
    *data_p = file.data;
    *n_bytes_p = file.n_bytes;
    return VP_OK;
}

/* Reads the header and verifies it and the checksum; the reader then stands behind it. */
static vp_status_t open_frame(vp_reader_t *reader, const char *where, vp_error_t *error)
{
    char magic[MAGIC_BYTES];
    uint32_t version;
    uint64_t n_bytes;
    uint64_t checksum;

    vp_read_bytes(reader, magic, MAGIC_BYTES);
    if (reader->failed || memcmp(magic, VP_CATALOG_MAGIC, MAGIC_BYTES) != 0) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: not a catalog file; make one with `variopath catalog build`",
                            where);
    }
    version = vp_read_u32(reader);
    if (!reader->failed && version != VP_CATALOG_VERSION) {
        return vp_error_set(error, VP_ERR_UNSUPPORTED,
                            "%s: a catalog file of version %" PRIu32
                            ", this program reads version %d" REBUILD,
                            where, version, VP_CATALOG_VERSION);
    }
    n_bytes = vp_read_u64(reader);
    checksum = vp_read_u64(reader);
    if (reader->failed || n_bytes > reader->n_bytes) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: truncated catalog file, it ends after %zu bytes; copy it again or "
                            "build it again with `variopath catalog build`",
                            where, reader->n_bytes);
    }
    if (n_bytes < reader->n_bytes ||
        checksum != vp_hash64(reader->data + CHECKED_BEGIN, reader->n_bytes - CHECKED_BEGIN)) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: corrupted catalog file, its length or checksum is wrong; copy it "
                            "again or build it again with `variopath catalog build`",
                            where);
    }
    return VP_OK;
}

static vp_status_t inconsistent(const char *where, const char *why, vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_BAD_INPUT, "%s: inconsistent catalog file: %s" REBUILD, where,
                        why);
}

/*
 * Does the decoded catalog keep every invariant, and is it the one that was sealed? `content_hash`
 * is of the bytes that were read: lists in another order make the same catalog, which has one
 * encoding.
 */
static vp_status_t verify(vp_catalog_t *catalog, uint64_t content_hash, const char *where,
                          vp_error_t *error)
{
    uint64_t fingerprint = catalog->fingerprint;
    vp_error_t cause = {.status = VP_OK};
    vp_status_t status = vp_catalog_check(catalog, &cause);

    if (status == VP_OK) {
        status = vp_catalog_seal(catalog, &cause);
    }
    if (status == VP_ERR_BAD_INPUT) {
        return inconsistent(where, cause.text, error);
    }
    if (status != VP_OK) {
        return vp_error_set(error, status, "%s: %s", where, cause.text);
    }
    if (catalog->fingerprint != fingerprint || content_hash != fingerprint) {
        return inconsistent(where, "its fingerprint is not that of its contents", error);
    }
    return VP_OK;
}

static vp_status_t decode_checked(vp_reader_t *reader, const char *where, vp_catalog_t *catalog,
                                  vp_error_t *error)
{
    catalog->fingerprint = vp_read_u64(reader);
    catalog->build_ns = vp_read_u64(reader);
    catalog->build_steps = vp_read_u64(reader);
    if (!vp_content_read(reader, catalog)) {
        if (reader->failed && !reader->no_memory) {
            return inconsistent(where, "a count or a text does not fit into it", error);
        }
        return vp_error_no_memory(error, where);
    }
    if (vp_reader_left(reader) != 0) {
        return inconsistent(where, "something follows its last family", error);
    }
    return verify(catalog, vp_hash64(reader->data + CONTENT_BEGIN, reader->n_bytes - CONTENT_BEGIN),
                  where, error);
}

vp_status_t vp_catalog_decode(const void *data, size_t n_bytes, const char *where,
                              vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_catalog_t *catalog;
    vp_reader_t reader;
    vp_status_t status;

    vp_reader_init(&reader, data, n_bytes);
    status = open_frame(&reader, where, error);
    if (status != VP_OK) {
        return status;
    }
    catalog = vp_array_new(1, sizeof(*catalog));
    if (catalog == NULL) {
        return vp_error_no_memory(error, where);
    }
    status = decode_checked(&reader, where, catalog, error);
    if (status != VP_OK) {
        vp_catalog_destroy(catalog);
        return status;
    }
    *catalog_p = catalog;
    return VP_OK;
}

vp_status_t vp_catalog_store(const vp_catalog_t *catalog, const char *path, size_t *n_bytes_p,
                             vp_error_t *error)
{
    uint8_t *data;
    size_t n_bytes;
    vp_status_t status = vp_catalog_encode(catalog, &data, &n_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_file_write(path, data, n_bytes, error);
    free(data);
    if (status == VP_OK && n_bytes_p != NULL) {
        *n_bytes_p = n_bytes;
    }
    return status;
}

vp_status_t vp_catalog_load(const char *path, vp_catalog_t **catalog_p, size_t *n_bytes_p,
                            vp_error_t *error)
{
    char *data;
    size_t n_bytes;
    vp_status_t status = vp_file_read(path, VP_CATALOG_MAX_BYTES, &data, &n_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_catalog_decode(data, n_bytes, path, catalog_p, error);
    free(data);
    if (status == VP_OK && n_bytes_p != NULL) {
        *n_bytes_p = n_bytes;
    }
    return status;
}
