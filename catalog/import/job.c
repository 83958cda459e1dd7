/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "catalog/assemble.h"
#include "catalog/build.h"
#include "catalog/import/facts.h"
#include "catalog/store.h"

enum { MEMBER_VERSION = 1 };
static const char what[] = "discovered topology";

/* One kind of node. */
typedef struct kind {
    uint64_t hash;
    vp_hardware_t *machine;
    char *text; /* its topology file */
} kind_t;

struct vp_job {
    kind_t *kinds;
    size_t capacity;
    uint32_t n_kinds;
};

/* The k-th entry of a list of numbers such as CUDA_VISIBLE_DEVICES, by turns; false: it is none. */
static bool visible_gpu(const char *list, uint32_t k, uint32_t *gpu_p)
{
    uint32_t gpus[256];
    uint32_t n = 0;

    while (list != NULL && *list >= '0' && *list <= '9' && n < 256) {
        char *end;
        unsigned long gpu = strtoul(list, &end, 10);

        if ((*end != '\0' && *end != ',') || gpu >= VP_HW_MAX_GPUS) {
            return false;
        }
        gpus[n++] = (uint32_t)gpu;
        list = *end == ',' ? end + 1 : end;
    }
    if (n == 0 || *list != '\0') {
        return false;
    }
    *gpu_p = gpus[k % n];
    return true;
}

/* The number in the topology file of the GPU that a process is to use. */
static uint32_t launched_gpu(const vp_hardware_t *machine, uint32_t local_rank)
{
    uint32_t gpu = local_rank;

    (void)visible_gpu(getenv("CUDA_VISIBLE_DEVICES"), local_rank, &gpu);
    return vp_facts_gpu_number(machine, gpu % machine->n_gpus);
}

void vp_job_member_write(vp_writer_t *writer, const vp_discovery_t *discovery, const char *host,
                         uint32_t local_rank)
{
    vp_hardware_t *machine = NULL;
    char name[256] = "";
    vp_error_t ignored;
    uint32_t gpu = 0;

    if (host == NULL) {
        (void)gethostname(name, sizeof(name) - 1);
        host = name;
    }
    if (discovery->facts != NULL &&
        vp_facts_read(discovery->facts, discovery->n_bytes, what, &machine, &ignored) == VP_OK) {
        gpu = launched_gpu(machine, local_rank);
        vp_hardware_destroy(machine);
    }
    vp_write_u8(writer, MEMBER_VERSION);
    vp_write_u64(writer, vp_hash64(host, strlen(host)));
    vp_write_u32(writer, gpu);
    vp_write_string(writer, discovery->refusal);
    vp_write_u64(writer, discovery->hash);
    vp_write_u32(writer, (uint32_t)discovery->n_bytes);
    vp_write_bytes(writer, discovery->facts, discovery->n_bytes);
}

bool vp_job_member_read(const void *data, size_t n_bytes, vp_job_member_t *member)
{
    vp_job_member_t it = {0};
    vp_reader_t reader;
    bool is_known;

    vp_reader_init(&reader, data, n_bytes);
    is_known = vp_read_u8(&reader) == MEMBER_VERSION;
    it.host = vp_read_u64(&reader);
    it.gpu = vp_read_u32(&reader);
    vp_read_text(&reader, it.refusal, sizeof(it.refusal));
    it.hash = vp_read_u64(&reader);
    it.n_facts = vp_read_u32(&reader);
    it.facts = (const uint8_t *)data + reader.position;
    if (!is_known || reader.failed || it.n_facts != vp_reader_left(&reader) ||
        (it.hash != 0 && it.hash != vp_hash64(it.facts, it.n_facts))) {
        return false;
    }
    *member = it;
    return true;
}

vp_job_t *vp_job_create(void)
{
    return vp_array_new(1, sizeof(vp_job_t));
}

void vp_job_destroy(vp_job_t *job)
{
    uint32_t i;

    for (i = 0; job != NULL && i < job->n_kinds; i++) {
        vp_hardware_destroy(job->kinds[i].machine);
        free(job->kinds[i].text);
    }
    if (job != NULL) {
        free(job->kinds);
    }
    free(job);
}

static const kind_t *find_kind(const vp_job_t *job, uint64_t hash)
{
    uint32_t i;

    for (i = 0; i < job->n_kinds; i++) {
        if (job->kinds[i].hash == hash) {
            return &job->kinds[i];
        }
    }
    return NULL;
}

vp_status_t vp_job_add(vp_job_t *job, const vp_job_member_t *member, vp_error_t *error)
{
    kind_t *it;
    vp_status_t status;

    if (member->hash == 0 || find_kind(job, member->hash) != NULL) {
        return VP_OK;
    }
    if (!vp_array_reserve(&job->kinds, &job->capacity, (size_t)job->n_kinds + 1, sizeof(*it))) {
        return vp_error_no_memory(error, what);
    }
    it = &job->kinds[job->n_kinds];
    status = vp_facts_read(member->facts, member->n_facts, what, &it->machine, error);
    if (status != VP_OK) {
        return status;
    }
    status = vp_facts_topology(it->machine, "discovered", &it->text, error);
    if (status != VP_OK) {
        vp_hardware_destroy(it->machine);
        return status;
    }
    it->hash = member->hash;
    job->n_kinds++;
    return VP_OK;
}

uint32_t vp_job_n_kinds(const vp_job_t *job)
{
    return job->n_kinds;
}

bool vp_job_describe(const vp_job_t *job, uint64_t hash, char *text, size_t n_bytes)
{
    const kind_t *it = find_kind(job, hash);

    if (it == NULL) {
        return false;
    }
    (void)snprintf(text, n_bytes, "%" PRIu32 " GPU%s in %" PRIu32 " group%s, %" PRIu32 " NIC%s",
                   it->machine->n_gpus, it->machine->n_gpus == 1 ? "" : "s", it->machine->n_groups,
                   it->machine->n_groups == 1 ? "" : "s", it->machine->n_nics,
                   it->machine->n_nics == 1 ? "" : "s");
    return true;
}

/* The number of the GPU at an address; false: the node has none there. */
static bool gpu_at(const vp_hardware_t *machine, vp_pci_t pci, uint32_t *gpu_p)
{
    char text[VP_PCI_TEXT_BYTES];
    vp_hw_pci_t address;
    uint32_t i;

    vp_pci_format(pci, text);
    if (!vp_hw_pci_parse(text, &address)) {
        return false;
    }
    for (i = 0; i < machine->n_gpus; i++) {
        const vp_hw_pci_t *it = &machine->objects[machine->gpus[i]].pci;

        if (it->is_known && it->domain == address.domain && it->bus == address.bus &&
            it->device == address.device && it->function == address.function) {
            *gpu_p = vp_facts_gpu_number(machine, i);
            return true;
        }
    }
    return false;
}

typedef struct numbers {
    vp_node_kind_t *kinds;
    uint32_t *node_kind;
    uint32_t *rank_node;
    uint32_t *rank_gpu;
    const vp_job_member_t **nodes; /* the first member of each */
    uint32_t n_nodes;
} numbers_t;

static bool make_numbers(numbers_t *numbers, const vp_job_t *job, uint32_t n_ranks)
{
    uint32_t i;

    numbers->kinds = vp_array_new(job->n_kinds, sizeof(*numbers->kinds));
    numbers->node_kind = vp_array_new(n_ranks, sizeof(uint32_t));
    numbers->rank_node = vp_array_new(n_ranks, sizeof(uint32_t));
    numbers->rank_gpu = vp_array_new(n_ranks, sizeof(uint32_t));
    numbers->nodes = vp_array_new(n_ranks, sizeof(*numbers->nodes));
    for (i = 0; i < job->n_kinds && numbers->kinds != NULL; i++) {
        numbers->kinds[i] = (vp_node_kind_t){job->kinds[i].text, strlen(job->kinds[i].text)};
    }
    return numbers->kinds != NULL && numbers->node_kind != NULL && numbers->rank_node != NULL &&
           numbers->rank_gpu != NULL && numbers->nodes != NULL;
}

static void clear_numbers(numbers_t *numbers)
{
    free(numbers->kinds);
    free(numbers->node_kind);
    free(numbers->rank_node);
    free(numbers->rank_gpu);
    free(numbers->nodes);
}

/* Nodes are numbered in the order of their first members. */
static vp_status_t number_member(numbers_t *numbers, const vp_job_t *job,
                                 const vp_job_member_t *member, vp_pci_t pci, uint32_t rank,
                                 vp_error_t *error)
{
    const kind_t *kind = find_kind(job, member->hash);
    uint32_t node = 0;

    if (member->hash == 0 || kind == NULL) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the node of rank %" PRIu32 " cannot be used: %s", rank,
                            member->hash == 0 ? member->refusal : "its facts were not found");
    }
    while (node < numbers->n_nodes && (numbers->nodes[node]->host != member->host ||
                                       numbers->nodes[node]->hash != member->hash)) {
        node++;
    }
    if (node == numbers->n_nodes) {
        numbers->node_kind[node] = (uint32_t)(kind - job->kinds);
        numbers->nodes[numbers->n_nodes++] = member;
    }
    numbers->rank_node[rank] = node;
    if (pci == VP_PCI_UNKNOWN || !gpu_at(kind->machine, pci, &numbers->rank_gpu[rank])) {
        numbers->rank_gpu[rank] = member->gpu % kind->machine->n_gpus;
    }
    return VP_OK;
}

static vp_status_t assemble(const numbers_t *numbers, const vp_job_t *job, uint32_t n_ranks,
                            const char *transport, vp_model_t **model_p, uint32_t *place,
                            vp_error_t *error)
{
    const vp_assembly_t assembly = {.kinds = numbers->kinds,
                                    .n_kinds = job->n_kinds,
                                    .node_kind = numbers->node_kind,
                                    .n_nodes = numbers->n_nodes,
                                    .rank_node = numbers->rank_node,
                                    .rank_gpu = numbers->rank_gpu,
                                    .n_ranks = n_ranks,
                                    .transport = transport};

    return vp_assemble(&assembly, what, model_p, place, error);
}

static vp_status_t make_catalog(vp_model_t *model, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_catalog_t *catalog = NULL;
    vp_status_t status = vp_catalog_generate(&model, &catalog, error);

    if (status == VP_OK) {
        status = vp_catalog_seal(catalog, error);
    }
    vp_model_destroy(model);
    if (status != VP_OK) {
        vp_catalog_destroy(catalog);
        return status;
    }
    *catalog_p = catalog;
    return VP_OK;
}

vp_status_t vp_job_catalog(const vp_job_t *job, const vp_job_member_t *members, const vp_pci_t *pci,
                           uint32_t n_members, const char *transport, vp_catalog_t **catalog_p,
                           uint32_t *place, vp_error_t *error)
{
    numbers_t numbers = {.n_nodes = 0};
    vp_model_t *model = NULL;
    vp_status_t status = VP_OK;
    uint32_t i;

    if (!make_numbers(&numbers, job, n_members)) {
        status = vp_error_no_memory(error, what);
    }
    for (i = 0; i < n_members && status == VP_OK; i++) {
        status = number_member(&numbers, job, &members[i], pci == NULL ? VP_PCI_UNKNOWN : pci[i], i,
                               error);
    }
    if (status == VP_OK) {
        status = assemble(&numbers, job, n_members, transport, &model, place, error);
    }
    if (status == VP_OK) {
        status = make_catalog(model, catalog_p, error);
    }
    clear_numbers(&numbers);
    return status;
}

vp_status_t vp_job_own_model(const vp_job_t *job, const vp_job_member_t *member, vp_pci_t pci,
                             const char *transport, vp_model_t **model_p, uint32_t *rank_p,
                             vp_error_t *error)
{
    const kind_t *kind = find_kind(job, member->hash);
    uint32_t place[2 * VP_HW_MAX_GPUS];
    numbers_t numbers = {.n_nodes = 0};
    vp_status_t status = VP_OK;
    uint32_t gpu = member->gpu;
    uint32_t n_gpus;
    uint32_t i;

    if (kind == NULL) {
        return vp_error_set(error, VP_ERR_BAD_INPUT, "this node cannot be used: %s",
                            member->refusal);
    }
    n_gpus = kind->machine->n_gpus;
    if (!make_numbers(&numbers, job, 2 * n_gpus)) {
        status = vp_error_no_memory(error, what);
    }
    for (i = 0; i < 2 * n_gpus && status == VP_OK; i++) {
        numbers.node_kind[i / n_gpus] = (uint32_t)(kind - job->kinds);
        numbers.rank_node[i] = i / n_gpus;
        numbers.rank_gpu[i] = i % n_gpus;
    }
    if (status == VP_OK) {
        numbers.n_nodes = kind->machine->n_nics > 0 ? 2 : 1;
        status =
            assemble(&numbers, job, numbers.n_nodes * n_gpus, transport, model_p, place, error);
    }
    clear_numbers(&numbers);
    if (status == VP_OK) {
        if (pci != VP_PCI_UNKNOWN) {
            (void)gpu_at(kind->machine, pci, &gpu);
        }
        *rank_p = place[gpu % n_gpus];
    }
    return status;
}
