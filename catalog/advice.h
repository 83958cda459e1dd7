/*
 * What is legal in a topology but probably not what its author meant.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_ADVICE_H
#define VP_CATALOG_ADVICE_H

#include "catalog/model.h"

/* `text` is one sentence, borrowed for the call. */
typedef void (*vp_advice_fn_t)(void *context, const char *text);

/*
 * Tells about each kind of oddity of a checked model once, naming its first
 * place and how many there are: groups of different size, groups without a NIC
 * where others have one, groups of several ranks without a path inside, group
 * pairs without any path, resources that no path uses, rates without a figure.
 * *n_told_p is the number of sentences. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_model_advise(const vp_model_t *model, vp_advice_fn_t tell, void *context,
                            uint32_t *n_told_p, vp_error_t *error) VP_MUST_CHECK;

#endif
