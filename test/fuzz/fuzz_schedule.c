/*
 * Schedules of other programs, and their check against a machine and a demand.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "catalog/topology.h"
#include "tools/schedule_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* For as many ranks as the schedule has, where the machine has as many. */
static void check(const vp_steps_t *steps)
{
    static vp_model_t *model;
    uint64_t *demand;
    vp_error_t error = {.text = ""};

    if (model == NULL && vp_topology_resolve("fig1-6", &model, &error) != VP_OK) {
        abort();
    }
    demand = calloc((size_t)model->n_ranks * model->n_ranks, sizeof(*demand));
    if (demand != NULL && vp_steps_check(steps, model, demand, &error) != VP_OK &&
        error.text[0] == '\0') {
        abort();
    }
    free(demand);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static char path[64];
    vp_schedule_file_t file = {0};
    vp_error_t error = {.text = ""};

    if (path[0] == '\0') {
        (void)snprintf(path, sizeof(path), "/dev/shm/vp-fuzz-%d", (int)getpid());
    }
    if (vp_file_write(path, data, n_bytes, &error) != VP_OK) {
        abort();
    }
    if (vp_schedule_file_read(path, &file, &error) == VP_OK) {
        check(&file.steps);
        vp_schedule_file_release(&file);
    } else if (error.text[0] == '\0') {
        abort();
    }
    (void)unlink(path);
    return 0;
}
