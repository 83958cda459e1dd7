/*
 * Paths that turn out to be of no use leave the communicator's catalog, on all
 * ranks together: what one rank finds, all are told, in the same order.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/avoid.h"
#include "coll_variopath/run.h"

enum { LOSS_WORDS = 5, LOSS_BYTES = LOSS_WORDS * 4 };

static const char *loss_text(uint32_t reason)
{
    switch (reason) {
    case VP_LOSS_REFUSED:
        return "is refused by the driver";
    case VP_LOSS_WRONG:
        return "brings wrong bytes";
    default:
        return "fails";
    }
}

static bool same_path(const vp_model_t *model, const vp_loss_t *a, const vp_loss_t *b)
{
    return model->rank_group[a->from] == model->rank_group[b->from] &&
           model->rank_group[a->to] == model->rank_group[b->to] &&
           a->source_class == b->source_class && a->destination_class == b->destination_class;
}

static bool is_known(const vp_model_t *model, const vp_loss_t *losses, size_t n_losses,
                     const vp_loss_t *loss)
{
    size_t i = 0;

    while (i < n_losses && !same_path(model, &losses[i], loss)) {
        i++;
    }
    return i < n_losses;
}

/* Without memory a loss is not told: it is found again when the path is used. */
void vp_losses_add(vp_engine_t *engine, const vp_loss_t *loss)
{
    if (!is_known(engine->model, engine->losses, engine->n_losses, loss) &&
        vp_array_reserve(&engine->losses, &engine->loss_capacity, engine->n_losses + 1,
                         sizeof(*engine->losses))) {
        engine->losses[engine->n_losses++] = *loss;
    }
}

/* What is agreed so far; the same on all ranks unless one ran out of memory, which it says. */
typedef struct agreed {
    vp_loss_t *losses;
    size_t n;
    size_t capacity;
    bool failed;
} agreed_t;

static void encode_losses(const vp_engine_t *engine, const agreed_t *agreed, uint8_t *wire)
{
    uint32_t words[2 + VP_LOSSES_AT_ONCE * LOSS_WORDS] = {0};
    uint32_t *word = words + 2;
    size_t i, k;

    words[1] = agreed->failed;
    for (i = 0; i < engine->n_losses && words[0] < VP_LOSSES_AT_ONCE; i++) {
        const vp_loss_t *loss = &engine->losses[i];

        if (!is_known(engine->model, agreed->losses, agreed->n, loss)) {
            *word++ = loss->from;
            *word++ = loss->to;
            *word++ = loss->source_class;
            *word++ = loss->destination_class;
            *word++ = loss->reason;
            words[0]++;
        }
    }
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (k = 0; k < 4; k++) {
            wire[4 * i + k] = (uint8_t)(words[i] >> (8 * k));
        }
    }
}

static void add_agreed(const vp_engine_t *engine, vp_reader_t *reader, agreed_t *agreed)
{
    const vp_model_t *model = engine->model;
    vp_loss_t loss;

    loss.from = vp_read_u32(reader);
    loss.to = vp_read_u32(reader);
    loss.source_class = vp_read_u32(reader);
    loss.destination_class = vp_read_u32(reader);
    loss.reason = vp_read_u32(reader);
    if (loss.from >= model->n_ranks || loss.to >= model->n_ranks ||
        loss.source_class >= model->n_classes || loss.destination_class >= model->n_classes ||
        is_known(model, agreed->losses, agreed->n, &loss)) {
        return;
    }
    if (!vp_array_reserve(&agreed->losses, &agreed->capacity, agreed->n + 1,
                          sizeof(*agreed->losses))) {
        agreed->failed = true;
        return;
    }
    agreed->losses[agreed->n++] = loss;
}

/* One round: everyone tells some that are not known yet. *more_p: somebody did. */
static vp_status_t tell_losses(vp_engine_t *engine, agreed_t *agreed, bool *more_p,
                               vp_error_t *error)
{
    bool failed = false;
    uint32_t rank, i;
    vp_status_t status;

    encode_losses(engine, agreed, engine->send_wire);
    status = vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, VP_LOSSES_BYTES,
                                 error);
    *more_p = false;
    for (rank = 0; status == VP_OK && rank < engine->n_ranks; rank++) {
        vp_reader_t reader;
        uint32_t n;

        vp_reader_init(&reader, engine->receive_wire + (size_t)rank * VP_LOSSES_BYTES,
                       VP_LOSSES_BYTES);
        n = vp_read_u32(&reader);
        failed = vp_read_u32(&reader) != 0 || failed;
        for (i = 0; i < n && i < VP_LOSSES_AT_ONCE; i++) {
            add_agreed(engine, &reader, agreed);
        }
        *more_p = *more_p || n > 0;
    }
    return status == VP_OK && failed ? vp_error_no_memory(error, "the paths that are lost")
                                     : status;
}

void vp_engine_adopt(vp_engine_t *engine, vp_catalog_t *catalog)
{
    vp_cache_clear(engine); /* its plans were made of the old one */
    vp_standing_destroy(engine->standing);
    engine->standing = NULL;
    vp_catalog_destroy(engine->own_catalog);
    engine->own_catalog = catalog;
    engine->catalog = catalog;
    engine->model = catalog->model;
}

static vp_status_t replace_catalog(vp_engine_t *engine, const agreed_t *agreed, vp_error_t *error)
{
    vp_avoided_t *avoided = vp_array_new(agreed->n, sizeof(*avoided));
    vp_report_t report = {.peer = engine->rank, .status = VP_ERR_NO_MEMORY};
    vp_catalog_t *catalog = NULL;
    vp_status_t status;
    uint32_t bad;
    size_t i;

    for (i = 0; avoided != NULL && i < agreed->n; i++) {
        const vp_loss_t *loss = &agreed->losses[i];

        avoided[i] = (vp_avoided_t){.from_group = engine->model->rank_group[loss->from],
                                    .to_group = engine->model->rank_group[loss->to],
                                    .source_class = loss->source_class,
                                    .destination_class = loss->destination_class};
    }
    if (avoided != NULL) {
        report.status =
            (int32_t)vp_catalog_avoid(engine->catalog, avoided, agreed->n, &catalog, error);
    }
    free(avoided);
    status = vp_engine_agree(engine, &report, &bad, error);
    if (status == VP_OK && bad != engine->n_ranks) {
        status = vp_error_no_memory(error, "a catalog without the paths that are lost");
    }
    if (status != VP_OK) {
        vp_catalog_destroy(catalog);
        return status;
    }
    vp_engine_adopt(engine, catalog);
    return VP_OK;
}

static void tell_user(const vp_engine_t *engine, const agreed_t *agreed)
{
    const vp_loss_t *loss = &agreed->losses[0];
    const vp_model_t *model = engine->model;

    if (engine->rank == 0) {
        vp_log(engine->options.log, VP_LOG_WARN,
               "a path of class \"%s\" from %s to %s %s (found between ranks %u and %u); it and "
               "%zu more are not used from now on, their bytes take other paths or go through "
               "host memory: correct the topology, or see whether peer access is allowed here",
               model->classes[loss->source_class].name,
               model->groups[model->rank_group[loss->from]].name,
               model->groups[model->rank_group[loss->to]].name, loss_text(loss->reason),
               engine->place_rank[loss->from], engine->place_rank[loss->to], agreed->n - 1);
    }
}

vp_status_t vp_losses_settle(vp_engine_t *engine, vp_error_t *error)
{
    agreed_t agreed = {0};
    vp_status_t status;
    bool more;

    do {
        status = tell_losses(engine, &agreed, &more, error);
    } while (status == VP_OK && more);
    engine->n_losses = 0;
    if (status == VP_OK && agreed.n > 0) {
        tell_user(engine, &agreed);
        status = replace_catalog(engine, &agreed, error);
    }
    free(agreed.losses);
    return status;
}
