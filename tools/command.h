/*
 * Sub-commands of the `variopath` binary: stdout is data, stderr is log.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_COMMAND_H
#define VP_TOOLS_COMMAND_H

#include <stdbool.h>

#include "base/status.h"

/* Exit codes, documented for users. */
enum {
    VP_EXIT_OK = 0,
    VP_EXIT_NO = 1,         /* a check answered no */
    VP_EXIT_BAD_INPUT = 2,  /* bad usage or bad input */
    VP_EXIT_ENVIRONMENT = 3 /* I/O, missing driver, no permission, no memory */
};

/* A command gets its own argv (argv[0] = its name) and returns an exit code. */
typedef int (*vp_command_fn_t)(int argc, char **argv);

int vp_command_topology(int argc, char **argv);
int vp_command_bound(int argc, char **argv);
int vp_command_catalog(int argc, char **argv);
int vp_command_demand(int argc, char **argv);
int vp_command_plan(int argc, char **argv);
int vp_command_probe(int argc, char **argv);
int vp_command_simulate(int argc, char **argv);

/* Prints "variopath: TEXT" to stderr and returns the exit code of the status. */
int vp_command_fail(const vp_error_t *error);
/* Prints a usage message built from the format, points to --help, returns VP_EXIT_BAD_INPUT. */
int vp_command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Options of getopt_long that a command line has so far, false at its start:
 * was this one there before? One that takes a place of its own twice hides a
 * mistake. Only options that are characters other than ':' and '?' count.
 */
typedef bool vp_command_seen_t[128];
bool vp_command_is_repeated(int option, vp_command_seen_t seen);
/* The option that getopt_long has just read, as it was written, for messages. */
const char *vp_command_option_text(char **argv);

#endif
