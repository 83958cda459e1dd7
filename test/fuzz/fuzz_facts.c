/*
 * Facts of a node, as other processes and a cache file tell them. What is
 * accepted must give the same bytes again, and a topology file that the loader
 * takes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/import/facts.h"
#include "catalog/import/model_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_bytes(const vp_hardware_t *machine)
{
    vp_writer_t first = VP_WRITER_INIT;
    vp_writer_t second = VP_WRITER_INIT;
    vp_hardware_t *again;
    vp_error_t error;

    vp_facts_write(&first, machine);
    if (vp_facts_read(first.data, first.n_bytes, "again", &again, &error) != VP_OK) {
        abort();
    }
    vp_facts_write(&second, again);
    if (first.n_bytes != second.n_bytes || memcmp(first.data, second.data, first.n_bytes) != 0) {
        abort();
    }
    vp_hardware_destroy(again);
    vp_writer_clear(&first);
    vp_writer_clear(&second);
}

static void check_topology(vp_hardware_t *machine)
{
    vp_model_t *model = NULL;
    vp_error_t error;
    char *text;

    if (vp_facts_topology(machine, "node", &text, &error) != VP_OK) {
        return;
    }
    if (vp_import_model("node", text, strlen(text), &model, &error) == VP_ERR_BAD_INPUT) {
        abort();
    }
    vp_model_destroy(model);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    vp_hardware_t *machine;
    vp_error_t error;

    if (vp_facts_read(data, n_bytes, "input", &machine, &error) == VP_OK) {
        check_bytes(machine);
        check_topology(machine);
        vp_hardware_destroy(machine);
    }
    return 0;
}
