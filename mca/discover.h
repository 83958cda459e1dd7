/*
 * discover.c: a job without a topology file. Every process finds its node when
 * the component opens, and publishes its facts; the catalog of a communicator
 * follows from its members' facts, on each member alone.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_DISCOVER_H
#define VP_MCA_DISCOVER_H

#include "mca/component.h"

/* Do the parameters ask for it? Neither a catalog nor a topology, or topology "auto...". */
bool vp_discover_wanted(const vp_params_t *params);

/* Finds the node and publishes it; called when the component opens. */
void vp_discover_publish(void);

/*
 * Why a communicator cannot be served, into text: one sentence that is the same
 * on all members; false: it can. Looks only at what was published.
 */
bool vp_discover_refuses(struct ompi_communicator_t *comm, char *text, size_t n_bytes);

/* One line: what was found here and in the job. */
void vp_discover_tell(struct ompi_communicator_t *comm);

/*
 * The catalog of a communicator, which the caller destroys, and the rank in it
 * of each member; pci[n_ranks] as in vp_job_catalog. The same on all members.
 */
vp_status_t vp_discover_catalog(struct ompi_communicator_t *comm, const vp_pci_t *pci,
                                vp_catalog_t **catalog_p, uint32_t *topology_rank,
                                vp_error_t *error);

/*
 * A model with the path classes of all catalogs of the job, in which *rank_p is
 * on this process's GPU (pci, or as launched); the caller destroys it.
 */
vp_status_t vp_discover_own_model(vp_pci_t pci, vp_model_t **model_p, uint32_t *rank_p,
                                  vp_error_t *error);

/* Frees what is kept; called when the component closes. */
void vp_discover_close(void);

#endif
