/*
 * ACS and the IOMMU: both can send peer-to-peer traffic up to the root complex.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/doctor/doctor.h"

#define DOC "docs/troubleshooting.md#it-is-carried-and-slow"

enum {
    CONFIG_BYTES = 4096,
    EXTENDED = 0x100,
    ACS = 0x000d,
    ACS_CONTROL = 6,
    REQUEST_REDIRECT = 0x04,
    COMPLETION_REDIRECT = 0x08,
    MAX_CAPABILITIES = 64
};

static unsigned word_at(const uint8_t *config, unsigned at)
{
    return (unsigned)config[at] | (unsigned)config[at + 1] << 8;
}

/* -1: cannot be read that far; 0: no redirection; 1: redirected. */
static int redirects(const uint8_t *config, size_t n_bytes)
{
    unsigned at = EXTENDED;
    int n;

    if (n_bytes < CONFIG_BYTES) {
        return -1;
    }
    for (n = 0; n < MAX_CAPABILITIES && at >= EXTENDED && at <= CONFIG_BYTES - 8; n++) {
        if (word_at(config, at) == ACS) {
            unsigned control = word_at(config, at + ACS_CONTROL);

            return (control & (REQUEST_REDIRECT | COMPLETION_REDIRECT)) != 0;
        }
        at = word_at(config, at + 2) >> 4;
    }
    return 0;
}

static size_t read_config(const char *root, const char *device, uint8_t *config)
{
    char path[4096];
    size_t n_bytes;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%.3500s/sys/bus/pci/devices/%.64s/config", root, device);
    file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    n_bytes = fread(config, 1, CONFIG_BYTES, file);
    (void)fclose(file);
    return n_bytes;
}

static void look_at_acs(vp_doctor_t *doctor)
{
    char path[4096];
    unsigned n_bridges = 0;
    unsigned n_hidden = 0;
    unsigned n_redirecting = 0;
    struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof(path), "%.3900s/sys/bus/pci/devices", doctor->root);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *class = vp_doctor_line(doctor, "/sys/bus/pci/devices/%s/class", entry->d_name);
        uint8_t config[CONFIG_BYTES];
        int redirected;

        if (class == NULL || strncmp(class, "0x0604", 6) != 0) {
            continue;
        }
        redirected = redirects(config, read_config(doctor->root, entry->d_name, config));
        n_bridges++;
        n_hidden += redirected < 0;
        n_redirecting += redirected > 0;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (n_bridges == 0) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE, "", DOC,
                      "no PCIe bridge is to be seen, so nothing can be said about ACS");
    } else if (n_redirecting > 0) {
        vp_doctor_add(
            doctor, VP_LEVEL_WARNING,
            "turn ACS off in the firmware or with setpci, unless virtual machines need it", DOC,
            "ACS of %u of %u PCIe bridges sends peer-to-peer traffic upwards", n_redirecting,
            n_bridges);
    } else if (n_hidden > 0) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE, "run this as root", DOC,
                      "the settings of ACS cannot be read for %u of %u PCIe bridges", n_hidden,
                      n_bridges);
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC,
                      "ACS: none of %u PCIe bridges redirects peer-to-peer traffic", n_bridges);
    }
}

static void look_at_iommu(vp_doctor_t *doctor)
{
    char path[4096];
    unsigned n_groups = 0;
    unsigned n_translating = 0;
    struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof(path), "%.3900s/sys/kernel/iommu_groups", doctor->root);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *type;

        if (entry->d_name[0] == '.') {
            continue;
        }
        n_groups++;
        type = vp_doctor_line(doctor, "/sys/kernel/iommu_groups/%s/type", entry->d_name);
        n_translating += type != NULL && strncmp(type, "DMA", 3) == 0;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (n_groups == 0) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC, "no IOMMU is on, or none is to be seen");
    } else if (n_translating > 0) {
        vp_doctor_add(doctor, VP_LEVEL_WARNING, "boot the kernel with iommu=pt, or turn it off",
                      DOC, "the IOMMU translates addresses for %u of %u groups of devices",
                      n_translating, n_groups);
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC,
                      "the IOMMU is on and passes addresses through (%u groups)", n_groups);
    }
}

void vp_doctor_look_at_bus(vp_doctor_t *doctor)
{
    doctor->section = "ACS and IOMMU";
    look_at_acs(doctor);
    look_at_iommu(doctor);
}
