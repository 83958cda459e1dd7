/*
 * From switches to rank groups. Where several ranks share a GPU, its link is a
 * resource like any other: they become a group whose paths to others name it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/topology_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* A new group: of the GPUs of a switch that have one rank each, or of one shared GPU. */
typedef struct part {
    uint32_t from; /* the switch */
    uint32_t gpu;  /* NONE: not of one GPU */
    vp_spec_links_t out;
    vp_spec_links_t in;
} part_t;

typedef struct population {
    const vp_json_t *root;
    vp_spec_t *spec;
    uint32_t n_parts;
    part_t *parts;
    uint32_t *first_part; /* [n_switches + 1] */
} population_t;

static uint32_t gpus_end(const vp_spec_t *spec, uint32_t from)
{
    return from + 1 < spec->n_switches ? spec->switches[from + 1].first_gpu : spec->n_gpus;
}

static void add_link(population_t *population, part_t *part, const char *direction,
                     vp_spec_links_t *set)
{
    vp_spec_t *spec = population->spec;
    vp_spec_link_t *it = &spec->links[spec->n_links];

    *it = (vp_spec_link_t){.name = spec->switches[part->from].name,
                           .kind = VP_RESOURCE_GPU_LINK,
                           .rate = spec->gpu_link};
    (void)snprintf(it->suffix, sizeof(it->suffix), ".gpu%" PRIu32 ":%s",
                   part->gpu - spec->switches[part->from].first_gpu, direction);
    set->n = 1;
    set->links[0] = spec->n_links++;
}

/* Lists the parts of a switch: first the GPUs with one rank each, if there are any. */
static void list_parts(population_t *population, uint32_t from)
{
    vp_spec_t *spec = population->spec;
    uint32_t first = spec->switches[from].first_gpu;
    uint32_t end = gpus_end(spec, from);
    bool has_single = false;
    uint32_t i;

    population->first_part[from] = population->n_parts;
    for (i = first; i < end; i++) {
        has_single = has_single || spec->gpus[i].n_ranks == 1;
    }
    if (has_single) {
        population->parts[population->n_parts++] = (part_t){.from = from, .gpu = NONE};
    }
    for (i = first; i < end; i++) {
        if (spec->gpus[i].n_ranks > 1) {
            part_t *part = &population->parts[population->n_parts++];

            *part = (part_t){.from = from, .gpu = i};
            add_link(population, part, "out", &part->out);
            add_link(population, part, "in", &part->in);
        }
    }
    population->first_part[from + 1] = population->n_parts;
}

/* Room for two links of every GPU that is shared. */
static bool grow_links(population_t *population)
{
    vp_spec_t *spec = population->spec;
    vp_spec_link_t *links =
        vp_spec_array(population->root, spec->n_links + 2 * (size_t)spec->n_gpus, sizeof(*links));
    uint32_t i;

    if (links == NULL) {
        return false;
    }
    for (i = 0; i < spec->n_links; i++) {
        links[i] = spec->links[i];
    }
    free(spec->links);
    spec->links = links;
    return true;
}

/* Adds the shared links at both ends of a way. */
static void add_ends(const population_t *population, vp_spec_links_t *links, const part_t *from,
                     const part_t *to)
{
    const vp_spec_t *spec = population->spec;

    if ((from != NULL && !vp_spec_links_add(spec, links, &from->out, VP_N_RESOURCE_KINDS)) ||
        (to != NULL && !vp_spec_links_add(spec, links, &to->in, VP_N_RESOURCE_KINDS))) {
        vp_json_mistake(population->root, VP_ERR_LIMIT,
                        "a path of switch \"%s\" has more than %d links together with those of "
                        "GPUs that several ranks share; list fewer links",
                        spec->switches[from != NULL ? from->from : to->from].name,
                        VP_MAX_FOOTPRINT);
    }
}

static uint32_t n_parts_of(const population_t *population, uint32_t from)
{
    return population->first_part[from + 1] - population->first_part[from];
}

/* Replaces the path of two switches by those of their parts. */
static void split_path(const population_t *population, const vp_spec_path_t *path,
                       vp_spec_path_t *paths, uint32_t *n_paths_p)
{
    uint32_t a;
    uint32_t b;

    for (a = population->first_part[path->from]; a < population->first_part[path->from + 1]; a++) {
        for (b = population->first_part[path->to]; b < population->first_part[path->to + 1]; b++) {
            vp_spec_path_t *it = &paths[(*n_paths_p)++];

            *it = *path;
            it->from = a;
            it->to = b;
            if (a != b) {
                add_ends(population, &it->links, &population->parts[a], &population->parts[b]);
                it->bytes_per_s = vp_spec_links_rate(population->spec, &it->links, it->bytes_per_s);
            }
            /* Between two GPUs of a switch; PIX stays the name of what is inside a group. */
            if (a != b && it->kind == VP_PATH_PIX) {
                it->kind = VP_PATH_PXB;
            }
        }
    }
}

static void split_paths(population_t *population)
{
    vp_spec_t *spec = population->spec;
    vp_spec_path_t *paths;
    size_t n = 0;
    uint32_t n_paths = 0;
    uint32_t i;

    for (i = 0; i < spec->n_paths; i++) {
        n += (size_t)n_parts_of(population, spec->paths[i].from) *
             n_parts_of(population, spec->paths[i].to);
    }
    if (n > VP_MAX_INSTANCES) {
        vp_json_mistake(population->root, VP_ERR_LIMIT,
                        "GPUs that several ranks share make %zu paths of a node; the limit is %d",
                        n, VP_MAX_INSTANCES);
    }
    paths = vp_spec_array(population->root, n, sizeof(*paths));
    if (paths == NULL) {
        return;
    }
    for (i = 0; i < spec->n_paths; i++) {
        split_path(population, &spec->paths[i], paths, &n_paths);
    }
    free(spec->paths);
    spec->paths = paths;
    spec->n_paths = n_paths;
}

static void split_port(const population_t *population, const vp_spec_port_t *port,
                       vp_spec_port_t *ports, uint32_t *n_ports_p)
{
    uint32_t a = population->first_part[port->switch_idx];

    for (; a < population->first_part[port->switch_idx + 1]; a++) {
        const part_t *part = &population->parts[a];
        vp_spec_port_t *it = &ports[(*n_ports_p)++];

        *it = *port;
        it->switch_idx = a;
        add_ends(population, &it->out, part, NULL);
        add_ends(population, &it->in, NULL, part);
        it->out_bytes_per_s = vp_spec_links_rate(population->spec, &it->out, it->out_bytes_per_s);
        it->in_bytes_per_s = vp_spec_links_rate(population->spec, &it->in, it->in_bytes_per_s);
    }
}

static void split_ports(population_t *population)
{
    vp_spec_t *spec = population->spec;
    vp_spec_port_t *ports;
    size_t n = 0;
    uint32_t n_ports = 0;
    uint32_t i;

    for (i = 0; i < spec->n_ports; i++) {
        n += n_parts_of(population, spec->ports[i].switch_idx);
    }
    ports = vp_spec_array(population->root, n, sizeof(*ports));
    if (ports == NULL) {
        return;
    }
    for (i = 0; i < spec->n_ports; i++) {
        split_port(population, &spec->ports[i], ports, &n_ports);
    }
    free(spec->ports);
    spec->ports = ports;
    spec->n_ports = n_ports;
}

/* NICs that serve nobody any more are gone; the others are listed with the first that they serve,
 * unless their own switch still has ranks. */
static void keep_nics(population_t *population)
{
    vp_spec_t *spec = population->spec;
    uint32_t n_nics = 0;
    uint32_t nic;
    uint32_t i;

    for (nic = 0; nic < spec->n_nics; nic++) {
        uint32_t home = spec->nics[nic].switch_idx;
        uint32_t group = NONE;

        for (i = 0; i < spec->n_ports; i++) {
            if (spec->ports[i].nic == nic) {
                group = group == NONE ? spec->ports[i].switch_idx : group;
                spec->ports[i].nic = n_nics;
            }
        }
        if (group == NONE) {
            continue;
        }
        spec->nics[n_nics] = spec->nics[nic];
        spec->nics[n_nics++].switch_idx =
            n_parts_of(population, home) > 0 ? population->first_part[home] : group;
    }
    spec->n_nics = n_nics;
}

/* The ranks of a part, and its addresses. */
static void number_ranks(population_t *population, const part_t *part, vp_spec_switch_t *group)
{
    vp_spec_t *spec = population->spec;
    uint32_t i = part->gpu == NONE ? spec->switches[part->from].first_gpu : part->gpu;
    uint32_t end = part->gpu == NONE ? gpus_end(spec, part->from) : part->gpu + 1;
    uint32_t k;

    group->n_gpus = 0;
    for (; i < end; i++) {
        vp_spec_gpu_t *gpu = &spec->gpus[i];

        if (part->gpu == NONE && gpu->n_ranks != 1) {
            continue;
        }
        gpu->first_rank = spec->n_ranks;
        for (k = 0; k < gpu->n_ranks; k++) {
            spec->rank_pci[spec->n_ranks++] = gpu->pci;
        }
        group->n_gpus += gpu->n_ranks;
    }
}

static void make_groups(population_t *population)
{
    vp_spec_t *spec = population->spec;
    vp_spec_switch_t *groups =
        vp_spec_array(population->root, population->n_parts, sizeof(*groups));
    uint32_t i;

    if (groups == NULL) {
        return;
    }
    for (i = 0; i < population->n_parts; i++) {
        const part_t *part = &population->parts[i];

        groups[i] = spec->switches[part->from];
        if (part->gpu != NONE) {
            (void)snprintf(groups[i].suffix, sizeof(groups[i].suffix), ".gpu%" PRIu32,
                           part->gpu - spec->switches[part->from].first_gpu);
        }
        number_ranks(population, part, &groups[i]);
    }
    free(spec->switches);
    spec->switches = groups;
    spec->n_switches = population->n_parts;
}

static bool make_arrays(population_t *population)
{
    vp_spec_t *spec = population->spec;
    size_t n_ranks = 0;
    uint32_t i;

    for (i = 0; i < spec->n_gpus; i++) {
        n_ranks += spec->gpus[i].n_ranks;
    }
    if (n_ranks > VP_MAX_RANKS) {
        vp_json_mistake(population->root, VP_ERR_LIMIT,
                        "a node has %zu ranks; a topology has at most %d", n_ranks, VP_MAX_RANKS);
    }
    spec->rank_pci = vp_spec_array(population->root, n_ranks, sizeof(*spec->rank_pci));
    population->parts = vp_spec_array(population->root, spec->n_gpus, sizeof(part_t));
    population->first_part =
        vp_spec_array(population->root, (size_t)spec->n_switches + 1, sizeof(uint32_t));
    return spec->rank_pci != NULL && population->parts != NULL && population->first_part != NULL &&
           grow_links(population);
}

static void choose_ranks(const vp_json_t *root, const vp_spec_choice_t *choice, vp_spec_t *spec)
{
    uint32_t i;

    if (choice->n_gpu_ranks != spec->n_gpus) {
        vp_json_mistake(root, VP_ERR_USAGE,
                        "has %" PRIu32 " GPUs a node, not the %" PRIu32
                        " that ranks were given for",
                        spec->n_gpus, choice->n_gpu_ranks);
        return;
    }
    for (i = 0; i < spec->n_gpus; i++) {
        spec->gpus[i].n_ranks = choice->gpu_ranks[i];
    }
}

void vp_spec_populate(const vp_json_t *root, const vp_spec_choice_t *choice, vp_spec_t *spec)
{
    population_t population = {.root = root, .spec = spec};
    uint32_t i;

    if (choice->gpu_ranks != NULL && !vp_json_failed(root)) {
        choose_ranks(root, choice, spec);
    }
    if (!vp_json_failed(root) && make_arrays(&population)) {
        for (i = 0; i < spec->n_switches; i++) {
            list_parts(&population, i);
        }
        split_paths(&population);
        split_ports(&population);
        if (!vp_json_failed(root)) {
            keep_nics(&population);
            make_groups(&population);
        }
    }
    free(population.parts);
    free(population.first_part);
}
