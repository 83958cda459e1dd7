/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include "tools/doctor/outside.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

enum { MAX_TEXT = 4 << 20, NOT_FOUND = 127 };

const char *vp_outcome_text(vp_outcome_t outcome)
{
    static const char *const texts[] = {"is done", "ended with an error", "is not to be found",
                                        "did not end in time"};

    return texts[outcome];
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the other end closes; false: the time is over. */
static bool collect(int fd, int64_t end_ms, vp_writer_t *text)
{
    for (;;) {
        struct pollfd wait = {fd, POLLIN, 0};
        int64_t left = end_ms - now_ms();
        char part[4096];
        ssize_t n;

        if (left <= 0 || poll(&wait, 1, (int)left) == 0) {
            return false;
        }
        n = read(fd, part, sizeof(part));
        if (n <= 0) {
            return true;
        }
        if (text->n_bytes < MAX_TEXT) {
            vp_write_bytes(text, part, (size_t)n);
        }
    }
}

/* The child may close its output and go on: its end is waited for no longer than that. */
static bool reap(pid_t child, int64_t end_ms, int *status_p)
{
    const struct timespec pause = {0, 2000000};

    while (waitpid(child, status_p, WNOHANG) == 0) {
        if (now_ms() >= end_ms) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static vp_outcome_t finish(pid_t child, int fd, int timeout_ms, char **text_p)
{
    vp_writer_t text = VP_WRITER_INIT;
    int64_t end_ms = now_ms() + timeout_ms;
    int status = 0;
    bool is_done = collect(fd, end_ms, &text) && reap(child, end_ms, &status);

    (void)close(fd);
    if (!is_done) {
        (void)kill(-child, SIGKILL);
        (void)waitpid(child, &status, 0);
    }
    vp_write_u8(&text, 0);
    *text_p = text.failed ? NULL : (char *)text.data;
    if (text.failed) {
        vp_writer_clear(&text);
    }
    if (!is_done) {
        return VP_OUTCOME_TIMED_OUT;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
        return VP_OUTCOME_ABSENT;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? VP_OUTCOME_DONE : VP_OUTCOME_FAILED;
}

/* 0 in the child, whose outputs are the pipe and which leads a group; -1: no process. */
static pid_t branch(int *fd_p)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDONLY);

        (void)setpgid(0, 0);
        if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0 ||
            dup2(ends[1], STDERR_FILENO) < 0) {
            _exit(NOT_FOUND);
        }
        return 0;
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return -1;
    }
    (void)setpgid(child, child);
    *fd_p = ends[0];
    return child;
}

vp_outcome_t vp_outside_run(char *const *argv, int timeout_ms, char **text_p)
{
    int fd = -1;
    pid_t child = branch(&fd);

    *text_p = NULL;
    if (child == 0) {
        (void)execvp(argv[0], argv);
        _exit(NOT_FOUND);
    }
    return child < 0 ? VP_OUTCOME_FAILED : finish(child, fd, timeout_ms, text_p);
}

vp_outcome_t vp_outside_call(void (*function)(FILE *stream, const void *context),
                             const void *context, int timeout_ms, char **text_p)
{
    int fd = -1;
    pid_t child = branch(&fd);

    *text_p = NULL;
    if (child == 0) {
        FILE *stream = fdopen(STDOUT_FILENO, "w");

        if (stream != NULL) {
            function(stream, context);
            (void)fflush(stream);
        }
        _exit(0);
    }
    return child < 0 ? VP_OUTCOME_FAILED : finish(child, fd, timeout_ms, text_p);
}
