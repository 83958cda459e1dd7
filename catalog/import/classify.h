/*
 * What a PCI device is, by its class and vendor.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_CLASSIFY_H
#define VP_CATALOG_IMPORT_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/import/machine.h"

typedef enum vp_hw_device {
    VP_HW_DEVICE_UNKNOWN, /* no class */
    VP_HW_DEVICE_GPU,
    VP_HW_DEVICE_NIC,
    VP_HW_DEVICE_SCREEN, /* drives a monitor or a management console, and computes nothing */
    VP_HW_DEVICE_OTHER
} vp_hw_device_t;

/*
 * pci_class is the 16-bit class and subclass (0x0302), 0: unknown; vendor 0:
 * unknown, taken as a GPU's. Intel's displays are part of the processor
 * unless something computes on them. A 3D controller drives no monitor, so it
 * is there to compute, whoever made it.
 */
vp_hw_device_t vp_hw_device_kind(uint32_t pci_class, uint32_t vendor, bool computes);

/* "NVIDIA 0x2204" into text of VP_HW_NAME_BYTES; device may be NULL. */
void vp_hw_vendor_name(uint32_t vendor, const char *device, char *text);

#endif
