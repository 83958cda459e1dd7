/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "coll_variopath/device_place.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { CU_SUCCESS = 0, CU_ATTRIBUTE_DEVICE_ORDINAL = 9 };

typedef int (*pointer_attribute_fn_t)(void *value, int attribute, unsigned long long address);
typedef int (*current_device_fn_t)(int *device_p);
typedef int (*bus_id_fn_t)(char *text, int n_bytes, int device);

static bool ordinal_of(void *library, const void *buffer, int *device_p)
{
    pointer_attribute_fn_t attribute_of;
    current_device_fn_t current;

    *(void **)&attribute_of = dlsym(library, "cuPointerGetAttribute");
    *(void **)&current = dlsym(library, "cuCtxGetDevice");
    if (buffer != NULL && attribute_of != NULL &&
        attribute_of(device_p, CU_ATTRIBUTE_DEVICE_ORDINAL,
                     (unsigned long long)(uintptr_t)buffer) == CU_SUCCESS) {
        return true;
    }
    return current != NULL && current(device_p) == CU_SUCCESS;
}

vp_pci_t vp_device_locate(const void *buffer)
{
    /* The driver is found, never loaded: without it there is no device memory. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    bus_id_fn_t bus_id = NULL;
    vp_pci_t pci = VP_PCI_UNKNOWN;
    char text[32] = "";
    int device = 0;

    if (library == NULL) {
        return VP_PCI_UNKNOWN;
    }
    *(void **)&bus_id = dlsym(library, "cuDeviceGetPCIBusId");
    if (bus_id != NULL && ordinal_of(library, buffer, &device) &&
        bus_id(text, (int)sizeof(text), device) == CU_SUCCESS && !vp_pci_parse(text, &pci)) {
        pci = VP_PCI_UNKNOWN;
    }
    (void)dlclose(library); /* one use less: it stays loaded */
    return pci;
}

/* A rank of that node whose GPU has the address and that nobody has taken; n_ranks: none. */
static uint32_t find_place(const vp_model_t *model, uint32_t node, vp_pci_t pci, const bool *taken)
{
    uint32_t rank = 0;

    while (rank < model->n_ranks && (taken[rank] || model->rank_pci[rank] != pci ||
                                     model->groups[model->rank_group[rank]].node != node)) {
        rank++;
    }
    return rank;
}

bool vp_place_by_gpu(const vp_model_t *model, const vp_pci_t *pci, uint32_t n,
                     uint32_t *topology_rank)
{
    bool *taken = vp_array_new(model->n_ranks, sizeof(*taken));
    uint32_t *place = vp_array_new(n, sizeof(*place));
    bool is_placed = taken != NULL && place != NULL && model->rank_pci != NULL;
    uint32_t i;

    for (i = 0; i < n && is_placed; i++) {
        is_placed = topology_rank[i] < model->n_ranks && pci[i] != VP_PCI_UNKNOWN;
        if (is_placed) {
            uint32_t node = model->groups[model->rank_group[topology_rank[i]]].node;

            place[i] = find_place(model, node, pci[i], taken);
            is_placed = place[i] < model->n_ranks;
        }
        if (is_placed) {
            taken[place[i]] = true;
        }
    }
    for (i = 0; i < n && is_placed; i++) {
        topology_rank[i] = place[i];
    }
    free(taken);
    free(place);
    return is_placed;
}
