/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <stdio.h>

typedef struct counter {
    const char *name;
    int class_of_variable; /* MCA_BASE_PVAR_CLASS_* */
    uint64_t *value;
    const char *help;
} counter_t;

static int register_counter(vp_component_t *component, const counter_t *counter)
{
    int index = mca_base_component_pvar_register(
        &component->super.collm_version, counter->name, counter->help, OPAL_INFO_LVL_4,
        counter->class_of_variable, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
        MCA_BASE_VAR_BIND_NO_OBJECT, MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
        NULL, NULL, NULL, counter->value);

    return 0 > index ? index : OMPI_SUCCESS;
}

static int register_path_counters(vp_component_t *component)
{
    int kind;
    int code = OMPI_SUCCESS;

    for (kind = 0; kind < (int)VP_N_PATH_KINDS && OMPI_SUCCESS == code; kind++) {
        char name[32];
        char help[96];
        counter_t counter = {name, MCA_BASE_PVAR_CLASS_AGGREGATE,
                             &component->counters.sent_bytes[kind], help};

        (void)snprintf(name, sizeof(name), "bytes_%s", vp_path_kind_text((vp_path_kind_t)kind));
        (void)snprintf(help, sizeof(help), "Bytes that this rank put over paths of kind %s",
                       vp_path_kind_text((vp_path_kind_t)kind));
        code = register_counter(component, &counter);
    }
    return code;
}

static int register_reason_counters(vp_component_t *component)
{
    static const struct {
        const char *word;
        const char *text;
    } reasons[VP_N_REASONS] = {
#define REASON_TEXT(name, word, text) {word, text},
        VP_REASON_MAP(REASON_TEXT)
#undef REASON_TEXT
    };
    int reason;
    int code = OMPI_SUCCESS;

    for (reason = 0; reason < (int)VP_N_REASONS && OMPI_SUCCESS == code; reason++) {
        char name[48];
        char help[128];
        counter_t counter = {name, MCA_BASE_PVAR_CLASS_COUNTER,
                             &component->counters.n_reasons[reason], help};

        (void)snprintf(name, sizeof(name), "not_carried_%s", reasons[reason].word);
        (void)snprintf(help, sizeof(help), "Calls that were staged or passed on because %s",
                       reasons[reason].text);
        code = register_counter(component, &counter);
    }
    return code;
}

int vp_counters_register(vp_component_t *component)
{
    vp_counters_t *values = &component->counters;
    const counter_t counters[] = {
        {"carried", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_carried,
         "Calls whose bytes were moved by this component's lanes"},
        {"staged", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_staged,
         "Calls that went through host memory to the collective below"},
        {"passed_on", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_passed_on,
         "Calls that were passed on to the collective below, untouched"},
        {"lanes", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_lanes,
         "Lanes that this rank executed: a put and a flush each"},
        {"activations", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_activations,
         "Activations of all plans that were executed"},
        {"planning_ns", MCA_BASE_PVAR_CLASS_AGGREGATE, &values->planning_ns,
         "Time in ns that this rank spent planning"},
        {"exchange_ns", MCA_BASE_PVAR_CLASS_AGGREGATE, &values->exchange_ns,
         "Time in ns that this rank spent exchanging counts, addresses and keys"},
        {"cache_hits", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_cache_hits,
         "Calls whose counts came again: neither exchanged nor planned"},
        {"execution_ns", MCA_BASE_PVAR_CLASS_AGGREGATE, &values->execution_ns,
         "Time in ns that lanes of carried calls took, to the meeting of all ranks at the end"},
        {"predicted_ns", MCA_BASE_PVAR_CLASS_AGGREGATE, &values->predicted_ns,
         "Time in ns that the plans of carried calls predict for that"},
        {"registrations", MCA_BASE_PVAR_CLASS_COUNTER, &values->registrations,
         "Allocations of device memory that were registered: kept ones are not counted again"},
        {"key_exchanges", MCA_BASE_PVAR_CLASS_COUNTER, &values->key_exchanges,
         "Calls in which remote keys had to be exchanged"},
        {"rates_learned", MCA_BASE_PVAR_CLASS_COUNTER, &values->n_rates_learned,
         "Corrections of rates that plans use, as coll_variopath_learn allows"},
        {"bytes_self", MCA_BASE_PVAR_CLASS_AGGREGATE, &values->self_bytes,
         "Bytes that this rank copied to itself"},
    };
    size_t i;
    int code = register_path_counters(component);

    if (OMPI_SUCCESS == code) {
        code = register_reason_counters(component);
    }

    for (i = 0; i < sizeof(counters) / sizeof(counters[0]) && OMPI_SUCCESS == code; i++) {
        code = register_counter(component, &counters[i]);
    }
    return code;
}
