/*
 * A model as the JSON object that `topology show` and `topology import` print.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_MODEL_JSON_H
#define VP_TOOLS_MODEL_JSON_H

#include <jansson.h>

#include "catalog/model.h"

/* json_decref the result; NULL when memory is out. */
json_t *vp_model_to_json(const vp_model_t *model);

#endif
