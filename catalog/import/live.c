/*
 * The machine that this runs on. A build without hwloc says so.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include "catalog/import/hwloc_tree.h"
#include "catalog/import/import.h"

#ifndef VP_HAVE_HWLOC

vp_status_t vp_import_hwloc_live(bool is_quick, vp_hardware_t *machine, vp_error_t *error)
{
    (void)is_quick;
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

vp_status_t vp_import_live(bool is_quick, vp_hardware_t **machine_p, vp_error_t *error)
{
    vp_hardware_t *machine = vp_hardware_create("hwloc");
    vp_status_t status;

    if (machine == NULL) {
        return vp_error_no_memory(error, "the hardware tree");
    }
    status = vp_import_hwloc_live(is_quick, machine, error);
    if (status == VP_OK) {
        status = vp_hardware_finish(machine, "this machine", error);
    }
    if (status != VP_OK) {
        vp_hardware_destroy(machine);
        return status;
    }
    *machine_p = machine;
    return VP_OK;
}
