/*
 * Whole files in and out. Reading is bounded; writing is atomic: the target
 * either keeps its old contents or has all of the new ones.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_FILE_H
#define VP_BASE_FILE_H

#include <stddef.h>

#include "base/status.h"

/*
 * Reads a regular file or a pipe of at most max_bytes into new memory (free it)
 * with a zero byte behind the last one; "-" is standard input. VP_ERR_IO: cannot be opened or read;
 * VP_ERR_BAD_INPUT: larger than max_bytes, or a directory. Outputs are written
 * only on success.
 */
vp_status_t vp_file_read(const char *path, size_t max_bytes, char **data_p, size_t *n_bytes_p,
                         vp_error_t *error) VP_MUST_CHECK;

/*
 * Writes a file through a temporary one in the same directory and a rename; a
 * symbolic link is followed. Devices, pipes and sockets are written in place,
 * "-" is standard output. VP_ERR_IO on any failure; the temporary file is then
 * removed. VP_ERR_USAGE: empty path.
 */
vp_status_t vp_file_write(const char *path, const void *data, size_t n_bytes,
                          vp_error_t *error) VP_MUST_CHECK;

#endif
