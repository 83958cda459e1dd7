/*
 * Demand matrices. What is accepted is square and within the limits.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = malloc(n_bytes + 1);
    uint64_t *demand = NULL;
    uint32_t n = 0;
    vp_error_t error = {.text = ""};
    size_t i;

    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0';
    if (vp_demand_parse(text, "fuzz", &demand, &n, &error) == VP_OK) {
        for (i = 0; i < (size_t)n * n; i++) {
            if (demand[i] > UINT64_C(1) << 62) {
                abort();
            }
        }
        free(demand);
    } else if (strncmp(error.text, "fuzz", 4) != 0) {
        abort(); /* every refusal says where */
    }
    free(text);
    return 0;
}
