/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/classify.h"

#include <stdio.h>

enum {
    VENDOR_AMD = 0x1002,
    VENDOR_NVIDIA = 0x10de,
    VENDOR_INTEL = 0x8086,
    CLASS_NETWORK = 0x02,
    CLASS_DISPLAY = 0x03,
    CLASS_3D = 0x0302,
    CLASS_ACCELERATOR = 0x12
};

vp_hw_device_t vp_hw_device_kind(uint32_t pci_class, uint32_t vendor, bool computes)
{
    uint32_t base = pci_class >> 8;

    if (pci_class == 0) {
        return VP_HW_DEVICE_UNKNOWN;
    }
    if (base == CLASS_NETWORK) {
        return VP_HW_DEVICE_NIC;
    }
    if (base != CLASS_DISPLAY && base != CLASS_ACCELERATOR) {
        return VP_HW_DEVICE_OTHER;
    }
    if (vendor == 0 || vendor == VENDOR_NVIDIA || vendor == VENDOR_AMD ||
        (vendor == VENDOR_INTEL && computes) || (vendor != VENDOR_INTEL && pci_class == CLASS_3D)) {
        return VP_HW_DEVICE_GPU;
    }
    return base == CLASS_DISPLAY ? VP_HW_DEVICE_SCREEN : VP_HW_DEVICE_OTHER;
}

void vp_hw_vendor_name(uint32_t vendor, const char *device, char *text)
{
    const char *name = vendor == VENDOR_NVIDIA  ? "NVIDIA "
                       : vendor == VENDOR_AMD   ? "AMD "
                       : vendor == VENDOR_INTEL ? "Intel "
                                                : "";

    (void)snprintf(text, VP_HW_NAME_BYTES, "%sGPU%s%.32s", name, device == NULL ? "" : " ",
                   device == NULL ? "" : device);
}
