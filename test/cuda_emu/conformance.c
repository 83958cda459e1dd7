/*
 * conformance            run all checks
 * conformance devices    one line per device: ordinal and PCI address
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/conformance.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Shared by the processes. */
static struct counts {
    int n_checks;
    int n_failures;
} * counts;

void conformance_check(bool right, const char *file, int line, const char *format, ...)
{
    va_list arguments;

    (void)__atomic_fetch_add(&counts->n_checks, 1, __ATOMIC_RELAXED);
    if (right) {
        return;
    }
    (void)__atomic_fetch_add(&counts->n_failures, 1, __ATOMIC_RELAXED);
    printf("different at %s:%d: ", strrchr(file, '/') == NULL ? file : strrchr(file, '/') + 1,
           line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

bool conformance_emulated(void)
{
    return dlsym(RTLD_DEFAULT, "cuda_emu_calls") != NULL;
}

int conformance_devices(void)
{
    int n = 0;

    WORKS(cuDeviceGetCount(&n));
    return n;
}

double conformance_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

CUcontext conformance_context(CUdevice device)
{
    CUcontext context = NULL;

    WORKS(cuDevicePrimaryCtxRetain(&context, device));
    WORKS(cuCtxSetCurrent(context));
    return context;
}

static int list_devices(void)
{
    char text[32];
    int code = (int)cuInit(0), n = 0, i;

    if (code != 0) {
        printf("cuInit %d\n", code);
        return 0;
    }
    (void)cuDeviceGetCount(&n);
    for (i = 0; i < n; i++) {
        (void)cuDeviceGetPCIBusId(text, (int)sizeof(text), i);
        printf("%d %s\n", i, text);
    }
    return 0;
}

/* Runs a part in a process of its own: a driver does not survive fork(). */
static pid_t start(void (*part)(int socket), int socket)
{
    pid_t child = fork();

    if (child == 0) {
        part(socket);
        fflush(stdout);
        _exit(0);
    }
    return child;
}

static void finish(pid_t child, const char *name)
{
    int status = -1;

    (void)waitpid(child, &status, 0);
    conformance_check(status == 0, __FILE__, __LINE__, "process \"%s\" ended with status %d", name,
                      status);
}

static void memory_part(int socket)
{
    (void)socket;
    conformance_memory();
}

static void copy_part(int socket)
{
    (void)socket;
    conformance_copy();
}

static void run_processes(void)
{
    int pair[2];
    pid_t exporter, importer;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        perror("socketpair");
        exit(99);
    }
    exporter = start(conformance_export, pair[0]);
    importer = start(conformance_import, pair[1]);
    close(pair[0]);
    close(pair[1]);
    finish(exporter, "exporter");
    finish(importer, "importer");
}

int main(int argc, char **argv)
{
    int passed;

    if (argc > 1 && strcmp(argv[1], "devices") == 0) {
        return list_devices();
    }
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED) {
        return 99;
    }
    finish(start(memory_part, -1), "memory");
    finish(start(copy_part, -1), "copies");
    run_processes();
    passed = counts->n_checks - counts->n_failures;
    printf("%s driver\n%d%%: Checks: %d, Failures: %d, Errors: 0\n",
           conformance_emulated() ? "emulated" : "real", 100 * passed / counts->n_checks,
           counts->n_checks, counts->n_failures);
    return counts->n_failures != 0;
}
