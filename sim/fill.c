/*
 * Max-min fair sharing by progressive filling, on the part of the network that
 * changed.
 *
 * A link whose members together cannot overload it ("not contended") binds
 * nobody and separates components. A link with one member binds only that one.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/state.h"

#include <stdlib.h>

#include "base/array.h"

enum { LEVEL_LINK, LEVEL_LIMIT };

static vp_status_t append(uint32_t **array_p, size_t *n_p, size_t *capacity_p, uint32_t value,
                          vp_error_t *error)
{
    if (!vp_array_reserve(array_p, capacity_p, *n_p + 1, sizeof(**array_p))) {
        return vp_error_no_memory(error, "link sharing");
    }
    (*array_p)[(*n_p)++] = value;
    return VP_OK;
}

static void set_capacity(vp_link_run_t *link)
{
    uint32_t entry;

    if (link->n_shares > 0 && link->n_sources > 0) {
        entry = link->n_sources < link->n_shares ? link->n_sources : link->n_shares;
        link->capacity = vp_muldiv_floor(link->full, link->share_ppm[entry - 1], 1000000);
    }
}

static vp_status_t count_source(vp_network_t *network, vp_link_run_t *link, uint32_t source,
                                vp_error_t *error)
{
    if (link->n_shares == 0) {
        return VP_OK;
    }
    if (link->source_flows == NULL) {
        link->source_flows = vp_array_new(network->n_sources, sizeof(uint32_t));
        if (link->source_flows == NULL) {
            return vp_error_no_memory(error, "the sources of a link");
        }
    }
    if (link->source_flows[source]++ == 0) {
        link->n_sources++;
        set_capacity(link);
    }
    return VP_OK;
}

static void discount_source(vp_link_run_t *link, uint32_t source)
{
    if (link->n_shares > 0 && --link->source_flows[source] == 0) {
        link->n_sources--;
        set_capacity(link);
    }
}

static vp_status_t note_change(vp_network_t *network, uint32_t index, vp_error_t *error)
{
    vp_link_run_t *link = &network->links[index];

    if (link->changed) {
        return VP_OK;
    }
    link->changed = true;
    return append(&network->changed, &network->n_changed, &network->capacity_changed, index, error);
}

static void count_change(vp_network_t *network, size_t *count)
{
    if (network->n_joined == 0 && network->n_left == 0) {
        network->changed_since_ns = network->now_ns;
    }
    (*count)++;
}

static vp_status_t join_link(vp_network_t *network, uint32_t flow, uint32_t hop_index,
                             vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];
    vp_hop_t *hop = &network->hops[run->route + hop_index];
    vp_link_run_t *link = &network->links[hop->link];
    vp_status_t status;

    if (!vp_array_reserve(&link->members, &link->capacity_members, link->n_members + 1,
                          sizeof(*link->members))) {
        return vp_error_no_memory(error, "the flows of a link");
    }
    if (link->n_members == 0) {
        link->busy_since_ns = network->now_ns;
    }
    hop->position = (uint32_t)link->n_members;
    link->members[link->n_members++] = (vp_member_ref_t){flow, hop_index};
    link->ceilings += run->ceiling;
    status = count_source(network, link, run->source, error);
    return status != VP_OK ? status : note_change(network, hop->link, error);
}

static vp_status_t leave_link(vp_network_t *network, uint32_t flow, uint32_t hop_index,
                              vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];
    vp_hop_t *hop = &network->hops[run->route + hop_index];
    vp_link_run_t *link = &network->links[hop->link];
    vp_member_ref_t last = link->members[--link->n_members];

    link->members[hop->position] = last;
    network->hops[network->flows[last.flow].route + last.hop].position = hop->position;
    link->ceilings -= run->ceiling;
    link->bytes += run->n_bytes;
    discount_source(link, run->source);
    if (link->n_members == 0) {
        link->busy_ns += network->now_ns - link->busy_since_ns;
    }
    return note_change(network, hop->link, error);
}

vp_status_t vp_fill_enter(vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];
    vp_status_t status =
        append(&network->entered, &network->n_entered, &network->capacity_entered, flow, error);
    uint32_t i;

    for (i = 0; status == VP_OK && i < run->n_links; i++) {
        status = join_link(network, flow, i, error);
    }
    run->settled_ns = network->now_ns;
    network->n_active++;
    count_change(network, &network->n_joined);
    return status;
}

vp_status_t vp_fill_leave(vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; status == VP_OK && i < run->n_links; i++) {
        status = leave_link(network, flow, i, error);
    }
    network->n_active--;
    count_change(network, &network->n_left);
    return status;
}

/* Without a branch: which flows were reached already is beyond a branch predictor. */
static void visit_flow(vp_network_t *network, uint32_t flow)
{
    bool is_new = network->visited[flow] != network->fill;

    network->visited[flow] = network->fill;
    network->fill_flows[network->n_fill_flows] = flow;
    network->n_fill_flows += is_new;
}

static void visit_link(vp_network_t *network, uint32_t index)
{
    vp_link_fill_t *fill = &network->link_fills[index];
    const vp_link_run_t *link = &network->links[index];
    size_t i;

    if (fill->reached == network->fill) {
        return;
    }
    fill->reached = network->fill;
    if (!link->contended && link->n_members > 1) {
        return;
    }
    fill->visited = network->fill;
    fill->left = link->capacity;
    fill->n_left = (uint32_t)link->n_members;
    network->fill_links[network->n_fill_links++] = index;
    for (i = 0; i < link->n_members; i++) {
        visit_flow(network, link->members[i].flow);
    }
}

/*
 * Flows and routes lie all over the memory, and large fills wait for it more
 * than they compute: those that a list names are asked for ahead.
 */
enum { AHEAD = 8 };

static void prefetch_routes(const vp_network_t *network, const uint32_t *list, size_t n, size_t at)
{
    if (at + 2 * AHEAD < n) {
        __builtin_prefetch(&network->route_begin[list[at + 2 * AHEAD]]);
        __builtin_prefetch(&network->hops[network->route_begin[list[at + AHEAD]]]);
    }
}

static void prefetch_flows(const vp_network_t *network, const uint32_t *list, size_t n, size_t at)
{
    if (at + AHEAD < n) {
        __builtin_prefetch(&network->flows[list[at + AHEAD]]);
    }
}

/* Lists the connected component of `seed`. */
static void collect(vp_network_t *network, uint32_t seed)
{
    size_t at;
    uint32_t i;

    network->n_fill_flows = 0;
    network->n_fill_links = 0;
    visit_flow(network, seed);
    for (at = 0; at < network->n_fill_flows; at++) {
        const uint32_t *route = &network->route_begin[network->fill_flows[at]];

        prefetch_routes(network, network->fill_flows, network->n_fill_flows, at);
        for (i = route[0]; i < route[1]; i++) {
            visit_link(network, network->hops[i].link);
        }
    }
}

/* The flow's bytes so far at the old rate, its end at the new one, to the nearest ns. */
static vp_status_t set_rate(vp_network_t *network, vp_flow_run_t *run, uint64_t rate,
                            vp_error_t *error)
{
    vp_uint128_t moved;
    vp_uint128_t left_ns;

    if (rate == run->rate) {
        return VP_OK;
    }
    moved = (vp_uint128_t)run->rate * (network->now_ns - run->settled_ns);
    if (moved > run->remaining + run->rate) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "a flow of rank %u moved more than its %llu bytes; this is a bug in "
                            "the simulator",
                            run->source, (unsigned long long)run->n_bytes);
    }
    vp_usage_note(network, run);
    run->remaining -= moved < run->remaining ? moved : run->remaining;
    run->settled_ns = network->now_ns;
    run->rate = rate;
    run->finish_ns = VP_NEVER;
    if (rate > 0) {
        left_ns = (run->remaining + rate / 2) / rate;
        if (left_ns < VP_NEVER - network->now_ns) {
            run->finish_ns = network->now_ns + (uint64_t)left_ns;
        }
    }
    return VP_OK;
}

static vp_status_t freeze(vp_network_t *network, uint32_t flow, uint64_t rate, vp_error_t *error)
{
    const uint32_t *route = &network->route_begin[flow];
    uint32_t i;

    for (i = route[0]; i < route[1]; i++) {
        vp_link_fill_t *link = &network->link_fills[network->hops[i].link];

        if (link->visited != network->fill) {
            continue;
        }
        if (link->left < rate) {
            return vp_error_set(error, VP_ERR_INTERNAL,
                                "link %u would carry more than its rate; this is a bug in the "
                                "simulator",
                                network->hops[i].link);
        }
        link->left -= rate;
        link->n_left--;
    }
    network->frozen[flow] = network->fill;
    return set_rate(network, &network->flows[flow], rate, error);
}

static vp_status_t freeze_link(vp_network_t *network, const vp_link_run_t *link, uint64_t rate,
                               vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t n = 0;
    size_t i;

    if (!vp_array_reserve(&network->unfrozen, &network->capacity_unfrozen, link->n_members,
                          sizeof(uint32_t))) {
        return vp_error_no_memory(error, "link sharing");
    }
    for (i = 0; i < link->n_members; i++) { /* without a branch, as in visit_flow */
        network->unfrozen[n] = link->members[i].flow;
        n += network->frozen[link->members[i].flow] != network->fill;
    }
    for (i = 0; status == VP_OK && i < n; i++) {
        prefetch_routes(network, network->unfrozen, n, i);
        prefetch_flows(network, network->unfrozen, n, i);
        if (network->frozen[network->unfrozen[i]] != network->fill) {
            status = freeze(network, network->unfrozen[i], rate, error);
        }
    }
    return status;
}

static vp_status_t list_levels(vp_network_t *network, vp_error_t *error)
{
    size_t i;
    bool ok = true;

    network->levels.n = 0;
    for (i = 0; ok && i < network->n_fill_links; i++) {
        const vp_link_fill_t *link = &network->link_fills[network->fill_links[i]];
        vp_event_t level = {link->left / link->n_left, LEVEL_LINK, network->fill_links[i]};

        ok = vp_events_push(&network->levels, level);
    }
    for (i = 0; ok && i < network->n_fill_flows; i++) {
        uint32_t flow = network->fill_flows[i];

        if (network->flows[flow].limited) {
            vp_event_t level = {network->flows[flow].limit, LEVEL_LIMIT, flow};

            ok = vp_events_push(&network->levels, level);
        }
    }
    return ok ? VP_OK : vp_error_no_memory(error, "link sharing");
}

/* Raises all rates of the component together; at each link's level its flows stay behind. */
static vp_status_t fill(vp_network_t *network, vp_error_t *error)
{
    vp_status_t status = list_levels(network, error);

    while (status == VP_OK && network->levels.n > 0) {
        vp_event_t level = network->levels.items[0];

        if (level.kind == LEVEL_LIMIT) {
            (void)vp_events_pop(&network->levels);
            if (network->frozen[level.index] != network->fill) {
                status = freeze(network, level.index, level.key, error);
            }
        } else {
            const vp_link_fill_t *link = &network->link_fills[level.index];
            uint64_t now = link->n_left == 0 ? 0 : link->left / link->n_left;

            if (now > level.key) { /* others froze below: the level has risen since */
                vp_events_replace(&network->levels, (vp_event_t){now, LEVEL_LINK, level.index});
            } else {
                (void)vp_events_pop(&network->levels);
                if (link->n_left > 0) {
                    status = freeze_link(network, &network->links[level.index], level.key, error);
                }
            }
        }
    }
    return status;
}

/* Tells the event queue the ends that may come before the component is shared anew. */
static vp_status_t list_ends(vp_network_t *network, vp_error_t *error)
{
    uint64_t horizon = VP_NEVER;
    size_t i;

    for (i = 0; i < network->n_fill_flows; i++) {
        uint64_t finish_ns = network->flows[network->fill_flows[i]].finish_ns;

        prefetch_flows(network, network->fill_flows, network->n_fill_flows, i);
        horizon = finish_ns < horizon ? finish_ns : horizon;
    }
    if (horizon == VP_NEVER) {
        return VP_OK;
    }
    horizon = vp_add_sat(horizon, network->patience_ns);
    for (i = 0; i < network->n_fill_flows; i++) {
        vp_flow_run_t *run = &network->flows[network->fill_flows[i]];

        prefetch_flows(network, network->fill_flows, network->n_fill_flows, i);
        if (run->finish_ns > horizon || run->listed_ns == run->finish_ns) {
            continue;
        }
        run->listed_ns = run->finish_ns;
        if (!vp_events_push(&network->events, (vp_event_t){run->finish_ns, VP_EVENT_FINISH,
                                                           network->fill_flows[i]})) {
            return vp_error_no_memory(error, "events");
        }
    }
    return VP_OK;
}

static vp_status_t share_from(vp_network_t *network, uint32_t seed, vp_error_t *error)
{
    vp_status_t status;

    if (network->visited[seed] == network->fill) {
        return VP_OK;
    }
    collect(network, seed);
    status = fill(network, error);
    return status == VP_OK ? list_ends(network, error) : status;
}

/* Judges the changed links anew; those that were or are contended stay listed. */
static void judge_changed(vp_network_t *network)
{
    size_t n_kept = 0;
    size_t i;

    for (i = 0; i < network->n_changed; i++) {
        vp_link_run_t *link = &network->links[network->changed[i]];
        bool was = link->contended;

        link->changed = false;
        link->contended = link->ceilings > link->capacity;
        if (was || link->contended) {
            network->changed[n_kept++] = network->changed[i];
        }
    }
    network->n_changed = n_kept;
}

vp_status_t vp_fill_share(vp_network_t *network, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint64_t idle_ns = network->now_ns - network->changed_since_ns;
    size_t i;
    size_t member;

    network->fill++;
    network->n_reshares++;
    network->max_idle_ns = idle_ns > network->max_idle_ns ? idle_ns : network->max_idle_ns;
    judge_changed(network);
    for (i = 0; status == VP_OK && i < network->n_changed; i++) {
        const vp_link_run_t *link = &network->links[network->changed[i]];

        for (member = 0; status == VP_OK && member < link->n_members; member++) {
            status = share_from(network, link->members[member].flow, error);
        }
    }
    for (i = 0; status == VP_OK && i < network->n_entered; i++) {
        status = share_from(network, network->entered[i], error);
    }
    network->n_changed = 0;
    network->n_entered = 0;
    network->n_joined = 0;
    network->n_left = 0;
    return status;
}
