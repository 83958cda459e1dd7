/*
 * What the CUDA driver shows. It is asked in a process of its own: a driver in
 * a bad state hangs those who ask.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/outside.h"

#define SLOW_DOC "docs/troubleshooting.md#it-is-carried-and-slow"

enum { MAX_GPUS = 64, TEXT_BYTES = 96, SUCCESS = 0, MIB = 1 << 20, SMALL_BAR_MIB = 1024 };

typedef struct driver {
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *n);
    int (*device)(int *device, int index);
    int (*name)(char *name, int n_bytes, int device);
    int (*bus_id)(char *text, int n_bytes, int device);
    int (*can_access)(int *can, int device, int peer);
} driver_t;

/* Lines for the parent: "version V", "gpu PCI NAME", "peers I 0110...", or "missing WHAT". */
static bool load(FILE *stream, driver_t *driver)
{
    static const char *const symbols[] = {
        "cuInit",          "cuDriverGetVersion",  "cuDeviceGetCount",     "cuDeviceGet",
        "cuDeviceGetName", "cuDeviceGetPCIBusId", "cuDeviceCanAccessPeer"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void **places[] = {(void **)&driver->init,      (void **)&driver->version,
                       (void **)&driver->count,     (void **)&driver->device,
                       (void **)&driver->name,      (void **)&driver->bus_id,
                       (void **)&driver->can_access};
    size_t i;

    if (library == NULL) {
        (void)fprintf(stream, "missing driver\n");
        return false;
    }
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        *places[i] = dlsym(library, symbols[i]);
        if (*places[i] == NULL) {
            (void)fprintf(stream, "missing %s\n", symbols[i]);
            return false;
        }
    }
    return true;
}

static void tell_peers(FILE *stream, const driver_t *driver, const int *devices, int n, int from)
{
    int to;

    (void)fprintf(stream, "peers %d ", from);
    for (to = 0; to < n; to++) {
        int can = 0;

        (void)fputc(to == from ? '-'
                    : driver->can_access(&can, devices[from], devices[to]) == SUCCESS && can != 0
                        ? '1'
                        : '0',
                    stream);
    }
    (void)fputc('\n', stream);
}

static void tell_gpus(FILE *stream, const void *context)
{
    driver_t driver;
    int devices[MAX_GPUS];
    int version = 0;
    int n = 0;
    int i;

    (void)context;
    if (!load(stream, &driver)) {
        return;
    }
    i = driver.init(0);
    if (i != SUCCESS) {
        (void)fprintf(stream, "failed %d\n", i);
        return;
    }
    (void)driver.version(&version);
    (void)driver.count(&n);
    (void)fprintf(stream, "version %d\n", version);
    n = n < MAX_GPUS ? n : MAX_GPUS;
    for (i = 0; i < n; i++) {
        char name[TEXT_BYTES] = "?";
        char pci[TEXT_BYTES] = "?";

        if (driver.device(&devices[i], i) != SUCCESS) {
            return;
        }
        (void)driver.name(name, sizeof(name), devices[i]);
        (void)driver.bus_id(pci, sizeof(pci), devices[i]);
        (void)fprintf(stream, "gpu %s %s\n", pci, name);
    }
    for (i = 0; i < n; i++) {
        tell_peers(stream, &driver, devices, n, i);
    }
}

/* Size of the window through which others reach the GPU's memory; 0: the kernel does not tell. */
static uint64_t bar1_bytes(const vp_doctor_t *doctor, const char *pci)
{
    char path[512];
    char lower[TEXT_BYTES];
    unsigned long long first[2] = {0, 0};
    unsigned long long last[2] = {0, 0};
    size_t i;
    FILE *file;
    int n = 0;

    (void)snprintf(lower, sizeof(lower), "%s", pci);
    for (i = 0; lower[i] != '\0'; i++) {
        lower[i] = (char)(lower[i] >= 'A' && lower[i] <= 'F' ? lower[i] - 'A' + 'a' : lower[i]);
    }
    (void)snprintf(path, sizeof(path), "%.300s/sys/bus/pci/devices/%s/resource", doctor->root,
                   lower);
    file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    while (n < 2 && fscanf(file, "%llx %llx %*x", &first[n], &last[n]) == 2) {
        n++;
    }
    (void)fclose(file);
    return n == 2 && last[1] > first[1] ? last[1] - first[1] + 1 : 0;
}

static void take_gpu(vp_doctor_t *doctor, const char *line)
{
    char pci[TEXT_BYTES] = "";
    char name[TEXT_BYTES] = "";
    uint64_t bar1;

    if (sscanf(line, "gpu %95s %95[^\n]", pci, name) != 2) {
        return;
    }
    bar1 = bar1_bytes(doctor, pci);
    if (bar1 == 0) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", SLOW_DOC,
                      "GPU %u: %s at %s; /sys does not tell its BAR1", doctor->n_gpus, name, pci);
    } else if (bar1 < (uint64_t)SMALL_BAR_MIB * MIB) {
        vp_doctor_add(doctor, VP_LEVEL_WARNING,
                      "enable resizable BAR in the firmware, or register smaller buffers", SLOW_DOC,
                      "GPU %u: %s at %s; its BAR1 has only %llu MiB for peers' mappings",
                      doctor->n_gpus, name, pci, (unsigned long long)(bar1 / MIB));
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", SLOW_DOC, "GPU %u: %s at %s, BAR1 of %llu MiB",
                      doctor->n_gpus, name, pci, (unsigned long long)(bar1 / MIB));
    }
    doctor->n_gpus++;
}

/* The matrix, and how many ordered pairs cannot reach each other. */
static void take_peers(vp_doctor_t *doctor, const char *text)
{
    unsigned n_pairs = doctor->n_gpus * (doctor->n_gpus - 1);
    unsigned n_none = 0;
    const char *line;

    for (line = strstr(text, "peers "); line != NULL; line = strstr(line + 1, "peers ")) {
        int from = 0;
        char row[MAX_GPUS + 1] = "";
        size_t i;

        if (sscanf(line, "peers %d %64[01-]", &from, row) == 2) {
            vp_doctor_add(doctor, VP_LEVEL_OK, "", SLOW_DOC, "peer access from GPU %d: %s", from,
                          row);
        }
        for (i = 0; row[i] != '\0'; i++) {
            n_none += row[i] == '0';
        }
    }
    doctor->has_peers = n_none < n_pairs;
    if (n_none == 0) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", SLOW_DOC, "every GPU may use every other's memory");
    } else {
        vp_doctor_add(doctor, n_none == n_pairs ? VP_LEVEL_WARNING : VP_LEVEL_NOTE,
                      "consumer boards need a driver that allows it; else their bytes go through "
                      "pinned host memory, which the plans know",
                      SLOW_DOC, "the driver refuses peer access for %u of %u ordered pairs", n_none,
                      n_pairs);
    }
}

static void take_lines(vp_doctor_t *doctor, const char *text)
{
    const char *line;
    int version = 0;

    if (sscanf(text, "version %d", &version) != 1) {
        return;
    }
    doctor->has_driver = true;
    vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/device-buffers.md", "CUDA driver %d.%d",
                  version / 1000, version % 1000 / 10);
    vp_doctor_note_version(doctor, "CUDA driver: %d.%d", version / 1000, version % 1000 / 10);
    for (line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "gpu ", 4) == 0) {
            take_gpu(doctor, line);
        }
    }
    if (doctor->n_gpus == 0) {
        vp_doctor_add(doctor, VP_LEVEL_WARNING, "look at CUDA_VISIBLE_DEVICES and nvidia-smi",
                      "docs/troubleshooting.md#containers", "the driver shows no GPU");
    } else if (doctor->n_gpus > 1) {
        take_peers(doctor, text);
    }
}

void vp_doctor_look_at_gpus(vp_doctor_t *doctor)
{
    char *text = NULL;
    vp_outcome_t outcome;
    int code = 0;

    doctor->section = "GPUs";
    outcome = vp_outside_call(tell_gpus, NULL, doctor->timeout_ms, &text);
    if (outcome != VP_OUTCOME_DONE || text == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR,
                      "look at the kernel's log (dmesg) and at nvidia-smi; a restart may be needed",
                      SLOW_DOC, "asking the CUDA driver %s", vp_outcome_text(outcome));
    } else if (strncmp(text, "missing driver", 14) == 0) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "in a container, start it with the GPUs handed in; without GPUs there is "
                      "nothing to do",
                      "docs/troubleshooting.md#containers",
                      "no CUDA driver (libcuda.so.1) here: only host buffers can be carried");
    } else if (strncmp(text, "missing ", 8) == 0) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR, "update the driver", "docs/device-buffers.md",
                      "the CUDA driver has no %.*s", (int)strcspn(text + 8, "\n"), text + 8);
    } else if (sscanf(text, "failed %d", &code) == 1) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR,
                      "look at the kernel's log and at nvidia-smi; 100 is: no GPU, 999: the "
                      "driver and its kernel module differ or the device files are missing",
                      "docs/troubleshooting.md#containers",
                      "the CUDA driver does not start: error %d", code);
    } else {
        take_lines(doctor, text);
    }
    free(text);
}
