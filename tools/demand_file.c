/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/demand_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "scheduler/demand.h"

/* 4096 rows of 4096 cells of 20 characters and their commas. */
#define MAX_DEMAND_TEXT_BYTES ((size_t)384 << 20)

bool vp_alpha_parse(const char *text, uint64_t *alpha_ns_p)
{
    unsigned long long value;
    char *end;

    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > VP_MAX_ALPHA_NS) {
        return false;
    }
    *alpha_ns_p = value;
    return true;
}

vp_status_t vp_demand_read(const char *argument, const vp_model_t *model, uint64_t **demand_bytes_p,
                           vp_error_t *error)
{
    bool is_stdin = strcmp(argument, "-") == 0;
    const char *where = is_stdin ? "standard input" : argument;
    char *text = NULL;
    size_t n_bytes = 0;
    uint32_t n_ranks = 0;
    vp_status_t status = vp_file_read(is_stdin ? "/dev/stdin" : argument, MAX_DEMAND_TEXT_BYTES,
                                      &text, &n_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    if (strlen(text) != n_bytes) {
        status =
            vp_error_set(error, VP_ERR_BAD_INPUT,
                         "%s: holds a zero byte; a demand is a text of rows of byte counts", where);
    } else {
        status = vp_demand_parse(text, where, demand_bytes_p, &n_ranks, error);
    }
    free(text);
    if (status == VP_OK && n_ranks != model->n_ranks) {
        status = vp_error_set(error, VP_ERR_BAD_INPUT,
                              "%s: the demand has %" PRIu32 " ranks, the topology \"%s\" has "
                              "%" PRIu32 "; nothing was planned, give one row and column for each "
                              "rank or another number of nodes",
                              where, n_ranks, model->name, model->n_ranks);
    }
    return status;
}
