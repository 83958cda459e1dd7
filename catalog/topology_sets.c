/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <string.h>

static vp_spec_rate_t read_rate(const vp_json_t *json)
{
    static const char *const keys[] = {"bytes_per_s", "origin", NULL};
    vp_spec_rate_t rate = {.bytes_per_s = 1, .origin = ""};

    if (vp_json_object(json, keys)) {
        vp_json_t bytes_per_s = vp_json_get(json, "bytes_per_s", true);
        vp_json_t origin = vp_json_get(json, "origin", true);

        rate.bytes_per_s = vp_json_integer(&bytes_per_s, 1, VP_SPEC_MAX_BYTES_PER_S, 1);
        rate.origin = vp_json_text(&origin, 1, VP_SPEC_TEXT_BYTES, "");
    }
    return rate;
}

static vp_spec_class_t read_class(const vp_json_t *json)
{
    static const char *const keys[] = {"tls", "devices", NULL};
    vp_spec_class_t path_class = {.name = json->key, .tls = "", .devices = ""};

    if (vp_json_object(json, keys)) {
        vp_json_t tls = vp_json_get(json, "tls", true);
        vp_json_t devices = vp_json_get(json, "devices", false);

        path_class.tls = vp_json_text(&tls, 1, VP_MAX_NAME_BYTES, "");
        path_class.devices = vp_json_text(&devices, 0, VP_MAX_NAME_BYTES, "");
    }
    return path_class;
}

/* Validates a map of named sets of named entries, and that the chosen set is there. */
static void check_sets(const vp_json_t *sets, const char *chosen, bool is_rates)
{
    const char *set_key;
    const char *key;
    json_t *value;
    json_t *unused;

    if (!vp_json_map(sets)) {
        return;
    }
    json_object_foreach(sets->value, set_key, value)
    {
        vp_json_t set = vp_json_get(sets, set_key, true);

        if (strlen(set_key) > VP_SPEC_NAME_BYTES) {
            vp_json_mistake(&set, VP_ERR_BAD_INPUT, "has a name of more than %d bytes; shorten it",
                            VP_SPEC_NAME_BYTES);
        }
        if (!vp_json_map(&set)) {
            return;
        }
        json_object_foreach(value, key, unused)
        {
            vp_json_t entry = vp_json_get(&set, key, true);

            if (is_rates) {
                (void)read_rate(&entry);
            } else {
                (void)read_class(&entry);
            }
        }
    }
    if (json_object_get(sets->value, chosen) == NULL) {
        const char *first = json_object_iter_key(json_object_iter(sets->value));

        vp_json_mistake(sets, VP_ERR_USAGE, "has no set \"%.64s\"; choose one that it has%s%.64s%s",
                        chosen, first == NULL ? "" : ", such as \"", first == NULL ? "" : first,
                        first == NULL ? "" : "\"");
    }
}

/* The entry of that name in the chosen set; a mistake at `json` if any of the sets lacks it. */
static vp_json_t find_entry(const vp_json_t *json, const vp_json_t *sets, const char *chosen,
                            vp_json_t *set_p, const char *name, const char *what)
{
    const char *set_key;
    json_t *set;

    if (!vp_json_failed(json)) {
        json_object_foreach(sets->value, set_key, set)
        {
            if (json_object_get(set, name) == NULL) {
                vp_json_mistake(json, VP_ERR_BAD_INPUT,
                                "names the %s \"%s\", which %s.%.64s does not have; add it there "
                                "or correct the name",
                                what, name, sets->key, set_key);
                break;
            }
        }
    }
    *set_p = vp_json_get(sets, chosen, true);
    return vp_json_get(set_p, name, true);
}

vp_spec_rate_t vp_spec_find_rate(const vp_json_t *json, const char *key, const vp_spec_sets_t *sets)
{
    vp_json_t member = vp_json_get(json, key, true);
    const char *name = vp_json_text(&member, 1, VP_SPEC_NAME_BYTES, "");
    vp_json_t set;
    vp_json_t entry = find_entry(&member, &sets->rates, sets->spec->rates, &set, name, "rate");

    return read_rate(&entry);
}

uint32_t vp_spec_find_class(const vp_json_t *json, const vp_spec_sets_t *sets)
{
    vp_spec_t *spec = sets->spec;
    vp_json_t member = vp_json_get(json, "class", true);
    const char *name = vp_json_text(&member, 1, VP_SPEC_NAME_BYTES, "");
    vp_json_t set;
    vp_json_t entry = find_entry(&member, &sets->transports, spec->transport, &set, name, "class");
    uint32_t i;

    for (i = 0; i < spec->n_classes; i++) {
        if (strcmp(spec->classes[i].name, name) == 0) {
            return i;
        }
    }
    if (spec->n_classes == VP_SPEC_MAX_CLASSES) {
        vp_json_mistake(&member, VP_ERR_LIMIT, "is class number %d; use fewer path classes",
                        VP_SPEC_MAX_CLASSES + 1);
    }
    if (vp_json_failed(json)) {
        return 0;
    }
    spec->classes[spec->n_classes] = read_class(&entry);
    spec->classes[spec->n_classes].name = name;
    return spec->n_classes++;
}

void vp_spec_read_sets(const vp_json_t *root, const vp_spec_choice_t *choice, vp_spec_sets_t *sets)
{
    vp_spec_t *spec = sets->spec;

    sets->rates = vp_json_get(root, "rates", true);
    sets->transports = vp_json_get(root, "transports", true);
    spec->rates = choice->rates;
    spec->transport = choice->transport;
    check_sets(&sets->rates, spec->rates, true);
    check_sets(&sets->transports, spec->transport, false);
    spec->classes = vp_spec_array(root, VP_SPEC_MAX_CLASSES, sizeof(*spec->classes));
}
