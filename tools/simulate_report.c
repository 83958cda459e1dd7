/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"
#include "tools/simulate.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"

uint64_t vp_demand_total(const uint64_t *demand_bytes, uint32_t n_ranks)
{
    uint64_t total = 0;
    uint32_t i;
    uint32_t j;

    for (i = 0; i < n_ranks; i++) {
        for (j = 0; j < n_ranks; j++) {
            if (i != j) {
                total = vp_add_sat(total, demand_bytes[(size_t)i * n_ranks + j]);
            }
        }
    }
    return total;
}

void vp_report_begin(vp_report_t *report, const vp_model_t *model)
{
    *report = (vp_report_t){.model = model};
}

void vp_report_set_demand(vp_report_t *report, const uint64_t *demand_bytes)
{
    report->total_bytes = vp_demand_total(demand_bytes, report->model->n_ranks);
}

vp_status_t vp_report_add(vp_report_t *report, vp_result_t *result, vp_error_t *error)
{
    if (!vp_array_reserve(&report->results, &report->capacity_results, report->n_results + 1,
                          sizeof(*report->results))) {
        vp_simulation_release(&result->simulation);
        return vp_error_no_memory(error, "the results");
    }
    result->total_bytes = report->total_bytes;
    report->results[report->n_results++] = *result;
    return VP_OK;
}

void vp_report_release(vp_report_t *report)
{
    size_t i;

    for (i = 0; i < report->n_results; i++) {
        vp_simulation_release(&report->results[i].simulation);
    }
    free(report->results);
    *report = (vp_report_t){0};
}

uint64_t vp_report_rate(const vp_report_t *report, const vp_result_t *result)
{
    return vp_algorithmic_bytes_per_s(result->total_bytes, report->model->n_ranks,
                                      result->simulation.time_ns);
}

bool vp_report_is_sweep(const vp_report_t *report)
{
    size_t i;

    for (i = 1; i < report->n_results; i++) {
        if (report->results[i].total_bytes != report->results[0].total_bytes) {
            return true;
        }
    }
    return false;
}

/* The shared link or GPU link whose bytes took the largest part of the time. */
static uint32_t busiest_link(const vp_simulation_t *simulation, double *part_p)
{
    const vp_machine_t *machine = simulation->machine;
    uint32_t busiest = 0;
    uint32_t i;

    *part_p = 0.0;
    for (i = 0; i < vp_network_n_links(machine->network); i++) {
        double part = simulation->time_ns == 0
                          ? 0.0
                          : (double)vp_network_link_bytes(machine->network, i) * 1e9 /
                                (double)vp_link_bytes_per_s(machine, i) /
                                (double)simulation->time_ns;

        if (part > *part_p) {
            *part_p = part;
            busiest = i;
        }
    }
    return busiest;
}

static void print_heading(const vp_report_t *report, uint64_t total_bytes)
{
    (void)printf("%s (%s rates): %" PRIu32 " ranks, %" PRIu64 " bytes\n", report->model->name,
                 report->model->rates, report->model->n_ranks, total_bytes);
    (void)printf("%-17s %-12s %-9s %14s %10s %9s  %-24s %5s\n", "algorithm", "links", "execution",
                 "time us", "GB/s/rank", "steps", "busiest link", "used");
}

static void print_table(const vp_report_t *report)
{
    size_t i;

    for (i = 0; i < report->n_results; i++) {
        const vp_result_t *result = &report->results[i];
        char name[VP_LINK_NAME_BYTES];
        double part;
        uint32_t link = busiest_link(&result->simulation, &part);

        if (i == 0 || result->total_bytes != report->results[i - 1].total_bytes) {
            print_heading(report, result->total_bytes);
        }
        vp_machine_link_name(result->simulation.machine, link, name);
        (void)printf("%-17s %-12s %-9s %14.3f %10.3f %9" PRIu64 "  %-24s %4.0f%%\n",
                     result->algorithm, result->links, result->execution,
                     (double)result->simulation.time_ns / 1e3,
                     (double)vp_report_rate(report, result) / 1e9, result->simulation.n_steps, name,
                     100.0 * part);
    }
}

static void print_csv(const vp_report_t *report)
{
    size_t i;

    (void)printf("algorithm,links,execution,time_ns,algorithmic_bytes_per_s,steps,total_bytes\n");
    for (i = 0; i < report->n_results; i++) {
        const vp_result_t *result = &report->results[i];

        (void)printf("%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                     result->algorithm, result->links, result->execution,
                     result->simulation.time_ns, vp_report_rate(report, result),
                     result->simulation.n_steps, result->total_bytes);
    }
}

static json_t *pack_links(const vp_simulation_t *simulation)
{
    json_t *links = json_object();
    char name[VP_LINK_NAME_BYTES];
    uint32_t i;

    for (i = 0; i < vp_network_n_links(simulation->machine->network); i++) {
        uint64_t n_bytes = vp_network_link_bytes(simulation->machine->network, i);

        if (n_bytes > 0) {
            vp_machine_link_name(simulation->machine, i, name);
            (void)json_object_set_new(links, name, json_integer((json_int_t)n_bytes));
        }
    }
    return links;
}

static json_t *pack_result(const vp_report_t *report, const vp_result_t *result)
{
    const vp_simulation_t *simulation = &result->simulation;
    json_t *packed;

    packed =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "algorithm",
                  result->algorithm, "links", result->links, "execution", result->execution,
                  "concurrency", result->concurrency, "total_bytes",
                  (json_int_t)result->total_bytes, "time_ns", (json_int_t)simulation->time_ns,
                  "algorithmic_bytes_per_s", (json_int_t)vp_report_rate(report, result), "steps",
                  (json_int_t)simulation->n_steps, "flows", (json_int_t)simulation->n_flows,
                  "max_idle_ns", (json_int_t)simulation->max_idle_ns, "synthesis_ms",
                  (json_int_t)result->synthesis_ms, "link_bytes", pack_links(simulation));
    if (packed != NULL && result->is_plan) {
        (void)json_object_set_new(packed, "planning_model_ns",
                                  json_integer((json_int_t)result->planning_model_ns));
    }
    if (packed != NULL && result->planning_cpu_ns > 0) {
        (void)json_object_set_new(packed, "planning_cpu_ns",
                                  json_integer((json_int_t)result->planning_cpu_ns));
    }
    return packed;
}

static vp_status_t print_json(const vp_report_t *report, vp_error_t *error)
{
    json_t *root = json_array();
    bool ok = root != NULL;
    size_t i;

    for (i = 0; ok && i < report->n_results; i++) {
        ok = json_array_append_new(root, pack_result(report, &report->results[i])) == 0;
    }
    ok = ok && vp_json_dump(root, stdout, JSON_INDENT(2));
    json_decref(root);
    if (!ok) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the results as JSON; check the disk and the memory");
    }
    (void)printf("\n");
    return VP_OK;
}

vp_status_t vp_report_print(const vp_report_t *report, vp_report_format_t format, vp_error_t *error)
{
    switch (format) {
    case VP_REPORT_JSON:
        return print_json(report, error);
    case VP_REPORT_CSV:
        print_csv(report);
        return VP_OK;
    default:
        print_table(report);
        return VP_OK;
    }
}
