/*
 * One rank of the job that measures: its lanes, where the others are, and how
 * long one case takes. All functions are collective over MPI_COMM_WORLD; world
 * rank r is place r of the topology. The bytes are host memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PROBE_JOB_H
#define VP_TOOLS_PROBE_JOB_H

#include "base/log.h"
#include "coll_variopath/lanes.h"
#include "tools/probe/cases.h"

typedef struct vp_probe_job vp_probe_job_t;

/* One rank's failure is everybody's: the first one's status and sentence on all ranks. */
vp_status_t vp_probe_agree(vp_status_t status, vp_error_t *error) VP_MUST_CHECK;

/* Opens the lanes, tells all ranks where buffers of n_bytes are, connects what the cases use. */
vp_status_t vp_probe_job_create(const vp_model_t *model, const vp_probe_case_t *cases,
                                size_t n_cases, size_t n_bytes, vp_probe_job_t **job_p,
                                vp_error_t *error) VP_MUST_CHECK;
void vp_probe_job_destroy(vp_probe_job_t *job); /* NULL is fine */

/* Puts n_bytes along every flow of a case at once; seconds until the last was there, on all ranks.
 */
vp_status_t vp_probe_job_run(vp_probe_job_t *job, const vp_probe_case_t *it, size_t n_bytes,
                             double *seconds_p, vp_error_t *error) VP_MUST_CHECK;

/* A small put and then a barrier of all: what an activation costs besides its bytes, in seconds. */
vp_status_t vp_probe_job_overhead(vp_probe_job_t *job, const vp_probe_case_t *it, double *seconds_p,
                                  vp_error_t *error) VP_MUST_CHECK;

#endif
