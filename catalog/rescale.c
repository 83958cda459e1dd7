/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/rescale.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "catalog/restrict.h"

enum { WHOLE_PPM = 1000000 };

static uint32_t find_ppm(const vp_instance_t *instance, const vp_rescaled_t *rescaled,
                         size_t n_rescaled)
{
    size_t i;

    for (i = 0; i < n_rescaled; i++) {
        if (instance->kind == rescaled[i].kind &&
            instance->source_class == rescaled[i].source_class &&
            instance->destination_class == rescaled[i].destination_class) {
            return rescaled[i].ppm;
        }
    }
    return WHOLE_PPM;
}

static void raise_to(uint64_t *largest, uint64_t value)
{
    *largest = value > *largest ? value : *largest;
}

/* fastest[2 * n_resources]: the fastest instance of each resource before, and after. */
static void rescale_instances(vp_model_t *model, const vp_rescaled_t *rescaled, size_t n_rescaled,
                              uint64_t *fastest)
{
    uint32_t i, k;

    for (i = 0; i < model->n_instances; i++) {
        vp_instance_t *instance = &model->instances[i];
        uint64_t before = instance->bytes_per_s;
        uint64_t after =
            vp_muldiv_floor(before, find_ppm(instance, rescaled, n_rescaled), WHOLE_PPM);

        instance->bytes_per_s = after == 0 ? 1 : after;
        raise_to(&model->gpu_link_bytes_per_s, instance->bytes_per_s);
        for (k = 0; k < instance->n_resources; k++) {
            raise_to(&fastest[2 * (size_t)instance->resources[k]], before);
            raise_to(&fastest[2 * (size_t)instance->resources[k] + 1], instance->bytes_per_s);
        }
    }
}

static void rescale_resources(vp_model_t *model, const uint64_t *fastest)
{
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        uint64_t *rate = &model->resources[i].bytes_per_s;

        if (fastest[2 * (size_t)i] != 0) {
            *rate = vp_muldiv_floor(*rate, fastest[2 * (size_t)i + 1], fastest[2 * (size_t)i]);
            raise_to(rate, 1);
        }
    }
}

static vp_status_t rescale_model(vp_model_t *model, const vp_rescaled_t *rescaled,
                                 size_t n_rescaled, vp_error_t *error)
{
    uint64_t *fastest = vp_array_new(2 * (size_t)model->n_resources + 1, sizeof(*fastest));
    uint32_t i;

    if (fastest == NULL) {
        return vp_error_no_memory(error, "the rates of a catalog");
    }
    rescale_instances(model, rescaled, n_rescaled, fastest);
    rescale_resources(model, fastest);
    for (i = 0; i < model->n_nics; i++) {
        model->nics[i].bytes_per_s = model->resources[model->nics[i].tx_resource].bytes_per_s;
    }
    free(fastest);
    return vp_model_finish(model, error); /* their order knows rates */
}

vp_status_t vp_catalog_rescale(const vp_catalog_t *catalog, const vp_rescaled_t *rescaled,
                               size_t n_rescaled, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_catalog_t *result = NULL;
    vp_status_t status = vp_catalog_restrict_to_all(catalog, &result, error);

    if (status == VP_OK) {
        status = rescale_model(result->model, rescaled, n_rescaled, error);
    }
    if (status != VP_OK) {
        vp_catalog_destroy(result);
        return status;
    }
    *catalog_p = result;
    return VP_OK;
}
