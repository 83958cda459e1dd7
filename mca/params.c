/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

/* Values of coll_variopath_sync. "auto" is what measures best so far: free. */
enum { SYNC_AUTO = 0 };

static mca_base_var_enum_value_t sync_values[] = {
    {SYNC_AUTO, "auto"},
    {1 + (int)VP_SYNC_FREE, "free"},
    {1 + (int)VP_SYNC_BARRIER, "barrier"},
    {0, NULL},
};

static int register_one(vp_component_t *component, const char *name, const char *help,
                        mca_base_var_type_t type, mca_base_var_enum_t *values,
                        mca_base_var_info_lvl_t level, void *storage)
{
    int index =
        mca_base_component_var_register(&component->super.collm_version, name, help, type, values,
                                        0, 0, level, MCA_BASE_VAR_SCOPE_READONLY, storage);

    return 0 > index ? index : OMPI_SUCCESS;
}

static void set_defaults(vp_params_t *params)
{
    *params = (vp_params_t){
        .priority = 95, /* above hcoll (90), below monitoring */
        .enable = true,
        .min_ranks = 2,
        .collectives = "alltoall,alltoallv",
        .catalog = "",
        .topology = "",
        .scheduler = "auto",
        .sync = SYNC_AUTO,
        .trace = "",
        .timeout_ms = 300000,
        .widen = true,
        .help_dir = VP_HELP_DIR,
        .compiled_version = (char *)vp_lanes_compiled_version(),
        .runtime_version = (char *)vp_lanes_runtime_version(),
    };
}

#define REGISTER(name, type, values, level, field, help)                                           \
    do {                                                                                           \
        if (OMPI_SUCCESS == code) {                                                                \
            code = register_one(component, name, help, MCA_BASE_VAR_TYPE_##type, values,           \
                                OPAL_INFO_LVL_##level, &component->params.field);                  \
        }                                                                                          \
    } while (0)

static int register_user_level(vp_component_t *component)
{
    int code = OMPI_SUCCESS;

    REGISTER("enable", BOOL, NULL, 3, enable,
             "Use this component. Off: it declines every communicator (default: true)");
    REGISTER("verbose", INT, NULL, 3, verbose,
             "Verbosity of the component's own stream: 0 silent, 1 once per communicator, 5 one "
             "line per call, 10 one line per lane (default: 0)");
    REGISTER("catalog", STRING, NULL, 3, catalog,
             "Channel catalog to load, a file written by `variopath catalog build`; takes "
             "precedence over coll_variopath_topology. Empty together with it: every call is "
             "passed on (default: empty)");
    REGISTER("topology", STRING, NULL, 3, topology,
             "Topology to build a catalog from when the first communicator is created: a shipped "
             "name or a JSON file, with :nodes=N, :rates=SET, :transports=SET as `variopath "
             "topology show` takes them (default: empty)");
    REGISTER("host", BOOL, NULL, 3, host,
             "Carry calls whose buffers are in host memory too. Off: they are passed on to the "
             "collective below (default: false)");
    REGISTER("trace", STRING, NULL, 3, trace,
             "Append one JSON line per carried call, with every lane's bytes and times in ns, to "
             "this file name plus \".RANK\". Empty: no trace (default: empty)");
    return code;
}

static int register_tuner_level(vp_component_t *component, mca_base_var_enum_t *sync_enum)
{
    int code = OMPI_SUCCESS;

    REGISTER("priority", INT, NULL, 6, priority,
             "Priority of this component in the coll framework, at most 100; negative: never "
             "selected (default: 95)");
    REGISTER("np", INT, NULL, 6, min_ranks,
             "Smallest communicator, in ranks, that this component serves (default: 2)");
    REGISTER("cts", STRING, NULL, 6, collectives,
             "Comma-separated collectives to override, out of alltoall and alltoallv "
             "(default: alltoall,alltoallv)");
    REGISTER("scheduler", STRING, NULL, 6, scheduler,
             "Planner that decomposes a call's demand into activations: auto or paper "
             "(default: auto)");
    REGISTER("sync", INT, sync_enum, 6, sync,
             "How consecutive activations are ordered: free (each rank runs its lanes in plan "
             "order), barrier (a barrier of all ranks after each activation) or auto "
             "(default: auto)");
    REGISTER("alpha_ns", UNSIGNED_LONG_LONG, NULL, 6, alpha_ns,
             "Overhead of one activation in ns that the planner assumes; 0: the topology's own "
             "figure (default: 0)");
    REGISTER("min_gain", UNSIGNED_INT, NULL, 6, min_gain_percent,
             "Pass a call on unless the pairwise exchange below is predicted to take at least "
             "this many percent longer than the plan; 0: carry whatever can be carried "
             "(default: 0)");
    REGISTER("timeout_ms", UNSIGNED_INT, NULL, 6, timeout_ms,
             "Give up a call with an error on all ranks when one lane takes longer than this many "
             "ms; 0: wait for ever (default: 300000)");
    return code;
}

static int register_developer_level(vp_component_t *component)
{
    int code = OMPI_SUCCESS;

    REGISTER("widen", BOOL, NULL, 9, widen,
             "When the parameter `coll` names this component alone, load the other coll "
             "components too, so that the collectives this one does not offer are there "
             "(default: true)");
    REGISTER("help_dir", STRING, NULL, 9, help_dir,
             "Directory of " VP_HELP_FILE " (default: where it was installed)");
    REGISTER("compiletime_version", VERSION_STRING, NULL, 4, compiled_version,
             "Version of UCX that the component was compiled against");
    REGISTER("runtime_version", VERSION_STRING, NULL, 4, runtime_version,
             "Version of UCX that this process uses");
    return code;
}

int vp_params_register(vp_component_t *component)
{
    mca_base_var_enum_t *sync_enum = NULL;
    int code;

    set_defaults(&component->params);
    code = mca_base_var_enum_create("coll_variopath_sync", sync_values, &sync_enum);
    if (OPAL_SUCCESS != code) {
        return code;
    }
    code = register_user_level(component);
    if (OMPI_SUCCESS == code) {
        code = register_tuner_level(component, sync_enum);
    }
    if (OMPI_SUCCESS == code) {
        code = register_developer_level(component);
    }
    OBJ_RELEASE(sync_enum); /* the variable keeps its own reference */
    return code;
}
