/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

enum { MAX_NAMES = 100 }; /* of temporary files that are tried */

static vp_status_t io_error(vp_error_t *error, const char *what, const char *path, int code)
{
    if (code == ENOMEM) {
        return vp_error_no_memory(error, path);
    }
    return vp_error_set(error, VP_ERR_IO, "%s: cannot %s: %s; check the path and its permissions",
                        path, what, strerror(code));
}

static vp_status_t read_stream(FILE *stream, const char *path, size_t max_bytes, char **data_p,
                               size_t *n_bytes_p, vp_error_t *error)
{
    char *data = NULL;
    size_t n_bytes = 0;
    size_t capacity = 0;

    for (;;) {
        size_t n_read;

        if (!vp_array_reserve(&data, &capacity, n_bytes + 4096 + 1, 1)) {
            free(data);
            return vp_error_no_memory(error, path);
        }
        n_read = fread(data + n_bytes, 1, capacity - n_bytes - 1, stream);
        n_bytes += n_read;
        if (n_bytes > max_bytes) {
            free(data);
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "%s: larger than the limit of %zu bytes, not read; is this the "
                                "right file?",
                                path, max_bytes);
        }
        if (n_read == 0) {
            break;
        }
    }
    if (ferror(stream)) {
        free(data);
        return io_error(error, "read", path, errno);
    }
    data[n_bytes] = '\0';
    *data_p = data;
    *n_bytes_p = n_bytes;
    return VP_OK;
}

vp_status_t vp_file_read(const char *path, size_t max_bytes, char **data_p, size_t *n_bytes_p,
                         vp_error_t *error)
{
    struct stat facts;
    bool is_input = strcmp(path, "-") == 0;
    FILE *stream = is_input ? stdin : fopen(path, "rb");
    vp_status_t status;

    if (stream == NULL) {
        return io_error(error, "open", path, errno);
    }
    path = is_input ? "standard input" : path;
    if (!is_input && fstat(fileno(stream), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        (void)fclose(stream);
        return vp_error_set(error, VP_ERR_BAD_INPUT, "%s: is a directory; name a file", path);
    }
    status = read_stream(stream, path, max_bytes, data_p, n_bytes_p, error);
    if (!is_input) {
        (void)fclose(stream);
    }
    return status;
}

static vp_status_t write_stream(FILE *stream, const char *path, const void *data, size_t n_bytes,
                                vp_error_t *error)
{
    if (fwrite(data, 1, n_bytes, stream) != n_bytes || fflush(stream) != 0) {
        return io_error(error, "write", path, errno);
    }
    return VP_OK;
}

static vp_status_t write_temporary(int descriptor, const char *path, const void *data,
                                   size_t n_bytes, vp_error_t *error)
{
    FILE *stream = fdopen(descriptor, "wb");
    vp_status_t status;

    if (stream == NULL) {
        int code = errno;

        (void)close(descriptor);
        return io_error(error, "write", path, code);
    }
    status = write_stream(stream, path, data, n_bytes, error);
    if (fclose(stream) != 0 && status == VP_OK) {
        status = io_error(error, "write", path, errno);
    }
    return status;
}

/* A device, pipe or socket is written in place: it has no old contents to keep. */
static vp_status_t write_in_place(const char *path, const void *data, size_t n_bytes,
                                  vp_error_t *error)
{
    FILE *stream = fopen(path, "wb");
    vp_status_t status;

    if (stream == NULL) {
        return io_error(error, "open", path, errno);
    }
    status = write_stream(stream, path, data, n_bytes, error);
    if (fclose(stream) != 0 && status == VP_OK) {
        status = io_error(error, "write", path, errno);
    }
    return status;
}

/*
 * A new file PATH.abcdef; -1: errno. mkstemp would make it private, and the
 * umask, which belongs to all threads, can only be asked for by changing it.
 */
static int create_beside(const char *path, char *temporary, size_t size)
{
    int descriptor;
    int i = 0;

    do {
        uint32_t number;

        if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
            return -1;
        }
        (void)snprintf(temporary, size, "%s.%06" PRIx32, path, number & 0xffffff);
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST && ++i < MAX_NAMES);
    return descriptor;
}

static vp_status_t replace(const char *path, const void *data, size_t n_bytes, vp_error_t *error)
{
    size_t size = strlen(path) + sizeof(".abcdef");
    char *temporary = malloc(size);
    int descriptor;
    vp_status_t status;

    if (temporary == NULL) {
        return vp_error_no_memory(error, path);
    }
    descriptor = create_beside(path, temporary, size);
    if (descriptor < 0) {
        status = io_error(error, "create a file beside", path, errno);
        free(temporary);
        return status;
    }
    status = write_temporary(descriptor, path, data, n_bytes, error);
    if (status == VP_OK && rename(temporary, path) != 0) {
        status = io_error(error, "replace", path, errno);
    }
    if (status != VP_OK) {
        (void)unlink(temporary);
    }
    free(temporary);
    return status;
}

vp_status_t vp_file_write(const char *path, const void *data, size_t n_bytes, vp_error_t *error)
{
    struct stat facts;
    char *target;
    vp_status_t status;

    if (strcmp(path, "-") == 0) {
        return write_stream(stdout, "standard output", data, n_bytes, error);
    }
    if (path[0] == '\0') {
        return vp_error_set(error, VP_ERR_USAGE, "the name of the file to write is empty");
    }
    if (stat(path, &facts) != 0) {
        return replace(path, data, n_bytes, error);
    }
    if (!S_ISREG(facts.st_mode)) {
        return write_in_place(path, data, n_bytes, error);
    }
    /* Behind a symbolic link the file itself is replaced, not the link. */
    target = realpath(path, NULL);
    if (target == NULL) {
        return io_error(error, "find", path, errno);
    }
    status = replace(target, data, n_bytes, error);
    free(target);
    return status;
}
