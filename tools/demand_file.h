/*
 * Arguments that commands on demands share.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_DEMAND_FILE_H
#define VP_TOOLS_DEMAND_FILE_H

#include "catalog/model.h"
#include "scheduler/schedule.h"

/* A whole number from 0 to VP_MAX_ALPHA_NS and nothing else; false otherwise. */
bool vp_alpha_parse(const char *text, uint64_t *alpha_ns_p);

/*
 * Reads the CSV file `argument` ("-": standard input) into new
 * demand_bytes[n_ranks][n_ranks]. VP_ERR_BAD_INPUT also when it does not have
 * the model's number of ranks.
 */
vp_status_t vp_demand_read(const char *argument, const vp_model_t *model, uint64_t **demand_bytes_p,
                           vp_error_t *error) VP_MUST_CHECK;

#endif
