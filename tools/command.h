/*
 * Sub-commands of the `variopath` binary: stdout is data, stderr is log.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_COMMAND_H
#define VP_TOOLS_COMMAND_H

#include "base/status.h"
#include "tools/options.h"

/* Exit codes, documented for users. */
enum {
    VP_EXIT_OK = 0,
    VP_EXIT_NO = 1,         /* a check answered no */
    VP_EXIT_BAD_INPUT = 2,  /* bad usage or bad input */
    VP_EXIT_ENVIRONMENT = 3 /* I/O, missing driver, no permission, no memory */
};

extern const vp_command_t vp_command_bound;
extern const vp_command_t vp_command_catalog;
extern const vp_command_t vp_command_demand;
extern const vp_command_t vp_command_doctor;
extern const vp_command_t vp_command_plan;
extern const vp_command_t vp_command_probe;
extern const vp_command_t vp_command_simulate;
extern const vp_command_t vp_command_topology;
extern const vp_command_t vp_command_trace;

/* Prints "variopath: TEXT" to stderr and returns the exit code of the status. */
int vp_command_fail(const vp_error_t *error);
/* Prints a usage message built from the format, points to --help, returns VP_EXIT_BAD_INPUT. */
int vp_command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
