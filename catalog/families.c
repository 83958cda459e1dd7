/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/families.h"

#include <stdlib.h>

void vp_families_clear(vp_families_t *families)
{
    free(families->selected);
    free(families->families);
    *families = (vp_families_t){0};
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Order in which families of a shape are paired up: footprint, then fastest first. */
static int compare_for_pairing(const void *left, const void *right)
{
    const vp_selected_t *a = left;
    const vp_selected_t *b = right;
    int order = compare_u64(a->footprint, b->footprint);

    if (order == 0) {
        order = compare_u64(b->bytes_per_s, a->bytes_per_s);
    }
    return order != 0 ? order : compare_u64(a->instance, b->instance);
}

static int compare_by_instance(const void *left, const void *right)
{
    return compare_u64(((const vp_selected_t *)left)->instance,
                       ((const vp_selected_t *)right)->instance);
}

/* How two families with equal footprints relate, lane by lane. */
typedef struct relation {
    bool a_is_faster; /* somewhere */
    bool b_is_faster;
} relation_t;

/*
 * Compares the footprints of two families lane by lane, both in pairing order;
 * 0: identical, and then *relation says which is faster where. Fastest against
 * fastest decides whether any other pairing works, too.
 */
static int compare_lanes(const vp_family_t *a, const vp_family_t *b, relation_t *relation)
{
    uint32_t i = 0;
    uint32_t k = 0;
    uint32_t used_a = 0;
    uint32_t used_b = 0;

    while (i < a->n_selected && k < b->n_selected) {
        const vp_selected_t *at_a = &a->selected[i];
        const vp_selected_t *at_b = &b->selected[k];
        uint32_t left_a = at_a->count - used_a;
        uint32_t left_b = at_b->count - used_b;
        uint32_t lanes = left_a < left_b ? left_a : left_b;

        if (at_a->footprint != at_b->footprint) {
            return compare_u64(at_a->footprint, at_b->footprint);
        }
        relation->a_is_faster = relation->a_is_faster || at_a->bytes_per_s > at_b->bytes_per_s;
        relation->b_is_faster = relation->b_is_faster || at_b->bytes_per_s > at_a->bytes_per_s;
        used_a = lanes == left_a ? 0 : used_a + lanes;
        used_b = lanes == left_b ? 0 : used_b + lanes;
        i += lanes == left_a;
        k += lanes == left_b;
    }
    return (i < a->n_selected) - (k < b->n_selected);
}

static int compare_selections(const vp_family_t *a, const vp_family_t *b)
{
    uint32_t i;

    for (i = 0; i < a->n_selected && i < b->n_selected; i++) {
        if (a->selected[i].instance != b->selected[i].instance) {
            return compare_u64(a->selected[i].instance, b->selected[i].instance);
        }
        if (a->selected[i].count != b->selected[i].count) {
            return compare_u64(a->selected[i].count, b->selected[i].count);
        }
    }
    return compare_u64(a->n_selected, b->n_selected);
}

static int compare_by_lanes(const void *left, const void *right)
{
    relation_t relation = {false, false};
    int order = compare_lanes(left, right, &relation);

    return order != 0 ? order : compare_selections(left, right);
}

/* The lanes of the group pair at *position, which moves on to the next pair. */
static uint32_t take_pair(const vp_family_t *family, uint32_t *position, uint32_t *pair_p)
{
    uint32_t lanes = 0;

    *pair_p = UINT32_MAX;
    if (*position < family->n_selected) {
        *pair_p = family->selected[*position].pair;
    }
    while (*position < family->n_selected && family->selected[*position].pair == *pair_p) {
        lanes += family->selected[(*position)++].count;
    }
    return lanes;
}

/* Lexicographic order of the shape matrices; an absent pair is a zero. */
static int compare_shapes(const vp_family_t *a, const vp_family_t *b)
{
    uint32_t at_a = 0;
    uint32_t at_b = 0;

    while (at_a < a->n_selected || at_b < b->n_selected) {
        uint32_t pair_a;
        uint32_t pair_b;
        uint32_t lanes_a = take_pair(a, &at_a, &pair_a);
        uint32_t lanes_b = take_pair(b, &at_b, &pair_b);

        if (pair_a != pair_b) {
            return pair_a > pair_b ? -1 : 1;
        }
        if (lanes_a != lanes_b) {
            return lanes_a < lanes_b ? -1 : 1;
        }
    }
    return 0;
}

static int compare_in_catalog(const void *left, const void *right)
{
    int order = compare_shapes(left, right);

    return order != 0 ? order : compare_selections(left, right);
}

bool vp_families_same_shape(const vp_family_t *a, const vp_family_t *b)
{
    return compare_shapes(a, b) == 0;
}

/* Marks the family if one of the others, which have its footprints, makes it superfluous. */
static void judge(const vp_family_t *others, size_t n_others, vp_family_t *family)
{
    size_t i;

    for (i = 0; i < n_others && !family->is_dropped; i++) {
        relation_t relation = {false, false};

        if (&others[i] == family || compare_lanes(&others[i], family, &relation) != 0) {
            continue;
        }
        if (!relation.b_is_faster && (relation.a_is_faster || &others[i] < family)) {
            family->is_dropped = true;
        }
    }
}

/* Families with equal footprints lie together after the sort: only those can be paired up. */
static void mark_dominated(vp_families_t *families)
{
    size_t begin = 0;
    size_t end;
    size_t i;

    for (; begin < families->n_families; begin = end) {
        relation_t relation = {false, false};

        for (end = begin + 1; end < families->n_families; end++) {
            if (compare_lanes(&families->families[begin], &families->families[end], &relation) !=
                0) {
                break;
            }
        }
        for (i = begin; i < end; i++) {
            judge(families->families + begin, end - begin, &families->families[i]);
        }
    }
}

static void drop_marked(vp_families_t *families)
{
    size_t n_kept = 0;
    size_t i;

    for (i = 0; i < families->n_families; i++) {
        if (!families->families[i].is_dropped) {
            families->families[n_kept++] = families->families[i];
        }
    }
    families->n_families = n_kept;
}

static void sort_selections(vp_families_t *families, int (*compare)(const void *, const void *))
{
    size_t i;

    for (i = 0; i < families->n_families; i++) {
        qsort(families->families[i].selected, families->families[i].n_selected,
              sizeof(vp_selected_t), compare);
    }
}

void vp_families_prune(vp_families_t *families)
{
    size_t i;

    if (families->n_families == 0) {
        return;
    }
    for (i = 0; i < families->n_families; i++) {
        families->families[i].selected = families->selected + families->families[i].begin;
    }
    sort_selections(families, compare_for_pairing);
    qsort(families->families, families->n_families, sizeof(vp_family_t), compare_by_lanes);
    mark_dominated(families);
    drop_marked(families);
    sort_selections(families, compare_by_instance);
    qsort(families->families, families->n_families, sizeof(vp_family_t), compare_in_catalog);
}
