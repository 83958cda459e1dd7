/*
 * A job without a topology file: what each of its processes tells about its
 * node, and the catalog of some of them that follows from it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_JOB_H
#define VP_CATALOG_IMPORT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "catalog/import/discover.h"
#include "catalog/model.h"

/* What a process tells. Processes of one host that found the same are on one node. */
typedef struct vp_job_member {
    uint64_t host;        /* hash of the host's name */
    uint64_t hash;        /* of the facts; 0: its node cannot be used */
    uint32_t gpu;         /* number of the GPU that it will use, by the order of launching */
    const uint8_t *facts; /* borrowed from what was read */
    size_t n_facts;
    char refusal[256]; /* why not */
} vp_job_member_t;

/*
 * Writes the member of this process, local_rank-th on its host; `host` names it,
 * NULL: gethostname. The GPU is the one of that number, or of that place in
 * CUDA_VISIBLE_DEVICES where this lists numbers; ranks beyond the last share GPUs.
 */
void vp_job_member_write(vp_writer_t *writer, const vp_discovery_t *discovery, const char *host,
                         uint32_t local_rank);
/* Reads it; false: damaged, or of another version. The member borrows data. */
bool vp_job_member_read(const void *data, size_t n_bytes, vp_job_member_t *member);

typedef struct vp_job vp_job_t;

/* The kinds of node in a job, none yet; NULL: no memory. Not thread-safe. */
vp_job_t *vp_job_create(void);
void vp_job_destroy(vp_job_t *job);

/*
 * Adds the member's kind of node unless it is there. All processes must add
 * the same kinds in the same order. A member that cannot be used adds nothing.
 * VP_ERR_BAD_INPUT: facts that are not what they should be; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_job_add(vp_job_t *job, const vp_job_member_t *member,
                       vp_error_t *error) VP_MUST_CHECK;
uint32_t vp_job_n_kinds(const vp_job_t *job);

/*
 * "8 GPUs in 2 groups, 2 NICs" of a kind into text; false: there is no such kind.
 */
bool vp_job_describe(const vp_job_t *job, uint64_t hash, char *text, size_t n_bytes);

/*
 * The generated, sealed catalog of n members, in an order that all processes
 * share; place[n] gets the rank of each in it. pci[n]: the GPU that each was
 * seen to use, VP_PCI_UNKNOWN: as launched; NULL: all as launched. transport: a
 * transport set, "hardware" or "local". VP_ERR_BAD_INPUT: a node without a NIC
 * among several, or a member whose kind is not there; VP_ERR_LIMIT;
 * VP_ERR_NO_MEMORY. Outputs are written only on success.
 */
vp_status_t vp_job_catalog(const vp_job_t *job, const vp_job_member_t *members, const vp_pci_t *pci,
                           uint32_t n_members, const char *transport, vp_catalog_t **catalog_p,
                           uint32_t *place, vp_error_t *error) VP_MUST_CHECK;

/*
 * The model of two whole nodes like that of the member (of one, if it has no
 * NIC), with a rank on each GPU; *rank_p is on the member's own, which is the
 * one at this address, or as launched. Its path classes have the numbers that
 * they have in every catalog of the job. The same errors.
 */
vp_status_t vp_job_own_model(const vp_job_t *job, const vp_job_member_t *member, vp_pci_t pci,
                             const char *transport, vp_model_t **model_p, uint32_t *rank_p,
                             vp_error_t *error) VP_MUST_CHECK;

#endif
