/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <string.h>

/* The default and all that coll_variopath_cts may name. */
#define VP_COLLECTIVES                                                                             \
    "alltoall,alltoallv,alltoallw,ialltoall,ialltoallv,ialltoallw,"                                \
    "alltoall_init,alltoallv_init,alltoallw_init"

static int register_one(vp_component_t *component, const char *name, const char *help,
                        mca_base_var_type_t type, mca_base_var_info_lvl_t level, void *storage)
{
    int index =
        mca_base_component_var_register(&component->super.collm_version, name, help, type, NULL, 0,
                                        0, level, MCA_BASE_VAR_SCOPE_READONLY, storage);

    return 0 > index ? index : OMPI_SUCCESS;
}

static void set_defaults(vp_params_t *params)
{
    *params = (vp_params_t){
        .priority = 95, /* above hcoll (90), below monitoring */
        .enable = true,
        .min_ranks = 2,
        .collectives = VP_COLLECTIVES,
        .catalog = "",
        .topology = "",
        .node = "",
        .scheduler = "auto",
        .sharing = "auto",
        .links = "",
        .sync = "auto",
        .learn = "advise",
        .leaders = "auto",
        .pack_max_bytes = 1ULL << 30,
        .trace = "",
        .trace_format = "lines",
        .timeout_ms = 300000,
        .overlap_percent = 400,
        .cache_plans = 8,
        .widen = true,
        .help_dir = VP_HELP_DIR,
        .compiled_version = (char *)vp_lanes_compiled_version(),
        .runtime_version = (char *)vp_lanes_runtime_version(),
    };
}

#define REGISTER(name, type, level, field, help)                                                   \
    do {                                                                                           \
        if (OMPI_SUCCESS == code) {                                                                \
            code = register_one(component, name, help, MCA_BASE_VAR_TYPE_##type,                   \
                                OPAL_INFO_LVL_##level, &component->params.field);                  \
        }                                                                                          \
    } while (0)

static int register_user_level(vp_component_t *component)
{
    int code = OMPI_SUCCESS;

    REGISTER(
        "enable", BOOL, 3, enable,
        "Use this component. Off: it declines every communicator, and device buffers reach the "
        "collectives below (default: true)");
    REGISTER("verbose", INT, 3, verbose,
             "Verbosity of the component's own stream: 0 silent, 1 once per communicator, 5 one "
             "line per call, 10 one line per lane (default: 0)");
    REGISTER("catalog", STRING, 3, catalog,
             "Channel catalog to load, a file written by `variopath catalog build`; takes "
             "precedence over coll_variopath_topology (default: empty)");
    REGISTER("topology", STRING, 3, topology,
             "Topology to build a catalog from when the first communicator is created: a shipped "
             "name or a JSON file, with :nodes=N, :rates=SET, :transports=SET as `variopath "
             "topology show` takes them; or auto, with :transports=SET: each process discovers its "
             "node at start-up, and catalogs follow from the nodes of the ranks; or none: nothing "
             "is served. Empty: auto, unless there is a catalog (default: empty)");
    REGISTER("host", BOOL, 3, host,
             "Carry calls whose buffers are in host memory too. Off: they are passed on to the "
             "collective below (default: false)");
    REGISTER(
        "sync_stream", BOOL, 3, sync_stream,
        "Wait for the legacy default stream of a device buffer's context before the call looks at "
        "it, for programs that do not wait themselves. Off: buffers must be ready when the call "
        "is made, as MPI says (default: false)");
    REGISTER("trace", STRING, 3, trace,
             "Append one JSON line per call, with every lane's bytes and times in ns, to this file "
             "name plus \".RANK\", the rank in MPI_COMM_WORLD. Empty: no trace (default: empty)");
    REGISTER("trace_format", STRING, 3, trace_format,
             "Format of coll_variopath_trace: lines, or chrome: events for Perfetto; the files of "
             "all ranks, one behind the other from rank 0 on, are one trace (default: lines)");
    REGISTER("summary", BOOL, 3, summary,
             "At the end, one line of MPI_COMM_WORLD's rank 0: its calls, and the time of those "
             "carried beside what was predicted for them and for the pairwise exchange "
             "(default: false)");
    REGISTER(
        "dump_signal", INT, 3, dump_signal,
        "Number of a signal on which a process tells on stderr what its calls wait for: lanes, "
        "peers, paths, bytes outstanding. The handler only counts, progress writes; a signal "
        "that the program handles itself is left to it. 0: none (default: 0)");
    REGISTER("dump_ms", UNSIGNED_INT, 3, dump_ms,
             "Tell the same of a call in which nothing has happened for this many ms, and again "
             "each time that so much has passed; 0: never (default: 0)");
    return code;
}

static int register_tuner_level(vp_component_t *component)
{
    int code = OMPI_SUCCESS;

    REGISTER("priority", INT, 6, priority,
             "Priority of this component in the coll framework, at most 100; negative: never "
             "selected (default: 95)");
    REGISTER("np", INT, 6, min_ranks,
             "Smallest communicator, in ranks, that this component serves; of smaller ones device "
             "buffers are staged (default: 2)");
    REGISTER(
        "cts", STRING, 6, collectives,
        "Comma-separated collectives to carry; of the others only device buffers are looked at, "
        "and staged (default, and all there are: " VP_COLLECTIVES ")");
    REGISTER("scheduler", STRING, 6, scheduler,
             "Planner that decomposes a call's demand into activations: auto, colour, critical, "
             "list, concurrent or paper "
             "(default: auto)");
    REGISTER("sharing", STRING, 6, sharing,
             "Whether lanes may share links: off, on (a pair over two paths at once) or auto "
             "(also concurrent lanes, whichever the contention profile makes fastest; off where "
             "there is no profile) (default: auto)");
    REGISTER("links", STRING, 6, links,
             "Contention profile of the topology that plans are made for: ideal, or a name that "
             "`variopath topology show` lists. Empty: the one measured together with the "
             "topology's rates, if any (default: empty)");
    REGISTER(
        "sync", STRING, 6, sync,
        "How consecutive activations are ordered: deps (a lane starts when those before it "
        "on its source, destination and shared links have ended), barrier (all ranks meet "
        "after each activation), free (each rank runs its lanes in plan order) or auto: deps, but "
        "free where activations are mostly overhead (default: auto)");
    REGISTER(
        "chunk_bytes", UNSIGNED_LONG_LONG, 6, chunk_bytes,
        "Longest put in bytes: a longer lane goes in pieces, up to eight of them under way. 0: "
        "what a path moves in twice an activation's overhead where lanes wait for each other, "
        "no limit otherwise (default: 0)");
    REGISTER("learn", STRING, 6, learn,
             "What becomes of the rates that lanes are observed to have: off; advise: once, at the "
             "16th call of a communicator, all ranks compare them with the topology's, and at "
             "coll_variopath_verbose 1 a line says which is off by more than a quarter; on: from "
             "the 4th call on, at powers of two and every 64 calls, all ranks agree on "
             "corrections, which their plans use from then on (default: advise)");
    REGISTER("leaders", STRING, 6, leaders,
             "How counts that are new come from node to node: on: each node's first rank exchanges "
             "for it; off: by the allgather below; auto: on, where that is predicted to be faster. "
             "What any rank is told to leave is left (default: auto)");
    REGISTER("overlap", UNSIGNED_INT, 6, overlap_percent,
             "With deps, how long before its end a lane lets the next one start, in percent of "
             "an activation's overhead (default: 400)");
    REGISTER("alpha_ns", UNSIGNED_LONG_LONG, 6, alpha_ns,
             "Overhead of one activation in ns that the planner assumes; 0: the topology's own "
             "figure (default: 0)");
    REGISTER("min_gain", UNSIGNED_INT, 6, min_gain_percent,
             "Pass a call on unless the pairwise exchange below is predicted to take at least "
             "this many percent longer than the plan; 0: carry whatever can be carried "
             "(default: 0)");
    REGISTER("pack_max", UNSIGNED_LONG_LONG, 6, pack_max_bytes,
             "Largest memory in bytes, per communicator, for data that cannot move where it lies: "
             "blocks of datatypes with gaps, and what an in-place call sends. It is kept between "
             "calls; calls that need more are passed on (default: 1 GiB)");
    REGISTER("max_endpoints", UNSIGNED_INT, 6, max_endpoints,
             "UCX endpoints, and with them queue pairs, that a process may have: one for each peer "
             "and pair of path classes. A communicator that needs more is passed on, with that "
             "reason. 0: no limit (default: 0)");
    REGISTER("staging_bytes", UNSIGNED_LONG_LONG, 6, staging_bytes,
             "Host memory that a process may map, and pin where it is used, for lanes that go "
             "through the host; where it is too little, what has to be staged is not carried. "
             "0: 128 MiB, more with over 128 ranks (default: 0)");
    REGISTER("min_bytes", UNSIGNED_INT, 6, min_bytes,
             "Pass a call on when all ranks together send fewer bytes to each other (default: 0)");
    REGISTER("cache", UNSIGNED_INT, 6, cache_plans,
             "Plans that a communicator keeps for counts that come again, at most 32; such a call "
             "exchanges 16 bytes per rank and plans nothing; 0: none (default: 8)");
    REGISTER("timeout_ms", UNSIGNED_INT, 6, timeout_ms,
             "Give up a call with an error on all ranks when, once all have entered it, nothing "
             "moves for this many ms; 0: wait for ever (default: 300000)");
    return code;
}

static int register_developer_level(vp_component_t *component)
{
    int code = OMPI_SUCCESS;

    REGISTER("widen", BOOL, 9, widen,
             "When the parameter `coll` names this component alone, load the other coll "
             "components too, so that the collectives this one does not offer are there "
             "(default: true)");
    REGISTER("node", STRING, 9, node,
             "Name of the node that this process counts as when nodes are discovered; processes of "
             "one name that find the same hardware are on one node. Empty: the host's name "
             "(default: empty)");
    REGISTER("help_dir", STRING, 9, help_dir,
             "Directory of " VP_HELP_FILE " (default: where it was installed)");
    REGISTER("compiletime_version", VERSION_STRING, 4, compiled_version,
             "Version of UCX that the component was compiled against");
    REGISTER("runtime_version", VERSION_STRING, 4, runtime_version,
             "Version of UCX that this process uses");
    return code;
}

int vp_params_register(vp_component_t *component)
{
    int code;

    set_defaults(&component->params);
    code = register_user_level(component);
    if (OMPI_SUCCESS == code) {
        code = register_tuner_level(component);
    }
    if (OMPI_SUCCESS == code) {
        code = register_developer_level(component);
    }
    return code;
}

/* Is `name` one of the comma-separated words of `list`? */
static bool listed(const char *list, const char *name)
{
    size_t n_bytes = strlen(name);
    const char *word = list;

    while (NULL != word && '\0' != *word) {
        size_t length = strcspn(word, ", ");

        if (length == n_bytes && 0 == strncmp(word, name, n_bytes)) {
            return true;
        }
        word += length;
        word += strspn(word, ", ");
    }
    return false;
}

bool vp_params_overrides(const vp_params_t *params, const char *collective)
{
    return listed(params->collectives, collective);
}

static bool offers_any(const vp_params_t *params)
{
#define OR_LISTED(name) || listed(params->collectives, #name)
    return false VP_FOREACH_OFFERED(OR_LISTED);
#undef OR_LISTED
}

bool vp_params_sharing(const vp_params_t *params, vp_sharing_t *sharing_p)
{
    static const struct {
        const char *name;
        vp_sharing_t sharing;
    } known[] = {{"auto", VP_SHARING_AUTO}, {"off", VP_SHARING_OFF}, {"on", VP_SHARING_ON}};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (0 == strcmp(params->sharing, known[i].name)) {
            *sharing_p = known[i].sharing;
            return true;
        }
    }
    return false;
}

bool vp_params_leaders(const vp_params_t *params, vp_leaders_use_t *leaders_p)
{
    static const struct {
        const char *name;
        vp_leaders_use_t leaders;
    } known[] = {{"auto", VP_LEADERS_AUTO}, {"off", VP_LEADERS_OFF}, {"on", VP_LEADERS_ON}};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (0 == strcmp(params->leaders, known[i].name)) {
            *leaders_p = known[i].leaders;
            return true;
        }
    }
    return false;
}

bool vp_params_learn(const vp_params_t *params, vp_learn_t *learn_p)
{
    static const struct {
        const char *name;
        vp_learn_t learn;
    } known[] = {{"off", VP_LEARN_OFF}, {"advise", VP_LEARN_ADVISE}, {"on", VP_LEARN_ON}};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (0 == strcmp(params->learn, known[i].name)) {
            *learn_p = known[i].learn;
            return true;
        }
    }
    return false;
}

bool vp_params_sync(const vp_params_t *params, vp_sync_t *sync_p)
{
    static const struct {
        const char *name;
        vp_sync_t sync;
    } known[] = {{"auto", VP_SYNC_AUTO},
                 {"deps", VP_SYNC_DEPS},
                 {"barrier", VP_SYNC_BARRIER},
                 {"free", VP_SYNC_FREE}};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (0 == strcmp(params->sync, known[i].name)) {
            *sync_p = known[i].sync;
            return true;
        }
    }
    return false;
}

const char *vp_params_refusal(const vp_params_t *params, const char **value_p, const char **known_p)
{
    vp_sharing_t sharing;
    vp_sync_t sync;
    vp_learn_t learn;
    vp_leaders_use_t leaders;

    if (NULL == vp_schedule_find(params->scheduler)) {
        *value_p = params->scheduler;
        *known_p = vp_schedule_names();
        return "coll_variopath_scheduler";
    }
    if (0 != strcmp(params->trace_format, "lines") && 0 != strcmp(params->trace_format, "chrome")) {
        *value_p = params->trace_format;
        *known_p = "lines, chrome";
        return "coll_variopath_trace_format";
    }
    if (VP_MAX_CACHED_PLANS < params->cache_plans) {
        *value_p = "more than 32";
        *known_p = "0 to 32";
        return "coll_variopath_cache";
    }
    if (!vp_params_sharing(params, &sharing)) {
        *value_p = params->sharing;
        *known_p = "auto, off, on";
        return "coll_variopath_sharing";
    }
    if (!vp_params_sync(params, &sync)) {
        *value_p = params->sync;
        *known_p = "auto, deps, barrier, free";
        return "coll_variopath_sync";
    }
    if (!vp_params_leaders(params, &leaders)) {
        *value_p = params->leaders;
        *known_p = "auto, off, on";
        return "coll_variopath_leaders";
    }
    if (!vp_params_learn(params, &learn)) {
        *value_p = params->learn;
        *known_p = "off, advise, on";
        return "coll_variopath_learn";
    }
    if (!offers_any(params)) {
        *value_p = params->collectives;
        *known_p = VP_COLLECTIVES;
        return "coll_variopath_cts";
    }
    return NULL;
}
