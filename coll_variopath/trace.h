/*
 * How traces are written: text into a writer, one write per call.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_TRACE_H
#define VP_COLL_TRACE_H

#include "coll_variopath/run.h"

/* At most 511 characters at a time; longer ones fail the writer. */
void vp_trace_add(vp_writer_t *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string. Names come from files, so they may hold anything. */
void vp_trace_add_string(vp_writer_t *line, const char *text);
/* The plan that a call followed; NULL: no bytes between ranks, or not carried. */
const vp_plan_t *vp_trace_plan(const vp_work_t *work);

/* trace_chrome.c: the call and its lanes as events of the Chrome trace format. */
void vp_trace_add_events(const vp_engine_t *engine, const vp_work_t *work, vp_writer_t *line);

#endif
