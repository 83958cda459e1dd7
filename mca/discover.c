/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/discover.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/import/job.h"
#include "mca/modex.h"
#include "ompi/proc/proc.h"

static const char key[] = "coll.variopath.node";

/* What a process published, once it was asked for. */
typedef struct peer {
    bool asked;
    bool known;
    void *data; /* what the member borrows */
    vp_job_member_t member;
} peer_t;

static struct {
    pthread_mutex_t lock; /* never held across a collective */
    vp_discovery_t own;
    peer_t *peers; /* [n_peers] by rank in the job */
    uint32_t n_peers;
    vp_job_t *job; /* the kinds of node in it; NULL: not looked at */
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char option[] = "auto:transports=";

static const char *transport_of(const vp_params_t *params)
{
    const char *topology = vp_params_text(params->topology);

    return 0 == strncmp(topology, option, sizeof(option) - 1) ? topology + sizeof(option) - 1
                                                              : "hardware";
}

bool vp_discover_wanted(const vp_params_t *params)
{
    const char *topology = vp_params_text(params->topology);

    return '\0' == vp_params_text(params->catalog)[0] &&
           ('\0' == topology[0] || 0 == strcmp(topology, "auto") ||
            0 == strncmp(topology, option, sizeof(option) - 1));
}

void vp_discover_publish(void)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    const char *node = '\0' == vp_params_text(params->node)[0] ? NULL : params->node;
    vp_writer_t writer = VP_WRITER_INIT;
    vp_error_t error;

    if (VP_OK != vp_discover_node(&found.own, &error)) {
        vp_log(&mca_coll_variopath_component.log, VP_LOG_NOTE, "%s", error.text);
        return;
    }
    vp_job_member_write(&writer, &found.own, node, vp_modex_local_rank());
    if (writer.failed || !vp_modex_put(key, writer.data, writer.n_bytes)) {
        vp_log(&mca_coll_variopath_component.log, VP_LOG_NOTE,
               "cannot publish this process's node: it will not be served");
    }
    vp_writer_clear(&writer);
}

/* The lock is held. NULL: nothing was published, or nothing that is understood. */
static const vp_job_member_t *find_member(uint32_t rank)
{
    opal_process_name_t name = ompi_proc_local()->super.proc_name;
    size_t n_bytes = 0;
    peer_t *peer;

    if (NULL == found.peers) {
        found.peers = vp_array_new(vp_modex_n_processes(), sizeof(*found.peers));
        found.n_peers = NULL == found.peers ? 0 : vp_modex_n_processes();
    }
    if (rank >= found.n_peers) {
        return NULL;
    }
    peer = &found.peers[rank];
    if (!peer->asked) {
        peer->asked = true;
        name.vpid = rank;
        peer->data = vp_modex_get(&name, key, &n_bytes);
        peer->known = NULL != peer->data && vp_job_member_read(peer->data, n_bytes, &peer->member);
    }
    return peer->known ? &peer->member : NULL;
}

static uint32_t job_rank(struct ompi_communicator_t *comm, int rank)
{
    return ompi_comm_peer_lookup(comm, rank)->super.proc_name.vpid;
}

bool vp_discover_refuses(struct ompi_communicator_t *comm, char *text, size_t n_bytes)
{
    int n_ranks = ompi_comm_size(comm);
    bool refuses = false;
    int i;

    (void)pthread_mutex_lock(&found.lock);
    for (i = 0; i < n_ranks && !refuses; i++) {
        const vp_job_member_t *member = find_member(job_rank(comm, i));

        refuses = NULL == member || 0 == member->hash;
        if (refuses) {
            (void)snprintf(text, n_bytes, "the node of rank %d: %s", i,
                           NULL == member ? "nothing was published of it" : member->refusal);
        }
    }
    (void)pthread_mutex_unlock(&found.lock);
    return refuses;
}

/* All kinds of node, in the order of the job's ranks, once. The lock is held. */
static vp_status_t find_kinds(vp_error_t *error)
{
    vp_job_t *job;
    vp_status_t status = VP_OK;
    uint32_t i;

    if (NULL != found.job) {
        return VP_OK;
    }
    job = vp_job_create();
    if (NULL == job) {
        return vp_error_no_memory(error, "the nodes of the job");
    }
    for (i = 0; i < vp_modex_n_processes() && VP_OK == status; i++) {
        const vp_job_member_t *member = find_member(i);

        if (NULL != member) {
            status = vp_job_add(job, member, error);
        }
    }
    if (VP_OK != status) {
        vp_job_destroy(job);
        return status;
    }
    found.job = job;
    return VP_OK;
}

/* Nodes of the communicator's members. The lock is held. */
static uint32_t count_nodes(struct ompi_communicator_t *comm)
{
    int n_ranks = ompi_comm_size(comm);
    uint32_t n_nodes = 0;
    int i;
    int k;

    for (i = 0; i < n_ranks; i++) {
        const vp_job_member_t *member = find_member(job_rank(comm, i));
        bool is_new = NULL != member;

        /* Ranks of a node are mostly neighbours. */
        for (k = i - 1; k >= 0 && is_new; k--) {
            const vp_job_member_t *other = find_member(job_rank(comm, k));

            is_new = NULL == other || other->host != member->host || other->hash != member->hash;
        }
        n_nodes += is_new ? 1 : 0;
    }
    return n_nodes;
}

void vp_discover_tell(struct ompi_communicator_t *comm)
{
    static const char *const sources[] = {[VP_DISCOVERY_NEW] = "discovered, remembered in ",
                                          [VP_DISCOVERY_CACHED] = "as remembered in ",
                                          [VP_DISCOVERY_UNCACHED] = "discovered, without a cache"};
    char text[128] = "";
    vp_error_t error;

    (void)pthread_mutex_lock(&found.lock);
    if (VP_OK == find_kinds(&error) &&
        vp_job_describe(found.job, found.own.hash, text, sizeof(text))) {
        vp_log(&mca_coll_variopath_component.log, VP_LOG_NOTE,
               "found %s on this node (%s%s); %d ranks on %" PRIu32 " nodes of %" PRIu32
               " kinds in the job",
               text, sources[found.own.source],
               VP_DISCOVERY_UNCACHED == found.own.source ? "" : found.own.path,
               ompi_comm_size(comm), count_nodes(comm), vp_job_n_kinds(found.job));
    }
    (void)pthread_mutex_unlock(&found.lock);
}

/* Members in the order of the job's ranks, so that any order of them has the same catalog. */
static void sort_members(struct ompi_communicator_t *comm, uint32_t *order)
{
    uint32_t n_ranks = (uint32_t)ompi_comm_size(comm);
    uint32_t i;
    uint32_t k;

    for (i = 0; i < n_ranks; i++) {
        uint32_t rank = job_rank(comm, (int)i);

        /* Mostly in order already. */
        for (k = i; k > 0 && job_rank(comm, (int)order[k - 1]) > rank; k--) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

/* The lock is held; arrays are [n_ranks]. */
static vp_status_t make_catalog(struct ompi_communicator_t *comm, const vp_pci_t *pci,
                                vp_job_member_t *members, vp_pci_t *sorted_pci, uint32_t *order,
                                uint32_t *place, vp_catalog_t **catalog_p, vp_error_t *error)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    uint32_t n_ranks = (uint32_t)ompi_comm_size(comm);
    vp_status_t status = find_kinds(error);
    uint32_t i;

    if (VP_OK != status) {
        return status;
    }
    sort_members(comm, order);
    for (i = 0; i < n_ranks; i++) {
        const vp_job_member_t *member = find_member(job_rank(comm, (int)order[i]));

        if (NULL == member) {
            return vp_error_set(error, VP_ERR_INTERNAL,
                                "rank %" PRIu32 " of %s has published no node", order[i],
                                comm->c_name);
        }
        members[i] = *member;
        sorted_pci[i] = pci[order[i]];
    }
    return vp_job_catalog(found.job, members, sorted_pci, n_ranks, transport_of(params), catalog_p,
                          place, error);
}

vp_status_t vp_discover_catalog(struct ompi_communicator_t *comm, const vp_pci_t *pci,
                                vp_catalog_t **catalog_p, uint32_t *topology_rank,
                                vp_error_t *error)
{
    size_t n_ranks = (size_t)ompi_comm_size(comm);
    vp_job_member_t *members = vp_array_new(n_ranks, sizeof(*members));
    vp_pci_t *sorted_pci = vp_array_new(n_ranks, sizeof(*sorted_pci));
    uint32_t *order = vp_array_new(n_ranks, sizeof(*order));
    uint32_t *place = vp_array_new(n_ranks, sizeof(*place));
    vp_status_t status = VP_ERR_NO_MEMORY;
    size_t i;

    if (NULL == members || NULL == sorted_pci || NULL == order || NULL == place) {
        (void)vp_error_no_memory(error, "the members of a communicator");
    } else {
        (void)pthread_mutex_lock(&found.lock);
        status = make_catalog(comm, pci, members, sorted_pci, order, place, catalog_p, error);
        (void)pthread_mutex_unlock(&found.lock);
    }
    for (i = 0; i < n_ranks && VP_OK == status; i++) {
        topology_rank[order[i]] = place[i];
    }
    free(members);
    free(sorted_pci);
    free(order);
    free(place);
    return status;
}

vp_status_t vp_discover_own_model(vp_pci_t pci, vp_model_t **model_p, uint32_t *rank_p,
                                  vp_error_t *error)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    const vp_job_member_t *member;
    vp_status_t status;

    (void)pthread_mutex_lock(&found.lock);
    status = find_kinds(error);
    member = find_member(ompi_proc_local()->super.proc_name.vpid);
    if (VP_OK == status && NULL == member) {
        status = vp_error_set(error, VP_ERR_INTERNAL, "this process has published no node");
    }
    if (VP_OK == status) {
        status =
            vp_job_own_model(found.job, member, pci, transport_of(params), model_p, rank_p, error);
    }
    (void)pthread_mutex_unlock(&found.lock);
    return status;
}

void vp_discover_close(void)
{
    uint32_t i;

    for (i = 0; i < found.n_peers; i++) {
        free(found.peers[i].data);
    }
    free(found.peers);
    found.peers = NULL;
    found.n_peers = 0;
    vp_job_destroy(found.job);
    found.job = NULL;
    vp_discovery_clear(&found.own);
}
