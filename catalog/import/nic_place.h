/*
 * Where a NIC goes in a topology file: its group, its rate, its transport.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_NIC_PLACE_H
#define VP_CATALOG_IMPORT_NIC_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "catalog/import/machine.h"

typedef struct vp_nic_place {
    uint32_t card;  /* object of its first port */
    uint32_t group; /* VP_HW_NONE: not in the file, with a note unless it is a further port */
    uint64_t bytes_per_s;
    char origin[VP_HW_ORIGIN_BYTES];
    const char *tls; /* static storage */
    char devices[VP_HW_TEXT_BYTES];
} vp_nic_place_t;

/*
 * Places the card whose first port is nic_idx (an index into nics). A card
 * serves every group that has none nearer, and is listed with the nearest of
 * them, by turns where several are; one that is the nearest of no GPU stays
 * out. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_nic_place(vp_hardware_t *machine, uint32_t nic_idx, vp_nic_place_t *place,
                         vp_error_t *error) VP_MUST_CHECK;

/* Is the NIC (index into nics) one of the nearest of this group? */
bool vp_nic_serves(const vp_hardware_t *machine, uint32_t nic_idx, uint32_t group);

#endif
