/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <string.h>

#define FULL_PPM 1000000U

static const char *const table_keys[VP_N_CONTENTION_TABLES + 1] = {
    [VP_CONTENTION_GPU] = "gpu", [VP_CONTENTION_UPLINK] = "uplink", [VP_CONTENTION_NIC] = "nic"};

static void read_shares(const vp_json_t *json, vp_spec_contention_t *profile, uint32_t table)
{
    vp_json_t list = vp_json_get(json, "share_ppm", true);
    size_t n = vp_json_array(&list, 1, VP_MAX_CONTENTION_ENTRIES);
    size_t i;

    for (i = 0; i < n; i++) {
        vp_json_t item = vp_json_item(&list, i);

        profile->share_ppm[table][i] = (uint32_t)vp_json_integer(&item, 1, FULL_PPM, FULL_PPM);
        if (i == 0 && profile->share_ppm[table][0] != FULL_PPM) {
            vp_json_mistake(&item, VP_ERR_BAD_INPUT,
                            "is %u; a link with one source runs at its own rate, write %u",
                            profile->share_ppm[table][0], FULL_PPM);
        }
    }
    profile->n_entries[table] = n == 0 ? 1 : (uint32_t)n;
}

static void read_table(const vp_json_t *json, vp_spec_contention_t *profile, uint32_t table)
{
    static const char *const keys[] = {"share_ppm", "origin", NULL};
    vp_json_t origin;

    if (json->value != NULL && vp_json_object(json, keys)) {
        origin = vp_json_get(json, "origin", true);
        read_shares(json, profile, table);
        profile->origin[table] = vp_json_text(&origin, 1, VP_SPEC_TEXT_BYTES, "");
    }
}

static void init_profile(vp_spec_contention_t *profile, const char *name, const char *origin)
{
    uint32_t table;

    profile->name = name;
    for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
        profile->n_entries[table] = 1;
        profile->share_ppm[table][0] = FULL_PPM;
        profile->origin[table] = origin;
    }
}

static void read_profile(const vp_json_t *json, vp_spec_contention_t *profile)
{
    uint32_t table;
    size_t n_bytes = strlen(json->key);

    init_profile(profile, json->key, "not given");
    if (n_bytes == 0 || n_bytes > VP_SPEC_NAME_BYTES || strcmp(json->key, "ideal") == 0) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT,
                        "cannot be the name of a profile: it has 1 to %d bytes, and \"ideal\" is "
                        "built in; choose another",
                        VP_SPEC_NAME_BYTES);
    }
    if (!vp_json_object(json, table_keys)) {
        return;
    }
    for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
        vp_json_t member = vp_json_get(json, table_keys[table], false);

        read_table(&member, profile, table);
    }
}

void vp_spec_read_contention(const vp_json_t *root, vp_spec_t *spec)
{
    vp_json_t map = vp_json_get(root, "contention", false);
    size_t n = map.value != NULL && vp_json_map(&map) ? json_object_size(map.value) : 0;
    const char *key;
    json_t *value;

    if (n > VP_SPEC_MAX_CONTENTION) {
        vp_json_mistake(&map, VP_ERR_BAD_INPUT, "has %zu profiles; keep at most %d", n,
                        VP_SPEC_MAX_CONTENTION);
    }
    spec->contention = vp_spec_array(root, n + 1, sizeof(*spec->contention));
    if (vp_json_failed(root)) {
        return;
    }
    init_profile(&spec->contention[spec->n_contention++], "ideal", "max-min fair sharing");
    json_object_foreach(map.value, key, value)
    {
        vp_json_t profile = vp_json_get(&map, key, true);

        read_profile(&profile, &spec->contention[spec->n_contention++]);
    }
}
