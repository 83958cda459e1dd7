/*
 * What the tables of commands say, as text: for a terminal, as manual pages, as
 * completion for bash.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_MANUAL_H
#define VP_TOOLS_MANUAL_H

#include <stdio.h>

#include "tools/options.h"

/* `variopath COMMAND --help`; headings are bold on a terminal. */
void vp_manual_help(const vp_command_t *command, FILE *stream);
/* `variopath --help`. commands: ends with NULL. */
void vp_manual_overview(const vp_command_t *const *commands, FILE *stream);

/* variopath-COMMAND(1), or with command NULL variopath(1), in man(7). */
void vp_manual_page(const vp_command_t *command, const vp_command_t *const *commands, FILE *stream);

/* A script that bash-completion loads. */
void vp_completion_bash(const vp_command_t *const *commands, FILE *stream);

#endif
