/*
 * One log sink. A room that logs is handed a vp_log_t; the component sends it
 * to Open MPI's output streams, the command line to stderr, tests collect it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_LOG_H
#define VP_BASE_LOG_H

/* Verbosity at which a line appears; VP_LOG_ERROR and VP_LOG_WARN always do. */
typedef enum vp_log_level {
    VP_LOG_ERROR = -2,
    VP_LOG_WARN = -1,
    VP_LOG_NOTE = 1,  /* once per process or communicator */
    VP_LOG_CALL = 5,  /* once per call */
    VP_LOG_DEBUG = 10 /* once per lane */
} vp_log_level_t;

/* `line` has no trailing newline and is borrowed for the call. */
typedef void (*vp_log_fn_t)(void *context, vp_log_level_t level, const char *line);

typedef struct vp_log {
    vp_log_fn_t write; /* NULL: silent */
    void *context;
    int verbosity;
} vp_log_t;

/* Formats and writes when level <= log->verbosity; log may be NULL. */
void vp_log(const vp_log_t *log, vp_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
