/*
 * From measurements to a topology file: a copy of the one that was measured,
 * with one more rate set and the measured alpha.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PROBE_CALIBRATE_H
#define VP_TOOLS_PROBE_CALIBRATE_H

#include "tools/probe/cases.h"

/* Bytes per second of one case: of its flow, or of both flows together. */
typedef struct vp_probe_result {
    uint64_t median;
    uint64_t least;
    uint64_t most;
} vp_probe_result_t;

typedef struct vp_probe_findings {
    const vp_model_t *model;
    const vp_probe_case_t *cases;
    const vp_probe_result_t *results; /* [n_cases] */
    size_t n_cases;
    uint64_t alpha_ns;
    const char *how;                   /* "variopath-probe, host memory", goes into every origin */
    const vp_contention_t *contention; /* measured profile to add under the set's name; or NULL */
} vp_probe_findings_t;

/*
 * JSON text (free it) of the topology that `argument` names, with the rate set
 * `set`: for each rate name the median over all links, NICs and paths that
 * have it, with the spread as origin. What was not measured keeps its figure.
 * VP_ERR_USAGE: the topology has that set; VP_ERR_IO; VP_ERR_BAD_INPUT;
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_probe_calibrate(const char *argument, const char *set,
                               const vp_probe_findings_t *findings, char **text_p,
                               vp_error_t *error) VP_MUST_CHECK;

/* The same of a topology file's text. */
vp_status_t vp_probe_calibrate_text(const char *text, const char *set,
                                    const vp_probe_findings_t *findings, char **text_p,
                                    vp_error_t *error) VP_MUST_CHECK;

/* What a resource carries: with two flows on it, or with one if that was more. 0: not measured. */
uint64_t vp_probe_resource_rate(const vp_probe_findings_t *findings, uint32_t resource);
/* What a path carries alone. 0: not measured. */
uint64_t vp_probe_instance_rate(const vp_probe_findings_t *findings, uint32_t instance);

#endif
