/*
 * What processes tell each other before there are communicators: Open MPI's
 * modex. Values are put while the component opens, before all are exchanged.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/modex.h"

#include "ompi/proc/proc.h"
#include "opal/util/proc.h"

bool vp_modex_ready(void)
{
    return VP_PMIX_USABLE();
}

bool vp_modex_put(const char *key, const void *data, size_t n_bytes)
{
    char *name = (char *)(uintptr_t)key; /* the macro takes no const, and writes nothing */
    int code;

    OPAL_MODEX_SEND_STRING(code, VP_PMIX_SCOPE, name, (void *)(uintptr_t)data,
                           (vp_pmix_size_t)n_bytes);
    return OPAL_SUCCESS == code;
}

void *vp_modex_get(const opal_process_name_t *process, const char *key, size_t *n_bytes_p)
{
    opal_process_name_t name = *process;
    uint8_t *data = NULL;
    vp_pmix_size_t n_bytes = 0;
    int code;

    OPAL_MODEX_RECV_STRING(code, key, &name, &data, &n_bytes);
    if (OPAL_SUCCESS != code || NULL == data || 0 == n_bytes) {
        free(data);
        return NULL;
    }
    *n_bytes_p = (size_t)n_bytes;
    return data;
}

uint32_t vp_modex_local_rank(void)
{
    int rank = (int)opal_process_info.my_local_rank; /* of other types in other series */

    /* Unset in a process that no launcher started. */
    return 0 > rank || UINT16_MAX <= rank ? 0 : (uint32_t)rank;
}

uint32_t vp_modex_n_processes(void)
{
    return (uint32_t)ompi_proc_world_size();
}
