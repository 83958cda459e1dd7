/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>

#include "base/array.h"

static void read_host_links(const vp_json_t *json, vp_spec_switch_t *it, const vp_spec_t *spec)
{
    bool has_to = vp_spec_read_link_set(json, "to_host", spec, &it->to_host);

    it->has_host = vp_spec_read_link_set(json, "from_host", spec, &it->from_host);
    if (has_to != it->has_host) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT,
                        "has only one of \"to_host\" and \"from_host\"; staged bytes go both "
                        "ways, give both or neither");
    }
}

vp_pci_t vp_spec_read_pci(const vp_json_t *json)
{
    vp_json_t member = vp_json_get(json, "pci", false);
    const char *text = vp_json_text(&member, 1, VP_PCI_TEXT_BYTES, NULL);
    vp_pci_t pci = VP_PCI_UNKNOWN;

    if (text != NULL && (!vp_pci_parse(text, &pci) || pci == VP_PCI_UNKNOWN)) {
        vp_json_mistake(&member, VP_ERR_BAD_INPUT,
                        "is \"%s\"; write a PCI address as DOMAIN:BUS:DEVICE.FUNCTION, for "
                        "example \"0000:0c:00.0\", or leave it out",
                        text);
    }
    return pci;
}

/* One of a list of GPUs; no two of a node have one address. */
static void read_gpu(const vp_json_t *json, vp_spec_t *spec)
{
    static const char *const keys[] = {"pci", "ranks", NULL};
    vp_spec_gpu_t *it = &spec->gpus[spec->n_gpus];
    vp_json_t ranks;
    uint32_t i;

    if (!vp_json_object(json, keys)) {
        return;
    }
    *it = (vp_spec_gpu_t){0};
    ranks = vp_json_get(json, "ranks", false);
    it->n_ranks = (uint32_t)vp_json_integer(&ranks, 1, VP_MAX_RANKS, 1);
    it->pci = vp_spec_read_pci(json);
    for (i = 0; i < spec->n_gpus && it->pci != VP_PCI_UNKNOWN; i++) {
        if (spec->gpus[i].pci == it->pci) {
            vp_json_mistake(json, VP_ERR_BAD_INPUT,
                            "has the PCI address of GPU %" PRIu32 " of the node; give each its own",
                            i);
            return;
        }
    }
    spec->n_gpus++;
}

/* A number, or a list with an object for each. */
static void read_gpus(const vp_json_t *root, const vp_json_t *json, vp_spec_switch_t *it,
                      vp_spec_t *spec, size_t *capacity_p)
{
    vp_json_t gpus = vp_json_get(json, "gpus", true);
    bool is_list = json_is_array(gpus.value);
    size_t n = is_list ? vp_json_array(&gpus, 1, VP_MAX_RANKS)
                       : (size_t)vp_json_integer(&gpus, 1, VP_MAX_RANKS, 1);
    size_t i;

    it->first_gpu = spec->n_gpus;
    it->n_gpus = (uint32_t)n;
    if (spec->n_gpus + n > VP_MAX_RANKS) {
        vp_json_mistake(root, VP_ERR_LIMIT,
                        "has %zu GPUs or more a node; the limit is %d, use fewer", spec->n_gpus + n,
                        VP_MAX_RANKS);
    } else if (!vp_array_reserve(&spec->gpus, capacity_p, spec->n_gpus + n, sizeof(*spec->gpus))) {
        vp_json_mistake(&gpus, VP_ERR_NO_MEMORY, "out of memory for its GPUs; list fewer");
    }
    for (i = 0; i < n && !vp_json_failed(json); i++) {
        if (is_list) {
            vp_json_t item = vp_json_item(&gpus, i);

            read_gpu(&item, spec);
        } else {
            spec->gpus[spec->n_gpus++] = (vp_spec_gpu_t){.n_ranks = 1};
        }
    }
}

void vp_spec_read_switches(const vp_json_t *root, vp_spec_t *spec)
{
    static const char *const keys[] = {"name", "gpus", "to_host", "from_host", NULL};
    vp_json_t list = vp_json_get(root, "switches", true);
    size_t n = vp_json_array(&list, 1, VP_MAX_GROUPS);
    size_t capacity = 0;
    size_t i;

    spec->switches = vp_spec_array(&list, n, sizeof(*spec->switches));
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_switch_t *it = &spec->switches[i];

        if (!vp_json_object(&item, keys)) {
            return;
        }
        it->name = vp_spec_read_name(&item, "name");
        read_gpus(root, &item, it, spec, &capacity);
        read_host_links(&item, it, spec);
        vp_spec_check_unique(&item, spec->switches, i, sizeof(*it), it->name);
        spec->n_switches = (uint32_t)i + 1;
    }
}
