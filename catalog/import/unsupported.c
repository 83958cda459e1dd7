/*
 * The readers of a build without hwloc or without libxml2: they say so.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include "catalog/import/hwloc_tree.h"
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

#ifndef VP_HAVE_HWLOC

vp_status_t vp_import_hwloc_live(vp_hardware_t *machine, vp_error_t *error)
{
    (void)machine;
    return vp_error_set(error, VP_ERR_UNSUPPORTED,
                        "this build has no hwloc and discovers nothing; install libhwloc-dev and "
                        "configure again, or import a file");
}

void vp_hwloc_version(char *text, size_t n_bytes)
{
    if (n_bytes > 0) {
        text[0] = '\0';
    }
}

#endif
