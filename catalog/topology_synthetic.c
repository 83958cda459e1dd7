/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "catalog/json_write.h"

/* A machine in one line: all nodes equal, all switches of a node equal. */
typedef struct machine {
    uint64_t nodes;
    uint64_t switches;
    uint64_t gpus; /* per switch */
    uint64_t nics; /* per switch */
    uint64_t pix;  /* bytes/s */
    uint64_t pxb;
    uint64_t nic;
    uint64_t gpu;
    uint64_t host;   /* staged bytes */
    uint64_t memory; /* 0: no lane needs the whole memory */
    uint64_t alpha_ns;
    uint64_t put_ns;
    uint64_t uplinks; /* choices: 0 or 1 */
    uint64_t any_pairs;
    uint64_t no_peer_to_peer;
    uint64_t no_gpu_direct;
} machine_t;

/* What a key takes: a number with up to `decimals` places, or one of two words. */
typedef struct synthetic_key {
    const char *name;
    size_t offset;
    uint64_t min;
    uint64_t max;
    uint32_t decimals;
    const char *words[2];
    const char *takes;
} synthetic_key_t;

#define COUNT(field, low, high, text)                                                              \
    {                                                                                              \
#field, offsetof(machine_t, field), low, high, 0, {0 }, text                               \
    }
#define RATE(field)                                                                                \
    {                                                                                              \
#field, offsetof(machine_t, field), 1, VP_SPEC_MAX_BYTES_PER_S, 9,                         \
            {0 }, "GB/s, such as 52.5"                                                             \
    }
#define TIME(name, field)                                                                          \
    {                                                                                              \
        name, offsetof(machine_t, field), 0, VP_SPEC_MAX_NS, 3, {0}, "microseconds, such as 10"    \
    }
#define CHOICE(name, field, first, second)                                                         \
    {                                                                                              \
        name, offsetof(machine_t, field), 0, 1, 0, {first, second}, first " or " second            \
    }

static const synthetic_key_t keys[] = {
    COUNT(nodes, 1, VP_MAX_GROUPS, "a number from 1 to 2048"),
    COUNT(switches, 1, 64, "a number from 1 to 64"),
    COUNT(gpus, 1, VP_MAX_RANKS, "a number from 1 to 4096 (of each switch)"),
    COUNT(nics, 0, 15, "a number from 0 to 15 (of each switch)"),
    RATE(pix),
    RATE(pxb),
    RATE(nic),
    RATE(gpu),
    RATE(host),
    RATE(memory),
    TIME("alpha_us", alpha_ns),
    TIME("put_us", put_ns),
    CHOICE("links", uplinks, "direct", "uplinks"),
    CHOICE("pairs", any_pairs, "rail", "any"),
    CHOICE("p2p", no_peer_to_peer, "on", "off"),
    CHOICE("gdr", no_gpu_direct, "on", "off"),
};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

/* A decimal number times 10^decimals; false when it is none or has more places. */
static bool parse_number(const char *text, size_t n_bytes, const synthetic_key_t *key,
                         uint64_t *value_p)
{
    uint64_t value = 0;
    uint32_t n_places = 0;
    bool is_fraction = false;
    size_t i;

    for (i = 0; i < n_bytes; i++) {
        if (text[i] == '.' && !is_fraction && i > 0 && i + 1 < n_bytes) {
            is_fraction = true;
            continue;
        }
        n_places += is_fraction;
        if (text[i] < '0' || text[i] > '9' || n_places > key->decimals || value > key->max) {
            return false;
        }
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    for (; n_places < key->decimals && value <= key->max; n_places++) {
        value *= 10;
    }
    *value_p = value;
    return n_bytes > 0 && value >= key->min && value <= key->max;
}

static bool is_word(const char *text, size_t n_bytes, const char *word)
{
    return strlen(word) == n_bytes && memcmp(text, word, n_bytes) == 0;
}

static bool parse_value(const char *text, size_t n_bytes, const synthetic_key_t *key,
                        uint64_t *value_p)
{
    uint64_t i;

    if (key->words[0] == NULL) {
        return parse_number(text, n_bytes, key, value_p);
    }
    for (i = 0; i < 2; i++) {
        if (is_word(text, n_bytes, key->words[i])) {
            *value_p = i;
            return true;
        }
    }
    return false;
}

static vp_status_t unknown_key(const char *text, size_t n_bytes, vp_error_t *error)
{
    char known[256] = "";
    size_t used = 0;
    size_t i;

    for (i = 0; i < N_KEYS && used < sizeof(known); i++) {
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
                                 keys[i].name);
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "synthetic topology: cannot read \"%.*s\"; write KEY=VALUE,... with the "
                        "keys %s, each once",
                        (int)(n_bytes < 64 ? n_bytes : 64), text, known);
}

/* One KEY=VALUE; *seen has a bit for each key that was there. */
static vp_status_t parse_pair(const char *text, size_t n_bytes, machine_t *machine, uint32_t *seen,
                              vp_error_t *error)
{
    const char *equals = memchr(text, '=', n_bytes);
    size_t n_name = equals == NULL ? 0 : (size_t)(equals - text);
    size_t n_value = equals == NULL ? 0 : n_bytes - n_name - 1;
    uint64_t value = 0;
    size_t i;

    for (i = 0; i < N_KEYS && !is_word(text, n_name, keys[i].name); i++) {
    }
    if (equals == NULL || i == N_KEYS || (*seen >> i & 1) != 0) {
        return unknown_key(text, n_bytes, error);
    }
    if (!parse_value(equals + 1, n_value, &keys[i], &value)) {
        return vp_error_set(error, VP_ERR_USAGE, "synthetic topology: %s=%.*s: give %s",
                            keys[i].name, (int)(n_value < 64 ? n_value : 64), equals + 1,
                            keys[i].takes);
    }
    *seen |= UINT32_C(1) << i;
    memcpy((char *)machine + keys[i].offset, &value, sizeof(value));
    return VP_OK;
}

static vp_status_t parse_machine(const char *text, machine_t *machine, vp_error_t *error)
{
    uint32_t seen = 0;

    *machine = (machine_t){.nodes = 1,
                           .switches = 2,
                           .gpus = 4,
                           .nics = 1,
                           .pix = UINT64_C(64000000000),
                           .pxb = UINT64_C(64000000000),
                           .nic = UINT64_C(50000000000),
                           .host = UINT64_C(64000000000),
                           .alpha_ns = 10000,
                           .put_ns = 1000};
    for (;;) {
        size_t n_bytes = strcspn(text, ",");
        vp_status_t status = parse_pair(text, n_bytes, machine, &seen, error);

        if (status != VP_OK) {
            return status;
        }
        if (text[n_bytes] == '\0') {
            break;
        }
        text += n_bytes + 1;
    }
    machine->gpu = machine->gpu == 0 ? machine->pix : machine->gpu;
    if ((machine->no_peer_to_peer != 0 || machine->no_gpu_direct != 0) && machine->uplinks == 0) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "synthetic topology: p2p=off and gdr=off stage bytes through host "
                            "memory, for which switches need uplinks; add links=uplinks");
    }
    return VP_OK;
}

static json_t *add_rate(json_t *set, const char *name, uint64_t bytes_per_s)
{
    return vp_json_put(
        set, name,
        json_pack("{s:I, s:o}", "bytes_per_s", (json_int_t)bytes_per_s, "origin",
                  json_sprintf("synthetic: %s, stated by the user or assumed", name)));
}

static json_t *make_rates(const machine_t *machine)
{
    json_t *set = json_object();

    set = add_rate(set, "pix", machine->pix);
    set = add_rate(set, "pxb", machine->pxb);
    set = add_rate(set, "nic", machine->nic);
    set = add_rate(set, "gpu", machine->gpu);
    set = add_rate(set, "host", machine->host);
    set = add_rate(set, "memory", machine->memory == 0 ? machine->host : machine->memory);
    return json_pack("{s:o}", "nominal", set);
}

/* The uplink or downlink of a switch, and the memory where it is a resource. */
static json_t *make_host_links(const machine_t *machine, int switch_idx, const char *direction)
{
    json_t *list = vp_json_append(json_array(), json_sprintf("sw%d:%s", switch_idx, direction));

    return machine->memory == 0 ? list : vp_json_append(list, json_string("memory"));
}

static json_t *make_switches(const machine_t *machine)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < (int)machine->switches; i++) {
        json_t *it = json_pack("{s:o, s:I}", "name", json_sprintf("sw%d", i), "gpus",
                               (json_int_t)machine->gpus);

        if (machine->uplinks != 0) {
            it = vp_json_put(it, "to_host", make_host_links(machine, i, "up"));
            it = vp_json_put(it, "from_host", make_host_links(machine, i, "down"));
        }
        list = vp_json_append(list, it);
    }
    return list;
}

static json_t *add_link(json_t *list, json_t *name, const char *kind, const char *rate)
{
    return vp_json_append(list,
                          json_pack("{s:o, s:s, s:s}", "name", name, "kind", kind, "rate", rate));
}

static json_t *make_links(const machine_t *machine)
{
    json_t *list = json_array();
    int n = (int)machine->switches;
    int i;
    int k;

    for (i = 0; i < n && machine->uplinks != 0; i++) {
        list = add_link(list, json_sprintf("sw%d:up", i), "uplink", "pxb");
        list = add_link(list, json_sprintf("sw%d:down", i), "downlink", "pxb");
    }
    for (i = 0; i < n && machine->uplinks == 0; i++) {
        for (k = 0; k < n; k++) {
            if (i != k) {
                list = add_link(list, json_sprintf("sw%d>sw%d", i, k), "inter-switch", "pxb");
            }
        }
    }
    return machine->memory == 0 ? list
                                : add_link(list, json_string("memory"), "host-memory", "memory");
}

static json_t *make_path(const machine_t *machine, int from, int to)
{
    json_t *links = json_array();
    const char *kind = "PIX";

    if (from != to && machine->uplinks != 0) {
        kind = "PHB";
        links = vp_json_append(links, json_sprintf("sw%d:up", from));
        links = vp_json_append(links, json_sprintf("sw%d:down", to));
    } else if (from != to) {
        kind = "PXB";
        links = vp_json_append(links, json_sprintf("sw%d>sw%d", from, to));
    }
    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:s}", "kind", kind, "from",
                     json_sprintf("sw%d", from), "to", json_sprintf("sw%d", to), "rate",
                     from == to ? "pix" : "pxb", "links", links, "class", "pcie");
}

static json_t *make_paths(const machine_t *machine)
{
    json_t *list = json_array();
    int n = (int)machine->switches;
    int i;

    for (i = 0; i < n * n; i++) {
        list = vp_json_append(list, make_path(machine, i / n, i % n));
    }
    return list;
}

static json_t *make_nics(const machine_t *machine)
{
    json_t *list = json_array();
    int n = (int)(machine->switches * machine->nics);
    int i;

    for (i = 0; i < n; i++) {
        list =
            vp_json_append(list, json_pack("{s:o, s:o, s:s, s:o}", "name", json_sprintf("nic%d", i),
                                           "switch", json_sprintf("sw%d", i / (int)machine->nics),
                                           "rate", "nic", "class", json_sprintf("nic%d", i)));
    }
    return list;
}

/* The classes of one set; a NIC is a device of its own, or the loopback device. */
static json_t *make_classes(const machine_t *machine, bool is_hardware)
{
    const char *bus = is_hardware ? "cuda_ipc,cuda_copy,posix,cma" : "posix,cma";
    json_t *set = json_pack("{s:{s:s}, s:{s:s}}", "pcie", "tls", bus, "host", "tls", bus);
    int n = (int)(machine->switches * machine->nics);
    int i;

    for (i = 0; i < n; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "nic%d", i);
        set = vp_json_put(
            set, name,
            json_pack("{s:s, s:o}", "tls", is_hardware ? "rc,cuda_copy" : "tcp", "devices",
                      is_hardware ? json_sprintf("mlx5_%d:1", i) : json_string("lo")));
    }
    return set;
}

vp_status_t vp_spec_synthesize(const char *text, json_t **root_p, vp_error_t *error)
{
    machine_t machine;
    vp_status_t status = parse_machine(text, &machine, error);
    json_t *root;

    if (status != VP_OK) {
        return status;
    }
    root = json_pack(
        "{s:s, s:i, s:s, s:I, s:I, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:{s:s, s:s}, "
        "s:{s:o, s:o}}",
        "format", "variopath-topology", "version", 1, "name", "synthetic", "nodes",
        (json_int_t)machine.nodes, "alpha_ns", (json_int_t)machine.alpha_ns, "put_overhead_ns",
        (json_int_t)machine.put_ns, "rates", make_rates(&machine), "gpu_link", "gpu", "switches",
        make_switches(&machine), "links", make_links(&machine), "paths", make_paths(&machine),
        "nics", make_nics(&machine), "nic_pairs", machine.any_pairs != 0 ? "any" : "rail",
        "peer_to_peer", machine.no_peer_to_peer == 0, "gpu_direct", machine.no_gpu_direct == 0,
        "host", "rate", "host", "class", "host", "transports", "hardware",
        make_classes(&machine, true), "local", make_classes(&machine, false));
    if (root == NULL) {
        return vp_error_no_memory(error, "a synthetic topology");
    }
    *root_p = root;
    return VP_OK;
}
