/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_variopath/device_place.h"
#include "mca/discover.h"
#include "mca/relay.h"
#include "ompi/proc/proc.h"

static void module_construct(vp_module_t *module)
{
    memset((char *)module + sizeof(module->super), 0, sizeof(*module) - sizeof(module->super));
    module->strand.module = module;
    module->strand.messages.tag = VP_MESSAGE_TAG;
    vp_process_hold();
}

static void module_destruct(vp_module_t *module)
{
#if VP_COLL_API < 300
#define RELEASE(name)                                                                              \
    if (NULL != module->below_##name##_module) {                                                   \
        OBJ_RELEASE(module->below_##name##_module);                                                \
        module->below_##name##_module = NULL;                                                      \
    }
    VP_FOREACH_SAVED(RELEASE)
#undef RELEASE
#endif
    vp_engine_destroy(module->strand.engine);
    vp_catalog_destroy(module->strand.catalog);
    vp_messages_close(&module->strand);
    free(module->blocks);
    free(module->packed.memory);
    free(module->refusal);
    vp_process_drop();
}

OBJ_CLASS_INSTANCE(vp_module_t, mca_coll_base_module_t, module_construct, module_destruct);

static int missing_below(struct ompi_communicator_t *comm, const char *name)
{
    if (0 == ompi_comm_rank(comm)) {
        vp_help("missing-collective", name, comm->c_name);
    }
    return OMPI_ERR_NOT_FOUND;
}

/*
 * Components are enabled in ascending priority: what is in the slots now is the layer below.
 * Up to API 2.4 the framework then fills the slots from our module and keeps the lower
 * modules only as long as somebody retains them; later we fill the slots ourselves.
 */
#if VP_COLL_API >= 300
#define SAVE(name)                                                                                 \
    MCA_COLL_SAVE_API(comm, name, module->below_##name, module->below_##name##_module, "variopath");
#define INSTALL(name)                                                                              \
    if (NULL != module->super.coll_##name) {                                                       \
        MCA_COLL_INSTALL_API(comm, name, module->super.coll_##name, &module->super, "variopath");  \
    }
/* Whoever came after us may have taken the slot and put itself on top. */
#define RESTORE(name)                                                                              \
    if (&module->super == comm->c_coll->coll_##name##_module) {                                    \
        MCA_COLL_INSTALL_API(comm, name, module->below_##name, module->below_##name##_module,      \
                             "variopath");                                                         \
    }
#else
#define SAVE(name)                                                                                 \
    module->below_##name = comm->c_coll->coll_##name;                                              \
    module->below_##name##_module = comm->c_coll->coll_##name##_module;                            \
    if (NULL != module->below_##name##_module) {                                                   \
        OBJ_RETAIN(module->below_##name##_module);                                                 \
    }
#define INSTALL(name)
#define RESTORE(name)
#endif

static int module_enable(mca_coll_base_module_t *base_module, struct ompi_communicator_t *comm)
{
    vp_module_t *module = (vp_module_t *)base_module;

    module->comm = comm;
#define MISSING(name)                                                                              \
    (NULL == comm->c_coll->coll_##name || NULL == comm->c_coll->coll_##name##_module)
#define CHECK(name)                                                                                \
    if (NULL == module->refusal && MISSING(name)) {                                                \
        return missing_below(comm, #name);                                                         \
    }
    VP_FOREACH_SAVED(CHECK)
#undef CHECK
/* What nobody offers is not relayed. */
#define SKIP(name)                                                                                 \
    if (MISSING(name)) {                                                                           \
        module->super.coll_##name = NULL;                                                          \
    }
    VP_FOREACH_OFFERED(SKIP)
#undef SKIP
#undef MISSING
    VP_FOREACH_SAVED(SAVE)
    VP_FOREACH_OFFERED(INSTALL)
    module->enabled = true;
    return OMPI_SUCCESS;
}

/* Up to API 2.4 called once per slot that the module still owns, later once. */
static int module_disable(mca_coll_base_module_t *base_module, struct ompi_communicator_t *comm)
{
    vp_module_t *module = (vp_module_t *)base_module;

    (void)comm;
    if (module->enabled) {
        VP_FOREACH_OFFERED(RESTORE)
    }
    module->enabled = false;
    return OMPI_SUCCESS;
}

static bool is_off(const vp_params_t *params)
{
    return !params->enable || 0 > params->priority;
}

/* Why parameters do not let a communicator be served, in words; NULL when they do. */
static const char *find_refusal(struct ompi_communicator_t *comm)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    const char *parameter;
    const char *value;
    const char *known;

    if (OMPI_COMM_IS_INTER(comm)) {
        return "it is an inter-communicator";
    }
    if (1 >= ompi_comm_size(comm)) {
        return comm == &ompi_mpi_comm_world.comm ? "the job has one rank" : "it has one rank";
    }
    if (params->min_ranks > ompi_comm_size(comm)) {
        return "it has fewer ranks than coll_variopath_np";
    }
    if (0 == strcmp(vp_process_source(), "nothing")) {
        return "coll_variopath_topology is none";
    }
    parameter = vp_params_refusal(params, &value, &known);
    if (NULL != parameter) {
        if (comm == &ompi_mpi_comm_world.comm && 0 == ompi_comm_rank(comm)) {
            vp_help("bad-value", parameter, value, known);
        }
        return "a parameter has an unknown value";
    }
    return NULL;
}

/* Told by the first rank that others differ from, once per job at most. */
static void tell_difference(struct ompi_communicator_t *comm, int other)
{
    static bool told = false;

    if (!told && comm == &ompi_mpi_comm_world.comm && 0 == ompi_comm_rank(comm)) {
        vp_help("not-everywhere", comm->c_name, other);
    }
    told = true;
}

static bool discovers(void)
{
    return 0 == strcmp(vp_process_source(), "nodes");
}

/* Nodes that were discovered must all be usable; what was found is told once, for all ranks. */
static bool nodes_refuse(struct ompi_communicator_t *comm, char *text, size_t n_bytes)
{
    if (!discovers()) {
        return false;
    }
    if (vp_discover_refuses(comm, text, n_bytes)) {
        return true;
    }
    if (comm == &ompi_mpi_comm_world.comm && 0 == ompi_comm_rank(comm) &&
        VP_LOG_NOTE <= mca_coll_variopath_component.params.verbose) {
        vp_discover_tell(comm);
    }
    return false;
}

/*
 * Local and quick: communicators of MPI_Comm_idup are selected inside a
 * progress callback, where nothing may block. It looks only at parameters, and
 * at what all members published of theirs, never at whether this rank's
 * catalog loads: a rank that cannot take part must still be there to say so.
 */
static bool is_refused(struct ompi_communicator_t *comm, char *text, size_t n_bytes)
{
    const char *refusal = find_refusal(comm);
    int other;

    if (NULL != refusal) {
        (void)snprintf(text, n_bytes, "%s", refusal);
        return true;
    }
    other = vp_peers_find_other(comm);
    if (ompi_comm_size(comm) != other) {
        tell_difference(comm, other);
        (void)snprintf(text, n_bytes, "the component is another one or set otherwise on rank %d",
                       other);
        return true;
    }
    return nodes_refuse(comm, text, n_bytes);
}

/* Only of communicators that could have been served, and of a job that is one rank. */
static void tell_refusal(struct ompi_communicator_t *comm, const char *refusal)
{
    bool alone = 1 >= ompi_comm_size(comm) || OMPI_COMM_IS_INTER(comm);

    if (0 == ompi_comm_rank(comm) && (!alone || comm == &ompi_mpi_comm_world.comm)) {
        vp_log(&mca_coll_variopath_component.log, VP_LOG_NOTE, "%s: not served: %s", comm->c_name,
               refusal);
    }
}

static bool is_served(const vp_module_t *module, const char *collective)
{
    return NULL == module->refusal &&
           vp_params_overrides(&mca_coll_variopath_component.params, collective);
}

static void fill_slots(vp_module_t *module)
{
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
#define OFFER(name)                                                                                \
    module->super.coll_##name = is_served(module, #name) ? vp_##name : vp_relay_##name;
    VP_FOREACH_OFFERED(OFFER)
#undef OFFER
}

mca_coll_base_module_t *vp_module_query(struct ompi_communicator_t *comm, int *priority)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    vp_module_t *module;
    char refusal[512];

    *priority = -1;
    if (is_off(params)) {
        tell_refusal(comm, "coll_variopath_enable is off or coll_variopath_priority negative");
        return NULL;
    }
    module = OBJ_NEW(vp_module_t);
    if (NULL == module && vp_process_spend()) {
        module = OBJ_NEW(vp_module_t);
    }
    if (NULL == module) {
        return NULL;
    }
    if (is_refused(comm, refusal, sizeof(refusal))) {
        tell_refusal(comm, refusal);
        module->refusal = strdup(refusal);
        if (NULL == module->refusal) {
            OBJ_RELEASE(module);
            return NULL;
        }
    }
    fill_slots(module);
    *priority = params->priority;
    return &module->super;
}

static uint64_t process_key(const ompi_process_name_t *name)
{
    return (uint64_t)name->jobid << 32 | name->vpid;
}

/* World ranks are topology ranks; a process of another job has none. */
static void identify_peers(const vp_module_t *module, uint32_t *topology_rank, uint64_t *peer_key)
{
    const ompi_process_name_t *mine = &ompi_proc_local()->super.proc_name;
    int n_ranks = ompi_comm_size(module->comm);
    int i;

    for (i = 0; i < n_ranks; i++) {
        const ompi_proc_t *peer = ompi_comm_peer_lookup(module->comm, i);
        const ompi_process_name_t *name = &peer->super.proc_name;

        peer_key[i] = process_key(name);
        topology_rank[i] = name->jobid == mine->jobid ? name->vpid : UINT32_MAX;
    }
}

/*
 * Every member tells which GPU it was seen to use, so that all place it alike.
 * A process stays with the first one that it told.
 */
static vp_status_t exchange_gpus(const vp_surroundings_t *around, const void *buffer, vp_pci_t *pci,
                                 vp_error_t *error)
{
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    static vp_pci_t own = VP_PCI_UNKNOWN;
    vp_pci_t mine;

    OPAL_THREAD_LOCK(&lock);
    if (VP_PCI_UNKNOWN == own) {
        own = vp_device_locate(buffer);
    }
    mine = own;
    OPAL_THREAD_UNLOCK(&lock);
    /* Of one machine's own integers: ranks of other byte orders cannot share a job's plan. */
    if (VP_OK != around->allgather(around->context, &mine, pci, sizeof(mine))) {
        return vp_error_set(error, VP_ERR_TRANSPORT,
                            "the allgather below failed while GPUs were agreed on");
    }
    pci[around->rank] = mine;
    return VP_OK;
}

/* The catalog that a communicator plans with, and its places there; NULL: all ranks are told. */
static const vp_catalog_t *find_catalog(vp_strand_t *strand, const vp_pci_t *pci,
                                        uint32_t *topology_rank)
{
    struct ompi_communicator_t *comm = strand->module->comm;
    const vp_catalog_t *catalog;
    vp_error_t error;

    if (discovers()) {
        if (VP_OK != vp_discover_catalog(comm, pci, &strand->catalog, topology_rank, &error)) {
            vp_process_note_fault(&error);
        }
        return strand->catalog;
    }
    catalog = vp_process_catalog();
    if (NULL != catalog && NULL != catalog->model->rank_pci &&
        vp_place_by_gpu(catalog->model, pci, (uint32_t)ompi_comm_size(comm), topology_rank)) {
        vp_log(&mca_coll_variopath_component.log, VP_LOG_CALL,
               "%s: ranks are placed where their GPUs are", comm->c_name);
    }
    return catalog;
}

/* The lanes of the process, opened for the place of its GPU. */
static vp_lanes_t *find_lanes(const vp_module_t *module, const vp_catalog_t *catalog, vp_pci_t pci,
                              const uint32_t *topology_rank)
{
    vp_model_t *model = NULL;
    vp_lanes_t *lanes;
    vp_error_t error;
    uint32_t rank;

    if (!discovers()) {
        return vp_process_lanes(NULL == catalog ? NULL : catalog->model,
                                topology_rank[ompi_comm_rank(module->comm)]);
    }
    if (VP_OK != vp_discover_own_model(pci, &model, &rank, &error)) {
        vp_process_note_fault(&error);
        return NULL;
    }
    lanes = vp_process_lanes(model, rank);
    vp_model_destroy(model);
    return lanes;
}

static vp_status_t create_engine(vp_strand_t *strand, const void *buffer, vp_pci_t *pci,
                                 uint32_t *topology_rank, uint64_t *peer_key, vp_error_t *error)
{
    const vp_module_t *module = strand->module;
    vp_component_t *component = &mca_coll_variopath_component;
    const vp_params_t *params = &component->params;
    vp_engine_options_t options = {
        .carry_host = params->host,
        .devices = vp_device_present(),
        .scheduler = params->scheduler,
        .alpha_ns = params->alpha_ns,
        .min_gain_percent = params->min_gain_percent,
        .min_bytes = params->min_bytes,
        .cache_plans = params->cache_plans,
        .timeout_ms = params->timeout_ms,
        .chunk_bytes = params->chunk_bytes,
        .overlap_percent = params->overlap_percent,
        .links = params->links,
        .compare = params->summary,
        .trace = component->trace,
        .trace_chrome = 0 == strcmp(params->trace_format, "chrome"),
        .trace_process = component->rank,
        .name = module->comm->c_name,
        .dump = vp_watch_dump(),
        .log = &component->log,
    };
    const vp_catalog_t *catalog;
    vp_surroundings_t surroundings;
    vp_lanes_t *lanes;
    vp_status_t status;

    (void)vp_params_sharing(params, &options.sharing);
    (void)vp_params_learn(params, &options.learn);
    (void)vp_params_leaders(params, &options.leaders);
    (void)vp_params_sync(params, &options.sync); /* known: the communicator would not be served */
    identify_peers(module, topology_rank, peer_key);
    vp_below_fill(strand, &surroundings);
    status = exchange_gpus(&surroundings, buffer, pci, error);
    if (VP_OK != status) {
        return status;
    }
    catalog = find_catalog(strand, pci, topology_rank);
    lanes = find_lanes(module, catalog, pci[surroundings.rank], topology_rank);
    do {
        status = vp_engine_create(catalog, lanes, &surroundings, topology_rank, peer_key, &options,
                                  &component->counters, &strand->engine, error);
    } while (VP_ERR_NO_MEMORY == status && vp_process_spend());
    return status;
}

int vp_strand_prepare(vp_strand_t *strand, const void *buffer)
{
    struct ompi_communicator_t *comm = strand->module->comm;
    size_t n_ranks = (size_t)ompi_comm_size(comm);
    uint32_t *topology_rank;
    uint64_t *peer_key;
    vp_pci_t *pci;
    vp_status_t status;
    vp_error_t error;
    vp_dump_call_t dump = {
        .name = comm->c_name, .rank = (uint32_t)ompi_comm_rank(comm), .number = 1};

    if (NULL != strand->engine) {
        return OMPI_SUCCESS;
    }
    vp_dump_step(vp_watch_dump(), &dump, VP_STEP_SETUP);
    vp_dump_enter(vp_watch_dump(), &dump);
    topology_rank = vp_process_need(n_ranks, sizeof(*topology_rank));
    peer_key = vp_process_need(n_ranks, sizeof(*peer_key));
    pci = vp_process_need(n_ranks, sizeof(*pci));
    if (NULL == topology_rank || NULL == peer_key || NULL == pci) {
        status = vp_error_no_memory(&error, "a communicator's peers");
    } else {
        status = create_engine(strand, buffer, pci, topology_rank, peer_key, &error);
    }
    vp_dump_leave(vp_watch_dump(), &dump);
    free(topology_rank);
    free(peer_key);
    free(pci);
    if (VP_OK != status) {
        opal_output(0, "coll:variopath: %s: %s", comm->c_name, error.text);
        return VP_ERR_NO_MEMORY == status ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR;
    }
    return OMPI_SUCCESS;
}

int vp_module_prepare(vp_module_t *module, const void *buffer)
{
    if (NULL == module->blocks) {
        module->blocks =
            vp_process_need(2 * (size_t)ompi_comm_size(module->comm), sizeof(*module->blocks));
    }
    return NULL == module->blocks ? OMPI_ERR_OUT_OF_RESOURCE
                                  : vp_strand_prepare(&module->strand, buffer);
}
