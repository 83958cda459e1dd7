/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <string.h>

/*
 * `--mca coll variopath` is an inclusive list: no other component is loaded,
 * and MPI_Init aborts because nobody offers, say, allgather. Until the
 * framework opens the selection may still be changed, so the register
 * function empties it ("" means no restriction) and registers the rest.
 * Lists with more than this one name, and "^" lists, are the user's own.
 */
int vp_widen(void)
{
    mca_base_framework_t *framework = &ompi_coll_base_framework;
    const char *selection = framework->framework_selection;
    int variable;
    int code;

    if (NULL == selection || 0 != strcmp(selection, "variopath")) {
        return OMPI_SUCCESS;
    }
    variable =
        mca_base_var_find(framework->framework_project, framework->framework_name, NULL, NULL);
    if (0 > variable) {
        return variable;
    }
    code = mca_base_var_set_value(variable, "", 1, MCA_BASE_VAR_SOURCE_SET, NULL);
    if (OPAL_SUCCESS != code) {
        return code;
    }
    /*
     * MPI_T and ompi_info register every component whatever the selection is:
     * all are in the list then, and finding them again would list the
     * statically linked ones twice.
     */
    if (1 < opal_list_get_size(&framework->framework_components)) {
        return OMPI_SUCCESS;
    }
    return mca_base_framework_components_register(framework, MCA_BASE_REGISTER_DEFAULT);
}
