/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/traffic.h"

#include "base/units.h"

uint64_t vp_traffic_demand(const vp_traffic_t *traffic, uint32_t source, uint32_t destination)
{
    return source == destination
               ? 0
               : traffic->demand_bytes[(size_t)source * traffic->n_ranks + destination];
}

uint64_t vp_operation_ns(const vp_traffic_t *traffic, vp_operation_t operation)
{
#define FACTOR(name, factor) factor,
    static const uint64_t factors[] = {VP_OPERATION_MAP(FACTOR)};
#undef FACTOR

    return vp_mul_sat(factors[operation], traffic->machine->model->put_overhead_ns);
}

vp_status_t vp_traffic_send(vp_traffic_t *traffic, uint32_t source, const vp_path_t *path,
                            uint64_t n_bytes, vp_operation_t operation, vp_start_t start,
                            uint32_t *flow_p, vp_error_t *error)
{
    vp_flow_t flow = {source,     path->n_links,     path->links,
                      n_bytes,    path->bytes_per_s, vp_operation_ns(traffic, operation),
                      start.gate, start.queue,       start.step};

    return vp_network_add_flow(traffic->machine->network, &flow, flow_p, error);
}

vp_status_t vp_traffic_gate(vp_traffic_t *traffic, uint32_t *gate_p, vp_error_t *error)
{
    return vp_network_add_gate(traffic->machine->network, gate_p, error);
}

vp_status_t vp_traffic_wait(vp_traffic_t *traffic, uint32_t gate, uint32_t flow, vp_error_t *error)
{
    return vp_network_wait(traffic->machine->network, gate, flow, error);
}

vp_status_t vp_traffic_mark(vp_traffic_t *traffic, uint32_t gate, uint32_t *flow_p,
                            vp_error_t *error)
{
    vp_flow_t flow = {0, 0, NULL, 0, 0, 0, gate, VP_NO_QUEUE, 0};

    return vp_network_add_flow(traffic->machine->network, &flow, flow_p, error);
}

vp_status_t vp_traffic_chain(vp_traffic_t *traffic, uint32_t from, uint32_t to, vp_error_t *error)
{
    uint32_t mark;
    vp_status_t status = vp_traffic_mark(traffic, from, &mark, error);

    return status == VP_OK ? vp_traffic_wait(traffic, to, mark, error) : status;
}
