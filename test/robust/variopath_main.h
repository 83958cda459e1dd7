/*
 * Included before every file of the command line, to call it from a test.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_ROBUST_VARIOPATH_MAIN_H
#define VP_TEST_ROBUST_VARIOPATH_MAIN_H

int variopath_main(int argc, char **argv);
#define main variopath_main

#endif
