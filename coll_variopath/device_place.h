/*
 * Which GPU a process uses, and where that puts it on a topology.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_DEVICE_PLACE_H
#define VP_COLL_DEVICE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/model.h"

/*
 * The PCI address of the GPU that a buffer is on (NULL or host memory: of the
 * calling thread's current context). It is the same whatever ordinals the
 * process sees (CUDA_VISIBLE_DEVICES by number or UUID). VP_PCI_UNKNOWN without
 * a driver, or where it does not tell.
 */
vp_pci_t vp_device_locate(const void *buffer);

/*
 * Puts n ranks where their GPUs are: topology_rank[i], where i was launched, is
 * replaced by a rank of the same node whose GPU has the address pci[i]. All
 * different; ranks that share a GPU keep the order in which they are listed.
 * False, and nothing changed: a rank's GPU is unknown, or is not there (once
 * more) on its node.
 */
bool vp_place_by_gpu(const vp_model_t *model, const vp_pci_t *pci, uint32_t n,
                     uint32_t *topology_rank);

#endif
