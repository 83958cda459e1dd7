/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <stdio.h>
#include <stdlib.h>

#include "mca/discover.h"
#include "mca/modex.h"
#include "ompi/proc/proc.h"

static int component_register(void);
static int component_open(void);
static int component_close(void);
static int component_init_query(bool progress_threads, bool mpi_threads);

vp_component_t mca_coll_variopath_component = {
    .super =
        {
            .collm_version =
                {
                    VP_COLL_VERSION,
                    .mca_component_name = "variopath",
                    MCA_BASE_MAKE_VERSION(component, VP_VERSION_MAJOR, VP_VERSION_MINOR,
                                          VP_VERSION_RELEASE),
                    .mca_open_component = component_open,
                    .mca_close_component = component_close,
                    .mca_register_component_params = component_register,
                },
            .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .collm_init_query = component_init_query,
            .collm_comm_query = vp_module_query,
        },
    .output = -1,
    .dump = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static void write_log(void *context, vp_log_level_t level, const char *line)
{
    const vp_component_t *component = context;

    /* Stream 0 is always shown; ours only at the verbosity that was asked for. */
    opal_output(level < 0 ? 0 : component->output, "coll:variopath: %s", line);
}

static int component_register(void)
{
    static bool widening = false;
    vp_component_t *component = &mca_coll_variopath_component;
    int code;

    if (!vp_version_matches()) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    code = vp_params_register(component);
    if (OMPI_SUCCESS == code) {
        code = vp_counters_register(component);
    }
    if (OMPI_SUCCESS != code || widening || !component->params.widen) {
        return code;
    }
    /* Registering the other components registers this one again. */
    widening = true;
    code = vp_widen();
    widening = false;
    return code;
}

/* Is there a communicator that would be served with these? */
static bool params_serve(const vp_params_t *params)
{
    return params->enable && 0 <= params->priority;
}

static int component_open(void)
{
    vp_component_t *component = &mca_coll_variopath_component;

    component->output = opal_output_open(NULL);
    opal_output_set_verbosity(component->output, component->params.verbose);
    component->log = (vp_log_t){write_log, component, component->params.verbose};
    (void)opal_show_help_add_dir(component->params.help_dir);
    /* Before the processes exchange what they published. */
    if (vp_modex_ready()) {
        vp_peers_publish();
        if (params_serve(&component->params) && vp_discover_wanted(&component->params)) {
            vp_discover_publish();
        }
    }
    return OMPI_SUCCESS;
}

static uint64_t sum_bytes(const vp_counters_t *counters)
{
    uint64_t n_bytes = 0;
    int kind;

    for (kind = 0; kind < (int)VP_N_PATH_KINDS; kind++) {
        n_bytes += counters->sent_bytes[kind];
    }
    return n_bytes;
}

/* What this process's calls came to, against what was predicted for them. */
static void summarize(const vp_component_t *component)
{
    const vp_counters_t *counters = &component->counters;
    double took_ns = (double)counters->execution_ns, stock_ns = (double)counters->pairwise_ns;

    opal_output(
        0,
        "coll:variopath: rank 0: %llu calls carried, %llu staged, %llu passed on; %llu bytes "
        "put; carried calls took %.3f ms, predicted %.3f, and %.3f (%.2f times as long) for "
        "the stock pairwise exchange; exchange and planning %.3f ms, %llu calls with a kept "
        "plan",
        (unsigned long long)counters->n_carried, (unsigned long long)counters->n_staged,
        (unsigned long long)counters->n_passed_on, (unsigned long long)sum_bytes(counters),
        took_ns / 1e6, (double)counters->predicted_ns / 1e6, stock_ns / 1e6,
        0 == counters->execution_ns ? 0.0 : stock_ns / took_ns,
        (double)(counters->exchange_ns + counters->planning_ns) / 1e6,
        (unsigned long long)counters->n_cache_hits);
}

static int component_close(void)
{
    vp_component_t *component = &mca_coll_variopath_component;
    const vp_counters_t *counters = &component->counters;

    vp_log(&component->log, VP_LOG_CALL, "closing: %llu calls carried, %llu staged, %llu passed on",
           (unsigned long long)counters->n_carried, (unsigned long long)counters->n_staged,
           (unsigned long long)counters->n_passed_on);
    if (component->params.summary && component->started && 0 == component->rank) {
        summarize(component);
    }
    vp_watch_close();
    vp_request_close();
    vp_process_close();
    vp_discover_close();
    free(component->trace);
    component->trace = NULL;
    component->log.write = NULL;
    opal_output_close(component->output);
    component->output = -1;
    return OMPI_SUCCESS;
}

/* Each process writes a file of its own, whatever its ranks in communicators are. */
static void name_trace(vp_component_t *component)
{
    const char *prefix = component->params.trace;

    if (NULL != prefix && '\0' != prefix[0] &&
        0 > asprintf(&component->trace, "%s.%u", prefix, component->rank)) {
        component->trace = NULL;
    }
}

static int component_init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads;
    /* Remembered here: MPI_T_init_thread, at whatever level, overwrites what Open MPI knows. */
    mca_coll_variopath_component.threads = mpi_threads;
    mca_coll_variopath_component.started = true;
    mca_coll_variopath_component.rank = (unsigned)ompi_proc_local()->super.proc_name.vpid;
    vp_process_reserve();
    name_trace(&mca_coll_variopath_component);
    vp_watch_open(&mca_coll_variopath_component);
    return OMPI_SUCCESS;
}
