/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

#define SHOW_EVERY_NS (VP_NS_PER_S / 4)

const char *vp_style(FILE *stream, vp_style_t style)
{
    static const char *const sequences[] = {"\033[0m",  "\033[1m",  "\033[32m",
                                            "\033[36m", "\033[33m", "\033[31m"};
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if ((no_colour != NULL && no_colour[0] != '\0') ||
        (terminal != NULL && strcmp(terminal, "dumb") == 0) || isatty(fileno(stream)) == 0) {
        return "";
    }
    return sequences[style];
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct timespec to_time(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / VP_NS_PER_S), (long)(ns % VP_NS_PER_S)};
}

static void show(vp_progress_t *progress, uint64_t now)
{
    char line[192];

    (void)snprintf(line, sizeof(line), "%s%s%s, %" PRIu64 " s", progress->what,
                   progress->detail[0] == '\0' ? "" : ": ", progress->detail,
                   (now - progress->begin_ns) / VP_NS_PER_S);
    (void)fprintf(stderr, "\r%-78.78s", line);
    progress->is_shown = true;
}

static void *run(void *context)
{
    vp_progress_t *progress = context;
    uint64_t next = progress->begin_ns + VP_NS_PER_S;

    (void)pthread_mutex_lock(&progress->mutex);
    while (!progress->is_done) {
        struct timespec until = to_time(next);
        uint64_t now;

        (void)pthread_cond_timedwait(&progress->wake, &progress->mutex, &until);
        now = now_ns();
        if (!progress->is_done && now >= next) {
            show(progress, now);
            next = now + SHOW_EVERY_NS;
        }
    }
    (void)pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

void vp_progress_begin(vp_progress_t *progress, const char *format, ...)
{
    pthread_condattr_t attributes;
    va_list arguments;

    memset(progress, 0, sizeof(*progress));
    progress->begin_ns = now_ns();
    if (isatty(STDERR_FILENO) == 0) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(progress->what, sizeof(progress->what), format, arguments);
    va_end(arguments);
    (void)pthread_mutex_init(&progress->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&progress->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    progress->is_running = pthread_create(&progress->thread, NULL, run, progress) == 0;
}

void vp_progress_tell(vp_progress_t *progress, const char *format, ...)
{
    uint64_t now;
    va_list arguments;

    if (!progress->is_running) {
        return;
    }
    now = now_ns();
    if (now < progress->next_ns) {
        return;
    }
    progress->next_ns = now + SHOW_EVERY_NS / 2;
    (void)pthread_mutex_lock(&progress->mutex);
    va_start(arguments, format);
    (void)vsnprintf(progress->detail, sizeof(progress->detail), format, arguments);
    va_end(arguments);
    (void)pthread_mutex_unlock(&progress->mutex);
}

void vp_progress_end(vp_progress_t *progress)
{
    if (!progress->is_running) {
        return;
    }
    (void)pthread_mutex_lock(&progress->mutex);
    progress->is_done = true;
    (void)pthread_cond_signal(&progress->wake);
    (void)pthread_mutex_unlock(&progress->mutex);
    (void)pthread_join(progress->thread, NULL);
    if (progress->is_shown) {
        (void)fprintf(stderr, "\r%78s\r", "");
    }
    (void)pthread_cond_destroy(&progress->wake);
    (void)pthread_mutex_destroy(&progress->mutex);
    progress->is_running = false;
}
