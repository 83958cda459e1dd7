/*
 * Rates of PCIe links. What a link moves is less than its line rate: the line
 * code (8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, flits from 64 GT/s on)
 * and the packet overhead, 24 bytes with every 256 bytes of payload, come off.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_PCIE_H
#define VP_CATALOG_IMPORT_PCIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Payload rate of one direction; mega_transfers_per_s is that of a lane (8000
 * for "8 GT/s"). 0 when either is 0 or no such link exists. Rounded down.
 */
uint64_t vp_pcie_payload_bytes_per_s(uint32_t mega_transfers_per_s, uint32_t n_lanes);

/* The same from a rate that has only the line code taken off, as hwloc gives it. */
uint64_t vp_pcie_payload_of_decoded(uint64_t decoded_bytes_per_s);

/*
 * Reads "16.0 GT/s PCIe", "8 GT/s" or "Unknown speed" (0). False: something
 * else, or not a speed that PCIe has.
 */
bool vp_pcie_speed_parse(const char *text, uint32_t *mega_transfers_per_s_p);

/* 1, 2, 4, 8, 12, 16, 32; and 0 for unknown. */
bool vp_pcie_is_width(uint64_t n_lanes);

#endif
