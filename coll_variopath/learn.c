/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/learn.h"

#include <string.h>

#include "base/units.h"
#include "catalog/rescale.h"
#include "coll_variopath/run.h"

enum {
    WHOLE_PPM = 1000000,
    SLOWEST_PPM = WHOLE_PPM / 8, /* a correction never goes further than that, */
    FASTEST_PPM = WHOLE_PPM * 8,
    TOLERANCE_PPM = 250000, /* nor is it made for less: lanes have overheads, and meet at times */
    ENOUGH_LANES = 2,       /* for a rank to have an opinion */
    LONG_LANE = 4,          /* overheads of an activation: shorter lanes are mostly overhead */
    FIRST_CALL = 4,         /* afterwards at powers of two and */
    EVERY_CALLS = 64,
    ADVISE_CALL = 16
};

void vp_rates_start(vp_rates_t *rates, const vp_model_t *model)
{
    uint32_t i, k;

    memset(rates, 0, sizeof(*rates));
    for (i = 0; i < model->n_instances && rates->n < VP_MAX_RATES; i++) {
        const vp_instance_t *instance = &model->instances[i];
        vp_rate_t rate = {.kind = instance->kind,
                          .source_class = instance->source_class,
                          .destination_class = instance->destination_class,
                          .stated_bytes_per_s = instance->bytes_per_s,
                          .ppm = WHOLE_PPM};

        for (k = 0; k < rates->n && (rates->rates[k].kind != rate.kind ||
                                     rates->rates[k].source_class != rate.source_class ||
                                     rates->rates[k].destination_class != rate.destination_class);
             k++) {
        }
        if (k == rates->n) {
            rates->rates[rates->n++] = rate;
        }
    }
}

static vp_rate_t *find_rate(vp_rates_t *rates, const vp_instance_t *instance)
{
    uint32_t i;

    for (i = 0; i < rates->n; i++) {
        if (rates->rates[i].kind == instance->kind &&
            rates->rates[i].source_class == instance->source_class &&
            rates->rates[i].destination_class == instance->destination_class) {
            return &rates->rates[i];
        }
    }
    return NULL;
}

static uint64_t alpha_of(const vp_engine_t *engine)
{
    return engine->options.alpha_ns != 0 ? engine->options.alpha_ns : engine->model->alpha_ns;
}

/* Lanes that share their links by plan, or that wait for nobody, show less than their path's rate.
 */
void vp_rates_observe(vp_engine_t *engine, const vp_program_t *program, const vp_lane_t *lane,
                      uint64_t n_bytes, uint64_t took_ns)
{
    const vp_instance_t *instance = &engine->model->instances[lane->instance];
    uint64_t predicted_ns = vp_transfer_ns(n_bytes, instance->bytes_per_s);
    uint64_t longest_ns = predicted_ns > took_ns ? predicted_ns : took_ns;
    vp_rate_t *rate;

    if (engine->options.learn == VP_LEARN_OFF || program->sync == VP_SYNC_FREE ||
        program->plan->form.order == VP_PLAN_CONCURRENT || took_ns == 0 ||
        longest_ns < vp_mul_sat(LONG_LANE, alpha_of(engine))) {
        return;
    }
    rate = find_rate(&engine->rates, instance);
    if (rate != NULL) {
        rate->predicted_ns = vp_add_sat(rate->predicted_ns, predicted_ns);
        rate->actual_ns = vp_add_sat(rate->actual_ns, took_ns);
        rate->n_lanes++;
    }
}

static bool is_due(const vp_engine_t *engine)
{
    uint64_t n = engine->n_calls;

    switch (engine->options.learn) {
    case VP_LEARN_OFF:
        return false;
    case VP_LEARN_ADVISE:
        return n == ADVISE_CALL;
    case VP_LEARN_ON:
        return n >= FIRST_CALL && (n % EVERY_CALLS == 0 || (n & (n - 1)) == 0);
    }
    return false;
}

static void put_u32(uint8_t *wire, uint32_t value)
{
    int i;

    for (i = 0; i < 4; i++) {
        wire[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get_u32(const uint8_t *wire)
{
    return (uint32_t)wire[0] | (uint32_t)wire[1] << 8 | (uint32_t)wire[2] << 16 |
           (uint32_t)wire[3] << 24;
}

/* What the rate is, of the one in use; 0: this rank has seen too little. */
static uint32_t own_opinion(const vp_rate_t *rate)
{
    uint64_t ppm;

    if (rate->n_lanes < ENOUGH_LANES || rate->actual_ns == 0) {
        return 0;
    }
    ppm = vp_muldiv_floor(rate->predicted_ns, WHOLE_PPM, rate->actual_ns);
    return ppm < SLOWEST_PPM ? SLOWEST_PPM : ppm > FASTEST_PPM ? FASTEST_PPM : (uint32_t)ppm;
}

/* The lower median of all opinions, so that no rank that was held up counts; 0: there is none. */
static uint32_t median_opinion(vp_engine_t *engine, uint32_t index, uint32_t *n_ranks_p,
                               uint32_t *n_lanes_p)
{
    uint32_t *opinions = engine->obstacles; /* [n_ranks], free between calls */
    uint32_t rank, k, n = 0;

    *n_lanes_p = 0;
    for (rank = 0; rank < engine->n_ranks; rank++) {
        const uint8_t *wire =
            engine->receive_wire + (size_t)rank * VP_RATES_BYTES + 8 * (size_t)index;
        uint32_t opinion = get_u32(wire);

        if (opinion == 0) {
            continue;
        }
        for (k = n++; k > 0 && opinions[k - 1] > opinion; k--) {
            opinions[k] = opinions[k - 1];
        }
        opinions[k] = opinion;
        *n_lanes_p += get_u32(wire + 4);
    }
    *n_ranks_p = n;
    return n == 0 ? 0 : opinions[(n - 1) / 2];
}

static bool is_off(uint32_t ppm)
{
    /* Twice as slow is as far off as twice as fast. */
    return ppm != 0 && (ppm < (uint64_t)WHOLE_PPM * WHOLE_PPM / (WHOLE_PPM + TOLERANCE_PPM) ||
                        ppm > WHOLE_PPM + TOLERANCE_PPM);
}

static void tell_rate(vp_engine_t *engine, const vp_rate_t *rate, uint32_t ppm, uint32_t n_ranks,
                      uint32_t n_lanes)
{
    const vp_path_class_t *classes = engine->model->classes;
    bool used = engine->options.learn == VP_LEARN_ON;
    uint64_t total_ppm = vp_muldiv_floor(rate->ppm, ppm, WHOLE_PPM);

    if (engine->rank != 0 ||
        (!used && __atomic_fetch_add(&engine->counters->n_advised, 1, __ATOMIC_RELAXED) > 0)) {
        return;
    }
    vp_log(engine->options.log, VP_LOG_NOTE,
           "rates: %s paths from class \"%s\" to \"%s\" move %llu bytes/s, the topology says %llu "
           "(%u lanes of %u ranks): %s",
           vp_path_kind_text(rate->kind), classes[rate->source_class].name,
           classes[rate->destination_class].name,
           (unsigned long long)vp_muldiv_floor(rate->stated_bytes_per_s, total_ppm, WHOLE_PPM),
           (unsigned long long)rate->stated_bytes_per_s, n_lanes, n_ranks,
           used ? "plans use that from now on; state it as bytes_per_s of these links"
                : "state that as bytes_per_s of these links in the topology's rates, measure them "
                  "with variopath-probe, or set coll_variopath_learn to on");
}

/* Corrections of this call that all ranks derive; returns how many. */
static size_t derive(vp_engine_t *engine, vp_rescaled_t *rescaled)
{
    size_t n_rescaled = 0;
    uint32_t i, n_ranks, n_lanes;

    for (i = 0; i < engine->rates.n; i++) {
        vp_rate_t *rate = &engine->rates.rates[i];
        uint32_t ppm = median_opinion(engine, i, &n_ranks, &n_lanes);
        uint64_t total_ppm;

        if (!is_off(ppm)) {
            continue;
        }
        total_ppm = vp_muldiv_floor(rate->ppm, ppm, WHOLE_PPM);
        if (total_ppm < SLOWEST_PPM || total_ppm > FASTEST_PPM) {
            continue;
        }
        tell_rate(engine, rate, ppm, n_ranks, n_lanes);
        rescaled[n_rescaled++] = (vp_rescaled_t){.kind = rate->kind,
                                                 .source_class = rate->source_class,
                                                 .destination_class = rate->destination_class,
                                                 .ppm = ppm};
        if (engine->options.learn == VP_LEARN_ON) {
            rate->ppm = (uint32_t)total_ppm;
        }
    }
    return n_rescaled;
}

static vp_status_t correct(vp_engine_t *engine, const vp_rescaled_t *rescaled, size_t n_rescaled,
                           vp_error_t *error)
{
    vp_report_t report = {.peer = engine->rank};
    vp_catalog_t *catalog = NULL;
    vp_status_t status;
    uint32_t bad;

    report.status =
        (int32_t)vp_catalog_rescale(engine->catalog, rescaled, n_rescaled, &catalog, error);
    status = vp_engine_agree(engine, &report, &bad, error);
    if (status == VP_OK && bad != engine->n_ranks) {
        status = vp_error_no_memory(error, "a catalog with the rates that were learned");
    }
    if (status != VP_OK) {
        vp_catalog_destroy(catalog);
        return status;
    }
    vp_engine_adopt(engine, catalog);
    vp_counter_add(&engine->counters->n_rates_learned, n_rescaled);
    return VP_OK;
}

/* What was seen goes with the rates that it was seen at. */
static void forget_all(vp_rates_t *rates)
{
    uint32_t i;

    for (i = 0; i < rates->n; i++) {
        rates->rates[i].predicted_ns = 0;
        rates->rates[i].actual_ns = 0;
        rates->rates[i].n_lanes = 0;
    }
}

vp_status_t vp_rates_settle(vp_engine_t *engine, vp_error_t *error)
{
    vp_rescaled_t rescaled[VP_MAX_RATES];
    size_t n_rescaled;
    vp_status_t status;
    uint32_t i;

    if (!is_due(engine)) {
        return VP_OK;
    }
    memset(engine->send_wire, 0, VP_RATES_BYTES);
    for (i = 0; i < engine->rates.n; i++) {
        put_u32(engine->send_wire + 8 * (size_t)i, own_opinion(&engine->rates.rates[i]));
        put_u32(engine->send_wire + 8 * (size_t)i + 4, engine->rates.rates[i].n_lanes);
    }
    status =
        vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, VP_RATES_BYTES, error);
    if (status != VP_OK) {
        return status;
    }
    n_rescaled = derive(engine, rescaled);
    if (engine->options.learn != VP_LEARN_ON || n_rescaled == 0) {
        return VP_OK;
    }
    forget_all(&engine->rates);
    return correct(engine, rescaled, n_rescaled, error);
}
