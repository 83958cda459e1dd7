/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/cases.h"

#include <stdlib.h>

#include "base/array.h"

/* The index-th rank of the one group to that of the other; false: there is none. */
static bool make_flow(const vp_model_t *model, uint32_t instance, uint32_t index,
                      vp_probe_flow_t *flow_p)
{
    const vp_instance_t *it = &model->instances[instance];
    const vp_group_t *from = &model->groups[it->from_group];
    const vp_group_t *to = &model->groups[it->to_group];
    uint32_t shifted = it->from_group == it->to_group ? index + 1 : index;

    if (index >= from->n_ranks || shifted >= to->n_ranks) {
        return false;
    }
    *flow_p = (vp_probe_flow_t){from->first_rank + index, to->first_rank + shifted, instance};
    return true;
}

static bool uses(const vp_instance_t *instance, uint32_t resource)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        if (instance->resources[i] == resource) {
            return true;
        }
    }
    return false;
}

static uint32_t count_common(const vp_instance_t *a, const vp_instance_t *b)
{
    uint32_t n_common = 0;
    uint32_t i;

    for (i = 0; i < a->n_resources; i++) {
        n_common += uses(b, a->resources[i]);
    }
    return n_common;
}

/* Two flows of the instances a and b from and to different ranks. */
static bool make_pair(const vp_model_t *model, uint32_t a, uint32_t b, vp_probe_case_t *case_p)
{
    uint32_t index;

    if (!make_flow(model, a, 0, &case_p->flows[0])) {
        return false;
    }
    for (index = 0; index < 2; index++) {
        if (make_flow(model, b, index, &case_p->flows[1]) &&
            case_p->flows[0].source != case_p->flows[1].source &&
            case_p->flows[0].destination != case_p->flows[1].destination) {
            return true;
        }
    }
    return false;
}

/* The pair of paths over a resource that could load it most, the first of equals. */
static bool make_shared(const vp_model_t *model, uint32_t resource, vp_probe_case_t *case_p)
{
    uint64_t best = 0;
    uint32_t a, b;

    for (a = 0; a < model->n_instances; a++) {
        for (b = a; b < model->n_instances && uses(&model->instances[a], resource); b++) {
            vp_probe_case_t candidate = {.resource = resource, .n_flows = 2};
            uint64_t load = model->instances[a].bytes_per_s + model->instances[b].bytes_per_s;

            if (load > best && uses(&model->instances[b], resource) &&
                (a == b ? model->instances[a].n_resources
                        : count_common(&model->instances[a], &model->instances[b])) == 1 &&
                make_pair(model, a, b, &candidate)) {
                *case_p = candidate;
                best = load;
            }
        }
    }
    return best > 0;
}

vp_status_t vp_probe_cases(const vp_model_t *model, vp_probe_case_t **cases_p, size_t *n_cases_p,
                           vp_error_t *error)
{
    size_t most = (size_t)model->n_instances + model->n_resources;
    vp_probe_case_t *cases;
    size_t n_cases = 0;
    uint32_t i;

    if (most > VP_PROBE_MAX_CASES) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "%s has %zu paths and shared links to measure, the limit is %d; "
                            "measure fewer nodes (:nodes=N)",
                            model->name, most, VP_PROBE_MAX_CASES);
    }
    cases = vp_array_new(most, sizeof(*cases));
    if (cases == NULL) {
        return vp_error_no_memory(error, "the list of measurements");
    }
    for (i = 0; i < model->n_instances; i++) {
        cases[n_cases] = (vp_probe_case_t){.resource = VP_PROBE_ALONE, .n_flows = 1};
        n_cases += make_flow(model, i, 0, &cases[n_cases].flows[0]);
    }
    for (i = 0; i < model->n_resources; i++) {
        n_cases += make_shared(model, i, &cases[n_cases]);
    }
    *cases_p = cases;
    *n_cases_p = n_cases;
    return VP_OK;
}
