/*
 * `variopath topology import`.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_CMD_IMPORT_H
#define VP_TOOLS_CMD_IMPORT_H

/* Takes the arguments from "import" on (argv[0] = "import") and returns an exit code. */
int vp_command_topology_import(int argc, char **argv);

#endif
