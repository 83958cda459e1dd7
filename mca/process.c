/*
 * State of the process: the catalog, the lanes, and how they end. MPI_Finalize
 * first deletes the attributes of MPI_COMM_SELF, while all of MPI still works:
 * our endpoints are closed there. It then fences all ranks and frees
 * communicators: the last module to go takes the lanes along.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/build.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "mca/discover.h"
#include "ompi/attribute/attribute.h"
#include "ompi/runtime/mpiruntime.h"

static struct process_state {
    pthread_mutex_t lock; /* never held across a collective */
    bool catalog_tried;
    vp_catalog_t *catalog;
    char fault[VP_ERROR_TEXT_BYTES];
    bool lanes_tried;
    vp_lanes_t *lanes;
    bool shutting_down;
    int n_modules;
    int keyval;
    void *reserve; /* never written, so it takes no memory of the machine */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

static bool given(const char *parameter)
{
    return NULL != parameter && '\0' != parameter[0];
}

const char *vp_process_source(void)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;

    if (vp_discover_wanted(params)) {
        return "nodes";
    }
    return given(params->catalog) || 0 != strcmp(vp_params_text(params->topology), "none")
               ? "file"
               : "nothing";
}

static vp_status_t build_catalog(const char *topology, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;
    vp_status_t status = vp_topology_resolve(topology, &model, error);

    if (VP_OK == status) {
        status = vp_catalog_make(&model, VP_BUILD_AUTO, NULL, NULL, &catalog, error);
    }
    if (VP_OK == status) {
        status = vp_catalog_seal(catalog, error);
    }
    vp_model_destroy(model);
    if (VP_OK != status) {
        vp_catalog_destroy(catalog);
        return status;
    }
    *catalog_p = catalog;
    return VP_OK;
}

/* Kept until all ranks have agreed what to do: one of them tells the user then. */
void vp_process_note_fault(const vp_error_t *error)
{
    (void)snprintf(process.fault, sizeof(process.fault), "%s", error->text);
}

static void load_catalog(void)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    vp_error_t error;
    vp_status_t status;

    if (given(params->catalog)) {
        status = vp_catalog_load(params->catalog, &process.catalog, NULL, &error);
    } else {
        status = build_catalog(params->topology, &process.catalog, &error);
    }
    if (VP_OK != status) {
        vp_process_note_fault(&error);
    }
}

const vp_catalog_t *vp_process_catalog(void)
{
    (void)pthread_mutex_lock(&process.lock);
    if (!process.catalog_tried) {
        process.catalog_tried = true;
        load_catalog();
    }
    (void)pthread_mutex_unlock(&process.lock);
    return process.catalog;
}

static int advance(void)
{
    /* No lock: registered only while the lanes exist. */
    return (int)vp_lanes_progress(process.lanes);
}

static void free_lanes(void)
{
    if (NULL != process.lanes) {
        (void)opal_progress_unregister(advance);
        vp_lanes_destroy(process.lanes);
        process.lanes = NULL;
    }
}

/* A communicator made from MPI_COMM_SELF does not inherit the attribute. */
static int do_not_copy(MPI_Comm comm, int keyval, void *extra, void *value_in, void *value_out,
                       int *flag VP_COPY_TO_COMM)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    (void)value_in;
    (void)value_out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int self_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    process.shutting_down = true;
    if (NULL != process.lanes) {
        vp_lanes_close(process.lanes);
    }
    return MPI_SUCCESS;
}

/* A process that only has sessions has no MPI_COMM_SELF: closing the component must do there. */
static void watch_finalize(void)
{
    ompi_attribute_fn_ptr_union_t copy;
    ompi_attribute_fn_ptr_union_t deleted;

    if (OMPI_MPI_STATE_INIT_COMPLETED > ompi_mpi_state) {
        return;
    }
    copy.attr_communicator_copy_fn = do_not_copy;
    deleted.attr_communicator_delete_fn = self_deleted;
    if (OMPI_SUCCESS ==
        ompi_attr_create_keyval(COMM_ATTR, copy, deleted, &process.keyval, NULL, 0, NULL)) {
        (void)ompi_attr_set_c(COMM_ATTR, &ompi_mpi_comm_self.comm,
                              &ompi_mpi_comm_self.comm.c_keyhash, process.keyval, &process, false);
    }
}

static void mark_wanted(const vp_model_t *model, uint32_t group, bool *wanted)
{
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        if (model->instances[i].from_group == group) {
            wanted[model->instances[i].source_class] = true;
        }
        if (model->instances[i].to_group == group) {
            wanted[model->instances[i].destination_class] = true;
        }
    }
}

static void open_lanes(const vp_model_t *model, uint32_t topology_rank)
{
    bool *wanted = calloc(model->n_classes + 1, sizeof(*wanted));
    vp_lanes_config_t config = {
        .classes = model->classes,
        .n_classes = model->n_classes,
        .wanted = wanted,
        .estimated_peers = model->n_ranks,
        .place = topology_rank,
        .n_places = model->n_ranks,
        .max_endpoints = mca_coll_variopath_component.params.max_endpoints,
        .inbox_bytes = mca_coll_variopath_component.params.staging_bytes,
        .threads = mca_coll_variopath_component.threads,
        .tolerant = VP_FAULT_TOLERANCE_ON(),
        .log = &mca_coll_variopath_component.log,
    };
    vp_error_t error;
    vp_status_t status = VP_ERR_NO_MEMORY;

    if (NULL != wanted) {
        mark_wanted(model, model->rank_group[topology_rank], wanted);
        status = vp_lanes_create(&config, &process.lanes, &error);
    } else {
        (void)vp_error_no_memory(&error, "path classes");
    }
    free(wanted);
    if (VP_OK != status) {
        vp_process_note_fault(&error);
        return;
    }
    /*
     * While a rank waits in a collective below, or in MPI_Wait, its workers must
     * still move: some transports need the target's help for a put.
     */
    (void)opal_progress_register_lp(advance);
    watch_finalize();
}

vp_lanes_t *vp_process_lanes(const vp_model_t *model, uint32_t rank)
{
    (void)pthread_mutex_lock(&process.lock);
    if (!process.lanes_tried && !process.shutting_down && NULL != model && rank < model->n_ranks) {
        process.lanes_tried = true;
        open_lanes(model, rank);
    }
    (void)pthread_mutex_unlock(&process.lock);
    return process.lanes;
}

const char *vp_process_fault(void)
{
    return process.fault;
}

bool vp_process_shutting_down(void)
{
    return process.shutting_down;
}

void vp_process_reserve(void)
{
    enum { RESERVE_BYTES = 4 << 20 };

    process.reserve = malloc(RESERVE_BYTES);
}

bool vp_process_spend(void)
{
    void *reserve;

    (void)pthread_mutex_lock(&process.lock);
    reserve = process.reserve;
    process.reserve = NULL;
    (void)pthread_mutex_unlock(&process.lock);
    free(reserve);
    return NULL != reserve;
}

void *vp_process_need(size_t n, size_t size)
{
    void *memory = vp_array_new(n, size);

    return NULL == memory && vp_process_spend() ? vp_array_new(n, size) : memory;
}

void vp_process_hold(void)
{
    (void)pthread_mutex_lock(&process.lock);
    process.n_modules++;
    (void)pthread_mutex_unlock(&process.lock);
}

void vp_process_drop(void)
{
    bool last;

    (void)pthread_mutex_lock(&process.lock);
    process.n_modules--;
    last = 0 == process.n_modules && process.shutting_down;
    (void)pthread_mutex_unlock(&process.lock);
    if (last) {
        free_lanes();
    }
}

void vp_process_close(void)
{
    free_lanes();
    (void)vp_process_spend();
    vp_catalog_destroy(process.catalog);
    process.catalog = NULL;
    process.catalog_tried = false;
    process.lanes_tried = false;
}
