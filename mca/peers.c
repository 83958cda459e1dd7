/*
 * Is the component chosen everywhere? A module is selected on each rank alone,
 * and a rank without one would never come to our agreements while the others
 * wait for it. So every process publishes, when it starts, what its choice
 * depends on, and a communicator is served only where all of its members
 * published the same. A member that has not loaded the component published
 * nothing.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "mca/modex.h"
#include "ompi/proc/proc.h"

static const char selection_key[] = "coll.variopath.selection";

/* Everything that vp_module_query looks at, and the version, because its rules may change. */
static uint64_t own_selection(void)
{
    const vp_params_t *params = &mca_coll_variopath_component.params;
    char text[1024];
    int length = snprintf(
        text, sizeof(text),
        "%d.%d.%d enable %d priority %d np %d cts %s "
        "scheduler %s sharing %s links %s sync %s learn %s cache %u min %u source %s",
        VP_VERSION_MAJOR, VP_VERSION_MINOR, VP_VERSION_RELEASE, params->enable, params->priority,
        params->min_ranks, params->collectives, params->scheduler, params->sharing, params->links,
        params->sync, params->learn, params->cache_plans, params->min_bytes, vp_process_source());

    return vp_hash64(text, length < 0                      ? 0
                           : (size_t)length < sizeof(text) ? (size_t)length
                                                           : sizeof(text));
}

void vp_peers_publish(void)
{
    uint64_t selection = own_selection();

    if (!vp_modex_put(selection_key, &selection, sizeof(selection))) {
        vp_log(&mca_coll_variopath_component.log, VP_LOG_NOTE,
               "cannot publish this process's selection: it will not be served");
    }
}

static bool published_alike(const ompi_proc_t *peer, uint64_t selection)
{
    size_t n_bytes = 0;
    void *published = vp_modex_get(&peer->super.proc_name, selection_key, &n_bytes);
    bool alike = NULL != published && sizeof(selection) == n_bytes &&
                 0 == memcmp(published, &selection, sizeof(selection));

    free(published);
    return alike;
}

/* Answers do not change while a job runs: each peer is looked up once. */
static bool known_alike(const ompi_proc_t *peer)
{
    enum { NOT_ASKED, YES, NO };
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    static uint8_t answers[VP_MAX_RANKS]; /* by world rank */
    size_t rank = peer->super.proc_name.vpid;
    bool alike;

    if (rank >= VP_MAX_RANKS) {
        return false; /* larger than any catalog */
    }
    OPAL_THREAD_LOCK(&lock);
    if (NOT_ASKED == answers[rank]) {
        answers[rank] = published_alike(peer, own_selection()) ? YES : NO;
    }
    alike = YES == answers[rank];
    OPAL_THREAD_UNLOCK(&lock);
    return alike;
}

int vp_peers_find_other(struct ompi_communicator_t *comm)
{
    const ompi_process_name_t *mine = &ompi_proc_local()->super.proc_name;
    int n_ranks = ompi_comm_size(comm);
    int i;

    for (i = 0; i < n_ranks; i++) {
        const ompi_proc_t *peer = ompi_comm_peer_lookup(comm, i);

        /* Members of several jobs: every member sees another job's, so all decline. */
        if (peer->super.proc_name.jobid != mine->jobid ||
            (peer->super.proc_name.vpid != mine->vpid && !known_alike(peer))) {
            return i;
        }
    }
    return n_ranks;
}
