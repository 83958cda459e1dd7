/* SPDX-License-Identifier: BSD-3-Clause */
#include "planner.h"

#include <check.h>

#include "catalog/build.h"
#include "catalog/store.h"
#include "small_model.h"

const char *const planner_name = "paper";

vp_catalog_t *planner_catalog(uint32_t n_ranks)
{
    vp_model_t *model = small_model(n_ranks);
    vp_build_options_t options = {0};
    vp_catalog_t *catalog = NULL;
    vp_error_t error;

    ck_assert_msg(vp_model_check(model, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_catalog_build(&model, &options, &catalog, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_catalog_seal(catalog, &error) == VP_OK, "%s", error.text);
    return catalog;
}
