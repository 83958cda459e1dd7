/*
 * The contention profiles that a topology gets when nobody has measured it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_CONTENTION_H
#define VP_CATALOG_IMPORT_CONTENTION_H

#define VP_IMPORT_CONTENTION                                                                       \
    "{\"shares-well\": {"                                                                          \
    "\"gpu\": {\"share_ppm\": [1000000, 750000], \"origin\": "                                     \
    "\"4-GPU all-to-all inside one switch, 153-164 of 216 GB/s\"},"                                \
    "\"uplink\": {\"share_ppm\": [1000000, 970000], \"origin\": "                                  \
    "\"two flows over one PCIe 5.0 switch uplink, 52-56 of 55 GB/s\"},"                            \
    "\"nic\": {\"share_ppm\": [1000000], \"origin\": \"no figure: taken as ideal\"}},"             \
    "\"collapses\": {"                                                                             \
    "\"gpu\": {\"share_ppm\": [1000000, 750000], \"origin\": "                                     \
    "\"4-GPU all-to-all inside one switch, 153-164 of 216 GB/s\"},"                                \
    "\"uplink\": {\"share_ppm\": [1000000, 250000], \"origin\": "                                  \
    "\"8-GPU all-to-all on a Broadcom / dual Turin board, 36.5-52 GB/s against 187-190 where "     \
    "sharing works\"},"                                                                            \
    "\"nic\": {\"share_ppm\": [1000000], \"origin\": \"no figure: taken as ideal\"}}}"

#endif
