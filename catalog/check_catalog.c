/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define CATALOG_REMEDY "; build the catalog again"

/*
 * What one family takes. `used_by` is stamped with the family and `lanes` is
 * zeroed where the family touched it, so that a family costs its own size.
 */
typedef struct tally {
    const vp_catalog_t *catalog;
    uint32_t *used_by;    /* [n_resources] family that uses it, plus one */
    uint32_t *lanes;      /* [n_groups * n_groups] lanes of the family */
    uint32_t *out;        /* [n_groups] */
    uint32_t *in;         /* [n_groups] */
    uint32_t *fillers;    /* [n_groups] selected local copies without footprint */
    uint64_t *n_fillers;  /* [n_groups] local copies without footprint that exist */
    uint64_t n_lanes;     /* of the family */
    uint64_t shape_lanes; /* of the shape at hand */
} tally_t;

static vp_status_t tree_error(vp_error_t *error, const char *what, uint32_t index,
                              const char *fault)
{
    return vp_error_set(error, VP_ERR_BAD_INPUT, "%s %" PRIu32 " of the catalog %s" CATALOG_REMEDY,
                        what, index, fault);
}

static bool is_filler(const vp_instance_t *instance)
{
    return instance->from_group == instance->to_group && instance->n_resources == 0;
}

static void count_fillers(const vp_model_t *model, uint64_t *n_fillers)
{
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        if (is_filler(&model->instances[i])) {
            n_fillers[model->instances[i].from_group] += model->instances[i].n_copies;
        }
    }
}

/* Equation 2: members ascending, within their copies, every resource at most once. */
static const char *add_members(tally_t *tally, uint32_t family)
{
    const vp_catalog_t *catalog = tally->catalog;
    const vp_model_t *model = catalog->model;
    uint32_t begin = catalog->member_begin[family];
    uint32_t i;
    uint32_t k;

    for (i = begin; i < catalog->member_begin[family + 1]; i++) {
        const vp_member_t *member = &catalog->members[i];
        const vp_instance_t *instance;

        if (member->instance >= model->n_instances ||
            (i > begin && member->instance <= catalog->members[i - 1].instance)) {
            return "has members that do not exist or are not ascending";
        }
        instance = &model->instances[member->instance];
        if (member->count == 0 || member->count > instance->n_copies) {
            return "selects an instance never or more often than it has copies";
        }
        for (k = 0; k < instance->n_resources; k++) {
            if (tally->used_by[instance->resources[k]] == family + 1) {
                return "uses a shared resource twice";
            }
            tally->used_by[instance->resources[k]] = family + 1;
        }
        tally->lanes[vp_pair(model, instance->from_group, instance->to_group)] += member->count;
        tally->out[instance->from_group] += member->count;
        tally->in[instance->to_group] += member->count;
        tally->fillers[instance->from_group] += is_filler(instance) ? member->count : 0;
        tally->n_lanes += member->count;
        if (tally->out[instance->from_group] > model->groups[instance->from_group].n_ranks ||
            tally->in[instance->to_group] > model->groups[instance->to_group].n_ranks) {
            return "has more lanes at a group than that has ranks";
        }
    }
    return NULL;
}

/*
 * Equation 1. Positions may stay without a lane only in a group that has no
 * local copy left to fill them.
 */
static bool is_balanced(const tally_t *tally)
{
    const vp_model_t *model = tally->catalog->model;
    uint32_t group;

    for (group = 0; group < model->n_groups; group++) {
        uint32_t n_ranks = model->groups[group].n_ranks;

        if (tally->out[group] != tally->in[group] ||
            (tally->out[group] < n_ranks && tally->fillers[group] < tally->n_fillers[group])) {
            return false;
        }
    }
    return true;
}

/* Does the family have the lanes of its shape? Leaves tally->lanes zeroed. */
static bool has_shape(tally_t *tally, uint32_t shape, uint32_t family)
{
    const vp_catalog_t *catalog = tally->catalog;
    const vp_model_t *model = catalog->model;
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    const uint16_t *lanes = catalog->shape_lanes + shape * n_pairs;
    bool is_equal = tally->n_lanes == tally->shape_lanes;
    size_t previous = n_pairs;
    uint32_t i;

    for (i = catalog->member_begin[family]; i < catalog->member_begin[family + 1]; i++) {
        const vp_instance_t *instance = &model->instances[catalog->members[i].instance];
        size_t pair = vp_pair(model, instance->from_group, instance->to_group);

        if (pair != previous) {
            is_equal = is_equal && tally->lanes[pair] == lanes[pair];
            tally->lanes[pair] = 0;
            previous = pair;
        }
    }
    return is_equal;
}

static int compare_members(const vp_catalog_t *catalog, uint32_t a, uint32_t b)
{
    const vp_member_t *at_a = catalog->members + catalog->member_begin[a];
    const vp_member_t *at_b = catalog->members + catalog->member_begin[b];
    const vp_member_t *end_a = catalog->members + catalog->member_begin[a + 1];
    const vp_member_t *end_b = catalog->members + catalog->member_begin[b + 1];

    for (; at_a < end_a && at_b < end_b; at_a++, at_b++) {
        if (at_a->instance != at_b->instance) {
            return at_a->instance < at_b->instance ? -1 : 1;
        }
        if (at_a->count != at_b->count) {
            return at_a->count < at_b->count ? -1 : 1;
        }
    }
    return (at_a < end_a) - (at_b < end_b);
}

static vp_status_t check_family(tally_t *tally, uint32_t shape, uint32_t family, vp_error_t *error)
{
    const vp_catalog_t *catalog = tally->catalog;
    size_t n_groups = catalog->model->n_groups;
    const char *fault;

    if (catalog->member_begin[family + 1] == catalog->member_begin[family]) {
        return tree_error(error, "family", family, "is empty");
    }
    tally->n_lanes = 0;
    memset(tally->out, 0, n_groups * sizeof(*tally->out));
    memset(tally->in, 0, n_groups * sizeof(*tally->in));
    memset(tally->fillers, 0, n_groups * sizeof(*tally->fillers));
    fault = add_members(tally, family);
    if (fault == NULL && !is_balanced(tally)) {
        fault = "does not balance the lanes of a group";
    }
    if (fault == NULL && !has_shape(tally, shape, family)) {
        fault = "does not have the lanes of its shape";
    }
    if (fault == NULL && family > catalog->shapes[shape].first_family &&
        compare_members(catalog, family - 1, family) >= 0) {
        fault = "is listed twice or out of order";
    }
    return fault == NULL ? VP_OK : tree_error(error, "family", family, fault);
}

static int compare_shapes(const vp_catalog_t *catalog, uint32_t a, uint32_t b)
{
    size_t n_pairs = (size_t)catalog->model->n_groups * catalog->model->n_groups;
    const uint16_t *lanes_a = catalog->shape_lanes + a * n_pairs;
    const uint16_t *lanes_b = catalog->shape_lanes + b * n_pairs;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        if (lanes_a[pair] != lanes_b[pair]) {
            return lanes_a[pair] < lanes_b[pair] ? -1 : 1;
        }
    }
    return 0;
}

static uint64_t count_lanes(const vp_catalog_t *catalog, uint32_t shape)
{
    size_t n_pairs = (size_t)catalog->model->n_groups * catalog->model->n_groups;
    uint64_t n_lanes = 0;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        n_lanes += catalog->shape_lanes[shape * n_pairs + pair];
    }
    return n_lanes;
}

static vp_status_t check_shape(tally_t *tally, uint32_t shape, uint32_t first_family,
                               vp_error_t *error)
{
    const vp_catalog_t *catalog = tally->catalog;
    const vp_shape_t *it = &catalog->shapes[shape];
    uint32_t i;

    if (it->first_family != first_family || it->n_families == 0 ||
        it->n_families > catalog->n_families - first_family) {
        return tree_error(error, "shape", shape, "has no families or those of another");
    }
    if (shape > 0 && compare_shapes(catalog, shape - 1, shape) >= 0) {
        return tree_error(error, "shape", shape, "is listed twice or out of order");
    }
    tally->shape_lanes = count_lanes(catalog, shape);
    for (i = 0; i < it->n_families; i++) {
        vp_status_t status = check_family(tally, shape, first_family + i, error);

        if (status != VP_OK) {
            return status;
        }
    }
    return VP_OK;
}

static vp_status_t check_tree(tally_t *tally, vp_error_t *error)
{
    const vp_catalog_t *catalog = tally->catalog;
    uint32_t first_family = 0;
    uint32_t shape;
    vp_status_t status;

    for (shape = 0; shape < catalog->n_shapes; shape++) {
        status = check_shape(tally, shape, first_family, error);
        if (status != VP_OK) {
            return status;
        }
        first_family += catalog->shapes[shape].n_families;
    }
    if (first_family != catalog->n_families) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the shapes of the catalog hold %" PRIu32
                            " families of %" PRIu32 CATALOG_REMEDY,
                            first_family, catalog->n_families);
    }
    return VP_OK;
}

/* The order that catalog files rely on. */
static vp_status_t check_order(const vp_model_t *model, vp_error_t *error)
{
    uint32_t i;

    for (i = 1; i < model->n_resources; i++) {
        if (model->resources[i].node < model->resources[i - 1].node) {
            return tree_error(error, "resource", i, "follows one of a later node");
        }
    }
    for (i = 1; i < model->n_nics; i++) {
        if (model->nics[i].node < model->nics[i - 1].node) {
            return tree_error(error, "NIC", i, "follows one of a later node");
        }
    }
    return VP_OK;
}

static vp_status_t check_frame(const vp_catalog_t *catalog, vp_error_t *error)
{
    uint32_t i;

    if (catalog->mode != VP_CATALOG_EXHAUSTIVE && catalog->mode != VP_CATALOG_GENERATED) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the catalog is of an unknown mode %d" CATALOG_REMEDY,
                            (int)catalog->mode);
    }
    if (catalog->mode == VP_CATALOG_GENERATED &&
        (catalog->n_shapes != 0 || catalog->n_families != 0)) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the catalog is a generated one, yet it lists %" PRIu32
                            " shapes and %" PRIu32 " families" CATALOG_REMEDY,
                            catalog->n_shapes, catalog->n_families);
    }
    if (catalog->n_families == UINT32_MAX || catalog->member_begin[0] != 0) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the families of the catalog do not begin at the first "
                            "member" CATALOG_REMEDY);
    }
    for (i = 0; i < catalog->n_families; i++) {
        if (catalog->member_begin[i + 1] < catalog->member_begin[i]) {
            return tree_error(error, "family", i, "has a negative number of members");
        }
    }
    return VP_OK;
}

vp_status_t vp_catalog_check(const vp_catalog_t *catalog, vp_error_t *error)
{
    const vp_model_t *model = catalog->model;
    tally_t tally = {.catalog = catalog};
    vp_status_t status = vp_model_check(model, error);

    if (status == VP_OK) {
        status = check_order(model, error);
    }
    if (status == VP_OK) {
        status = check_frame(catalog, error);
    }
    if (status != VP_OK || catalog->mode == VP_CATALOG_GENERATED) {
        return status;
    }
    tally.used_by = vp_array_new(model->n_resources, sizeof(*tally.used_by));
    tally.lanes = vp_array_new((size_t)model->n_groups * model->n_groups, sizeof(*tally.lanes));
    tally.out = vp_array_new(model->n_groups, sizeof(*tally.out));
    tally.in = vp_array_new(model->n_groups, sizeof(*tally.in));
    tally.fillers = vp_array_new(model->n_groups, sizeof(*tally.fillers));
    tally.n_fillers = vp_array_new(model->n_groups, sizeof(*tally.n_fillers));
    if (tally.used_by == NULL || tally.lanes == NULL || tally.out == NULL || tally.in == NULL ||
        tally.fillers == NULL || tally.n_fillers == NULL) {
        status = vp_error_no_memory(error, "the check of a catalog");
    } else {
        count_fillers(model, tally.n_fillers);
        status = check_tree(&tally, error);
    }
    free(tally.used_by);
    free(tally.lanes);
    free(tally.out);
    free(tally.in);
    free(tally.fillers);
    free(tally.n_fillers);
    return status;
}
