/*
 * A machine of two switches with one NIC each, small enough for forked ranks:
 * inside a switch PIX over shared memory, across them PXB over shared memory
 * and NIC to NIC over TCP on the loopback.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_SMALL_MODEL_H
#define VP_TEST_SMALL_MODEL_H

#include "catalog/model.h"

enum { SMALL_PCIE, SMALL_NIC0, SMALL_NIC1, SMALL_CLASSES };

/* The first switch has the larger half of the ranks (>= 2). The caller destroys it. */
vp_model_t *small_model(uint32_t n_ranks);

/* Do processes at this place of the model open a class? */
void small_wanted(const vp_model_t *model, uint32_t place, bool wanted[SMALL_CLASSES]);

#endif
