/*
 * Where a communicator's ranks are on the topology. A communicator of all the
 * catalog's ranks plans with the catalog itself; a smaller one with the part of
 * it that its members see, which every member derives alike, without
 * communication.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "catalog/restrict.h"
#include "coll_variopath/engine_private.h"

/* The member on each place of the whole topology, UINT32_MAX: none. False: two on one, or outside.
 */
static bool mark_members(const vp_engine_t *engine, const uint32_t *topology_rank,
                         uint32_t n_places, uint32_t *member)
{
    uint32_t rank;

    memset(member, 0xff, n_places * sizeof(*member));
    for (rank = 0; rank < engine->n_ranks; rank++) {
        uint32_t place = topology_rank[rank];

        if (place >= n_places || member[place] != UINT32_MAX) {
            return false;
        }
        member[place] = rank;
    }
    return true;
}

/* Places of the communicator's own model: its members in ascending order of topology rank. */
static void number_members(vp_engine_t *engine, const uint32_t *member, uint32_t n_places,
                           uint32_t *ranks)
{
    uint32_t topology_place, place = 0;

    for (topology_place = 0; topology_place < n_places; topology_place++) {
        uint32_t rank = member[topology_place];

        if (rank != UINT32_MAX) {
            engine->place[rank] = place;
            engine->place_rank[place] = rank;
            ranks[place++] = topology_place;
        }
    }
}

/* Byte order must not matter: one hash after the other. */
static uint64_t hash_order(const uint32_t *topology_rank, uint32_t n_ranks)
{
    uint64_t order = 0;
    uint32_t rank;

    for (rank = 0; rank < n_ranks; rank++) {
        uint8_t bytes[12];
        unsigned i;

        for (i = 0; i < 8; i++) {
            bytes[i] = (uint8_t)(order >> (8 * i));
        }
        for (i = 0; i < 4; i++) {
            bytes[8 + i] = (uint8_t)(topology_rank[rank] >> (8 * i));
        }
        order = vp_hash64(bytes, sizeof(bytes));
    }
    return order;
}

static vp_status_t fit_members(vp_engine_t *engine, const vp_catalog_t *catalog,
                               const uint32_t *topology_rank, uint32_t *member, uint32_t *ranks,
                               vp_error_t *error)
{
    uint32_t n_places = catalog->model->n_ranks;
    vp_status_t status = VP_OK;

    if (!mark_members(engine, topology_rank, n_places, member)) {
        engine->fit = VP_FIT_NO_PLACE;
        return VP_OK;
    }
    engine->order_hash = hash_order(topology_rank, engine->n_ranks);
    number_members(engine, member, n_places, ranks);
    engine->catalog = catalog;
    if (engine->n_ranks < n_places) {
        status = vp_catalog_restrict(catalog, ranks, engine->n_ranks, &engine->own_catalog, error);
        engine->catalog = engine->own_catalog;
    }
    engine->model = engine->catalog == NULL ? NULL : engine->catalog->model;
    engine->fit = status == VP_OK ? VP_FIT_OK : VP_FIT_NO_CATALOG;
    return status;
}

vp_status_t vp_engine_place(vp_engine_t *engine, const vp_catalog_t *catalog,
                            const uint32_t *topology_rank, vp_error_t *error)
{
    uint32_t *member;
    uint32_t *ranks;
    vp_status_t status;

    if (catalog == NULL) {
        engine->fit = VP_FIT_NO_CATALOG;
        return VP_OK;
    }
    engine->fingerprint = catalog->fingerprint;
    engine->catalog_ranks = catalog->model->n_ranks;
    if (catalog->model->n_ranks < engine->n_ranks) {
        engine->fit = VP_FIT_OTHER_SIZE;
        return VP_OK;
    }
    member = vp_array_new(catalog->model->n_ranks, sizeof(*member));
    ranks = vp_array_new(engine->n_ranks, sizeof(*ranks));
    status = member == NULL || ranks == NULL
                 ? vp_error_no_memory(error, "the places of a communicator")
                 : fit_members(engine, catalog, topology_rank, member, ranks, error);
    free(member);
    free(ranks);
    return status;
}
