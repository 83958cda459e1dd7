/*
 * Status codes of every room, and the error record that travels with them.
 *
 * The first function that detects an error writes one complete sentence into
 * the caller's vp_error_t: what is wrong, where (file, line or JSON path;
 * rank, path, lane), what follows from it and what to do. Callers above it
 * only propagate the status.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_STATUS_H
#define VP_BASE_STATUS_H

#define VP_STATUS_MAP(X)                                                                           \
    X(VP_OK, 0, "success")                                                                         \
    X(VP_ERR_NO_MEMORY, -1, "out of memory")                                                       \
    X(VP_ERR_USAGE, -2, "bad usage")                                                               \
    X(VP_ERR_BAD_INPUT, -3, "bad input")                                                           \
    X(VP_ERR_IO, -4, "input or output failed")                                                     \
    X(VP_ERR_UNSUPPORTED, -5, "not supported here")                                                \
    X(VP_ERR_LIMIT, -6, "a stated limit was reached")                                              \
    X(VP_ERR_TRANSPORT, -7, "a transport failed")                                                  \
    X(VP_ERR_TIMEOUT, -8, "timed out")                                                             \
    X(VP_ERR_MISMATCH, -9, "ranks disagree")                                                       \
    X(VP_ERR_TRUNCATE, -10, "a message is longer than its receive block")                          \
    X(VP_ERR_INTERNAL, -11, "internal error")                                                      \
    X(VP_ERR_DEVICE, -12, "a CUDA device failed")

typedef enum vp_status {
#define VP_STATUS_ENUM(name, value, text) name = (value),
    VP_STATUS_MAP(VP_STATUS_ENUM)
#undef VP_STATUS_ENUM
} vp_status_t;

#define VP_MUST_CHECK __attribute__((warn_unused_result))

/* Text of a code; never NULL, static storage, any int is accepted. */
const char *vp_status_text(int status);

enum { VP_ERROR_TEXT_BYTES = 768 };

/* One error with its context. Plain data, owned by whoever declares it. */
typedef struct vp_error {
    vp_status_t status;
    char text[VP_ERROR_TEXT_BYTES]; /* without trailing newline */
} vp_error_t;

/*
 * Writes status and formatted text to error (NULL: discarded) and returns
 * status, so that a detector reads `return vp_error_set(error, ...)`.
 * Longer texts are cut at the end of the array. Thread-safe per record.
 */
vp_status_t vp_error_set(vp_error_t *error, vp_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed allocation of `what`. */
vp_status_t vp_error_no_memory(vp_error_t *error, const char *what);

#endif
