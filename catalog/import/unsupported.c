/*
 * The readers of a build without libxml2: they say so.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include "catalog/import/import.h"

#ifndef VP_HAVE_LIBXML2

static vp_status_t no_xml(const char *where, vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_UNSUPPORTED,
                        "%s: this build reads no XML; install libxml2-dev and configure again",
                        where);
}

vp_status_t vp_import_nccl(const char *where, const char *text, size_t n_bytes,
                           vp_hardware_t *machine, vp_error_t *error)
{
    (void)text;
    (void)n_bytes;
    (void)machine;
    return no_xml(where, error);
}

vp_status_t vp_import_hwloc(const char *where, const char *text, size_t n_bytes,
                            vp_hardware_t *machine, vp_error_t *error)
{
    (void)text;
    (void)n_bytes;
    (void)machine;
    return no_xml(where, error);
}

#endif
