/*
 * What is different where a person looks on: colours, and a line on standard
 * error that says what takes more than a second.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_TERMINAL_H
#define VP_TOOLS_TERMINAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum vp_style {
    VP_STYLE_NONE, /* back to plain text */
    VP_STYLE_BOLD,
    VP_STYLE_GREEN,
    VP_STYLE_CYAN,
    VP_STYLE_YELLOW,
    VP_STYLE_RED
} vp_style_t;

/* The sequence that begins a style; "" unless the stream is a terminal, NO_COLOR is unset or
 * empty, and TERM is not "dumb". */
const char *vp_style(FILE *stream, vp_style_t style);

/*
 * From begin to end standard error shows what is being done, its seconds and its
 * detail, from the first second on; nothing if that is no terminal. Own thread:
 * what is done need not report. tell may be called often, by one thread.
 */
typedef struct vp_progress {
    bool is_running;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool is_done;
    bool is_shown;
    uint64_t begin_ns;
    uint64_t next_ns; /* tell does nothing until then */
    char what[64];
    char detail[64];
} vp_progress_t;

void vp_progress_begin(vp_progress_t *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vp_progress_tell(vp_progress_t *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vp_progress_end(vp_progress_t *progress);

#endif
