/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/lanes_stage.h"

/* Oldest UCX that the lanes are tried with. */
enum { MIN_MAJOR = 1, MIN_MINOR = 13, MIN_RELEASE = 1 };

void vp_lanes_lock(vp_lanes_t *lanes)
{
    if (lanes->threads) {
        (void)pthread_mutex_lock(&lanes->mutex);
    }
}

void vp_lanes_unlock(vp_lanes_t *lanes)
{
    if (lanes->threads) {
        (void)pthread_mutex_unlock(&lanes->mutex);
    }
}

#define TEXT_OF(number) TEXT_OF_EXPANDED(number)
#define TEXT_OF_EXPANDED(number) #number

const char *vp_lanes_compiled_version(void)
{
    return TEXT_OF(UCP_API_MAJOR) "." TEXT_OF(UCP_API_MINOR);
}

const char *vp_lanes_runtime_version(void)
{
    return ucp_get_version_string();
}

static vp_status_t check_version(vp_error_t *error)
{
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    if (major > MIN_MAJOR ||
        (major == MIN_MAJOR &&
         (minor > MIN_MINOR || (minor == MIN_MINOR && release >= MIN_RELEASE)))) {
        return VP_OK;
    }
    return vp_error_set(error, VP_ERR_UNSUPPORTED,
                        "the UCX found at run time is %u.%u.%u, but lanes need at least %d.%d.%d; "
                        "put a newer libucp.so.0 first in the library path",
                        major, minor, release, MIN_MAJOR, MIN_MINOR, MIN_RELEASE);
}

bool vp_lanes_ucx_is_old(void)
{
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    return major == 1 && minor < 14;
}

static bool has_transport(const char *tls, const char *transport)
{
    size_t length = strlen(transport);

    while (*tls != '\0') {
        size_t token = strcspn(tls, ",");

        if (token == length && strncmp(tls, transport, length) == 0) {
            return true;
        }
        tls += token + (tls[token] == ',');
    }
    return false;
}

/*
 * Settings of a class. They are made after the environment was read, so that
 * VARIOPATH_UCX_TLS or UCX_NET_DEVICES cannot send a lane over another path.
 */
static ucs_status_t modify_config(const vp_lanes_t *lanes, const vp_path_t *path,
                                  ucp_config_t *config)
{
    ucs_status_t ret;

    ret = ucp_config_modify(config, "TLS", path->tls);
    if (ret == UCS_OK && path->devices[0] != '\0') {
        ret = ucp_config_modify(config, "NET_DEVICES", path->devices);
    }
    if (ret != UCS_OK) {
        return ret;
    }
    /* What follows is not known to every release; where it is not, the default is what we want. */
    (void)ucp_config_modify(config, "PROTO_ENABLE", "y");
    if (vp_lanes_ucx_is_old()) {
        return UCS_OK; /* 1.13 takes unknown keys and warns about them on every rank */
    }
    (void)ucp_config_modify(config, "MAX_RMA_RAILS", "1");
    if (lanes->threads && has_transport(path->tls, "tcp")) {
        /* Zero-copy TCP puts crash UCX when another thread connects at that moment. */
        (void)ucp_config_modify(config, "TCP_PUT_ENABLE", "n");
    }
    if (lanes->tolerant && has_transport(path->tls, "posix")) {
        (void)ucp_config_modify(config, "POSIX_ERROR_HANDLING", "y"); /* else it offers none */
    }
    if (lanes->tolerant && has_transport(path->tls, "sysv")) {
        (void)ucp_config_modify(config, "SYSV_ERROR_HANDLING", "y");
    }
    return UCS_OK;
}

static vp_status_t path_error(const vp_path_t *path, const char *what, ucs_status_t ret,
                              vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_TRANSPORT,
                        "UCX %s cannot %s for path class \"%s\" (TLS \"%s\", devices \"%s\"): %s; "
                        "compare them with `ucx_info -d` and correct the transports of the "
                        "topology",
                        ucp_get_version_string(), what, path->name, path->tls, path->devices,
                        ucs_status_string(ret));
}

/* Transports of a list that are not among the known ones. */
static bool has_others(const char *tls, const char *known)
{
    char transport[64];

    while (*tls != '\0') {
        size_t token = strcspn(tls, ",");

        (void)snprintf(transport, sizeof(transport), "%.*s", (int)token, tls);
        if (!has_transport(known, transport)) {
            return true;
        }
        tls += token + (tls[token] == ',');
    }
    return false;
}

/*
 * Inside a node CUDA IPC puts device memory, over a network whatever is no TCP (GPUDirect
 * RDMA). All else is an emulation in pieces of a few KiB, far slower than staging.
 */
static bool can_put_device(const vp_path_t *path)
{
    ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};

    if (ucp_context_query(path->context, &attributes) != UCS_OK ||
        (attributes.memory_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA)) == 0) {
        return false;
    }
    return vp_path_is_network(path)
               ? has_others(path->tls, "tcp,cuda_copy,gdr_copy,self,posix,sysv,cma")
               : has_transport(path->tls, "cuda_ipc");
}

static vp_status_t open_context(const vp_lanes_t *lanes, vp_path_t *path, vp_error_t *error)
{
    ucp_params_t params = {0};
    ucp_config_t *config;
    ucs_status_t ret;

    ret = ucp_config_read("VARIOPATH", NULL, &config);
    if (ret != UCS_OK) {
        return path_error(path, "read its configuration", ret, error);
    }
    ret = modify_config(lanes, path, config);
    if (ret == UCS_OK) {
        params.field_mask =
            UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME;
        params.features = UCP_FEATURE_RMA | UCP_FEATURE_AM;
        params.estimated_num_eps = lanes->estimated_peers;
        params.name = path->name;
        ret = ucp_init(&params, config, &path->context);
    }
    ucp_config_release(config);
    if (ret != UCS_OK) {
        return path_error(path, "open a context", ret, error);
    }
    path->puts_device = can_put_device(path);
    /*
     * Over TCP UCX outlives peers without its error handling. With it, it emulates every put,
     * and ends a process that cannot acknowledge one to a peer that has died meanwhile.
     */
    path->guarded = lanes->tolerant && !has_transport(path->tls, "tcp");
    return VP_OK;
}

static vp_status_t remember_address(vp_path_t *path, vp_error_t *error)
{
    vp_lane_address_t *address;
    ucp_address_t *ucp;
    size_t n_bytes;
    ucs_status_t ret;

    ret = ucp_worker_get_address(path->worker, &ucp, &n_bytes);
    if (ret != UCS_OK) {
        return path_error(path, "tell the worker's address", ret, error);
    }
    address = malloc(sizeof(*address) + n_bytes);
    if (address != NULL) {
        address->n_bytes = n_bytes;
        memcpy(address->bytes, ucp, n_bytes);
        address->older = path->address;
        path->address = address;
    }
    ucp_worker_release_address(path->worker, ucp);
    return address != NULL ? VP_OK : vp_error_no_memory(error, "a worker address");
}

static vp_status_t open_worker(const vp_lanes_t *lanes, vp_path_t *path, vp_error_t *error)
{
    ucp_worker_params_t params = {0};
    ucs_status_t ret;
    vp_status_t status;

    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = lanes->threads ? UCS_THREAD_MODE_SERIALIZED : UCS_THREAD_MODE_SINGLE;
    ret = ucp_worker_create(path->context, &params, &path->worker);
    if (ret != UCS_OK) {
        return path_error(path, "create a worker", ret, error);
    }
    status = remember_address(path, error);
    if (status != VP_OK) {
        ucp_worker_destroy(path->worker);
        return status;
    }
    path->open = true;
    return VP_OK;
}

static vp_status_t open_path(const vp_lanes_t *lanes, vp_path_t *path, vp_error_t *error)
{
    vp_status_t status = open_context(lanes, path, error);

    if (status != VP_OK) {
        return status;
    }
    status = open_worker(lanes, path, error);
    if (status != VP_OK) {
        ucp_cleanup(path->context);
        path->context = NULL;
        return status;
    }
    vp_log(lanes->log, VP_LOG_CALL, "path class \"%s\" is open: TLS \"%s\", devices \"%s\", UCX %s",
           path->name, path->tls, path->devices, ucp_get_version_string());
    return VP_OK;
}

bool vp_lanes_carry_device(vp_lanes_t *lanes)
{
    return lanes->n_places > 0;
}

bool vp_lanes_class_puts_device(vp_lanes_t *lanes, uint32_t path_class)
{
    const vp_path_t *path;
    bool puts;

    vp_lanes_lock(lanes);
    path = vp_lanes_path(lanes, path_class);
    puts = path != NULL && path->puts_device;
    vp_lanes_unlock(lanes);
    return puts;
}

bool vp_lanes_put_device(vp_lanes_t *lanes)
{
    bool any = false;
    uint32_t i;

    vp_lanes_lock(lanes);
    for (i = 0; i < lanes->n_paths; i++) {
        any = any || (lanes->paths[i].open && lanes->paths[i].puts_device);
    }
    vp_lanes_unlock(lanes);
    return any;
}

/* Windows and operations outlive the worker, blind; the order is what UCX asks for. */
static void leave_worker(vp_lanes_t *lanes, vp_path_t *path)
{
    vp_lanes_operation_fail_all(path);
    vp_lanes_window_blind(path, NULL);
    vp_lanes_endpoint_drop_path(lanes, (uint32_t)(path - lanes->paths));
    path->open = false;
}

void vp_lanes_path_replace(vp_lanes_t *lanes, uint32_t path_class)
{
    vp_path_t *path = &lanes->paths[path_class];
    vp_retired_t *retired = vp_array_new(1, sizeof(*retired));
    vp_error_t error;

    leave_worker(lanes, path);
    if (retired == NULL) {
        /* Nowhere to remember it: it is never progressed and never destroyed. */
        vp_log(lanes->log, VP_LOG_WARN, "out of memory for a worker that was given up");
    } else {
        retired->worker = path->worker;
        retired->next = path->retired;
        path->retired = retired;
    }
    if (open_worker(lanes, path, &error) != VP_OK) {
        vp_log(lanes->log, VP_LOG_WARN, "%s", error.text);
    }
}

void vp_lanes_retire(vp_lanes_t *lanes)
{
    uint32_t i;

    vp_lanes_lock(lanes);
    for (i = 0; i < lanes->n_paths; i++) {
        if (lanes->paths[i].open) {
            vp_lanes_path_replace(lanes, i);
        }
    }
    vp_lanes_unlock(lanes);
}

static void free_addresses(vp_path_t *path)
{
    vp_lane_address_t *address, *older;

    for (address = path->address; address != NULL; address = older) {
        older = address->older;
        free(address);
    }
}

/*
 * A retired worker has a put under way, and UCX aborts when it is destroyed. It
 * stays, with its context, until the process ends; this is where they are.
 */
static void abandon(vp_retired_t *retired, ucp_context_h context)
{
    static vp_retired_t *abandoned;

    retired->context = context;
    retired->next = __atomic_load_n(&abandoned, __ATOMIC_RELAXED);
    __atomic_store_n(&abandoned, retired, __ATOMIC_RELAXED);
}

static void close_path(vp_lanes_t *lanes, vp_path_t *path)
{
    vp_retired_t *retired, *next;

    if (path->open) {
        leave_worker(lanes, path);
        if (!path->stuck) {
            ucp_worker_destroy(path->worker);
        }
    }
    for (retired = path->retired; retired != NULL; retired = next) {
        next = retired->next;
        path->stuck = true;
        abandon(retired, path->context);
    }
    if (path->context != NULL && !path->stuck) {
        ucp_cleanup(path->context);
    }
    free_addresses(path);
    free(path->name);
    free(path->tls);
    free(path->devices);
}

static vp_status_t copy_class(const vp_path_class_t *path_class, vp_path_t *path, vp_error_t *error)
{
    path->name = vp_string_copy(path_class->name);
    path->tls = vp_string_copy(path_class->tls);
    path->devices = vp_string_copy(path_class->devices == NULL ? "" : path_class->devices);
    if (path->name == NULL || path->tls == NULL || path->devices == NULL) {
        return vp_error_no_memory(error, "a path class");
    }
    return VP_OK;
}

static vp_status_t open_paths(vp_lanes_t *lanes, const vp_lanes_config_t *config, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; i < lanes->n_paths && status == VP_OK; i++) {
        status = copy_class(&config->classes[i], &lanes->paths[i], error);
        if (status == VP_OK && config->wanted[i]) {
            status = open_path(lanes, &lanes->paths[i], error);
        }
    }
    return status;
}

vp_status_t vp_lanes_create(const vp_lanes_config_t *config, vp_lanes_t **lanes_p,
                            vp_error_t *error)
{
    vp_status_t status = check_version(error);
    vp_lanes_t *lanes;

    if (status != VP_OK) {
        return status;
    }
    lanes = vp_array_new(1, sizeof(*lanes));
    if (lanes == NULL) {
        return vp_error_no_memory(error, "the lanes");
    }
    if (pthread_mutex_init(&lanes->mutex, NULL) != 0) {
        free(lanes);
        return vp_error_no_memory(error, "the lanes' mutex");
    }
    lanes->paths = vp_array_new(config->n_classes, sizeof(*lanes->paths));
    lanes->n_paths = lanes->paths == NULL ? 0 : config->n_classes;
    lanes->threads = config->threads;
    lanes->tolerant = config->tolerant;
    lanes->log = config->log;
    lanes->estimated_peers = config->estimated_peers > 0 ? config->estimated_peers : 1;
    lanes->place = config->place;
    lanes->n_places = config->n_places;
    lanes->max_endpoints = config->max_endpoints;
    lanes->inbox_bytes = config->inbox_bytes;
    status = lanes->paths == NULL ? vp_error_no_memory(error, "path classes")
                                  : open_paths(lanes, config, error);
    if (status != VP_OK) {
        vp_lanes_destroy(lanes);
        return status;
    }
    *lanes_p = lanes;
    return VP_OK;
}

void vp_lanes_destroy(vp_lanes_t *lanes)
{
    vp_operation_t *operation, *next;
    uint32_t i;

    if (lanes == NULL) {
        return;
    }
    vp_lanes_close(lanes);
    vp_lanes_outbox_destroy(lanes);
    vp_lanes_inbox_destroy(lanes);
    for (i = 0; i < lanes->n_paths; i++) {
        close_path(lanes, &lanes->paths[i]);
    }
    for (operation = lanes->free_operations; operation != NULL; operation = next) {
        next = operation->next;
        free(operation);
    }
    (void)pthread_mutex_destroy(&lanes->mutex);
    free(lanes->endpoints);
    free(lanes->paths);
    free(lanes);
}

vp_path_t *vp_lanes_path(vp_lanes_t *lanes, uint32_t path_class)
{
    if (path_class >= lanes->n_paths || !lanes->paths[path_class].open) {
        return NULL;
    }
    return &lanes->paths[path_class];
}

vp_status_t vp_lanes_address(vp_lanes_t *lanes, uint32_t path_class, const void **address_p,
                             size_t *n_bytes_p, vp_error_t *error)
{
    const vp_path_t *path;
    vp_status_t status = VP_OK;

    vp_lanes_lock(lanes);
    path = vp_lanes_path(lanes, path_class);
    if (path == NULL) {
        status = vp_error_set(error, VP_ERR_USAGE,
                              "path class %u is not open in this process, so it has no address",
                              path_class);
    } else {
        *address_p = path->address->bytes;
        *n_bytes_p = path->address->n_bytes;
    }
    vp_lanes_unlock(lanes);
    return status;
}

unsigned vp_lanes_progress_locked(vp_lanes_t *lanes)
{
    unsigned n_events = 0;
    uint32_t i;

    for (i = 0; i < lanes->n_paths; i++) {
        if (lanes->paths[i].open) {
            n_events += ucp_worker_progress(lanes->paths[i].worker);
        }
    }
    return n_events + vp_lanes_outbox_progress(lanes) + vp_lanes_inbox_progress(lanes);
}

unsigned vp_lanes_progress(vp_lanes_t *lanes)
{
    unsigned n_events;

    if (lanes->threads && pthread_mutex_trylock(&lanes->mutex) != 0) {
        return 0;
    }
    n_events = vp_lanes_progress_locked(lanes);
    vp_lanes_unlock(lanes);
    return n_events;
}
