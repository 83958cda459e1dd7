/*
 * The plan checker. It shares nothing with the builder or any planner but the
 * model of time, so that an error in one of them cannot hide itself here.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/units.h"

typedef struct check {
    const vp_plan_t *plan;
    const vp_model_t *model;
    const uint64_t *demand_bytes;
    uint64_t alpha_ns;
    vp_error_t *error;
    /* The lane number (+ 1) that last used each thing, valid inside one activation. */
    size_t *out_user;      /* [n_ranks] */
    size_t *in_user;       /* [n_ranks] */
    uint32_t *n_out;       /* [n_ranks] lanes out of the rank since out_user changed activation */
    uint32_t *n_in;        /* [n_ranks] */
    size_t *resource_user; /* [n_resources] */
    uint32_t *copies;      /* [n_instances] lanes of the activation over the instance */
    size_t *by_pair;       /* [n_lanes] lane numbers by (source, destination, offset) */
} check_t;

static vp_status_t bad_lane(const check_t *check, size_t lane_number, const char *fault)
{
    const vp_lane_t *lane = &check->plan->lanes[lane_number];

    return vp_error_set(check->error, VP_ERR_INTERNAL,
                        "invalid plan: activation %" PRIu32 ", lane %zu (rank %" PRIu32
                        " to rank %" PRIu32 ", instance %" PRIu32 "): %s; the plan must not "
                        "run, please report this",
                        lane->activation, lane_number, lane->source, lane->destination,
                        lane->instance, fault);
}

static vp_status_t bad_plan(const check_t *check, const char *what, uint64_t stated,
                            uint64_t correct)
{
    return vp_error_set(check->error, VP_ERR_INTERNAL,
                        "invalid plan: %s is stated as %" PRIu64 " where %" PRIu64
                        " is right; the plan must not run, please report this",
                        what, stated, correct);
}

/* What each order asks of the form. */
static vp_status_t check_form(const check_t *check)
{
    const vp_plan_form_t *form = &check->plan->form;
    const char *fault = NULL;

    if (form->window == 0 ||
        (form->contention != VP_LINKS_IDEAL && form->contention >= check->model->n_contention)) {
        fault = "its window is empty or its contention profile outside the machine";
    } else if (form->order == VP_PLAN_ACTIVATIONS) {
        fault = form->shares_ports || form->window == 1 ? NULL : "only shared ports have a window";
    } else if (form->order == VP_PLAN_LIST) {
        fault = form->shares_ports || form->window != 1 ||
                        check->plan->n_activations != check->plan->n_lanes
                    ? "a list has one lane in each activation and no window"
                    : NULL;
    } else if (form->order == VP_PLAN_CONCURRENT) {
        fault = form->shares_ports && check->plan->n_activations <= 1
                    ? NULL
                    : "concurrent lanes share ports and are one activation";
    } else {
        fault = "its order is unknown";
    }
    return fault == NULL ? VP_OK
                         : vp_error_set(check->error, VP_ERR_INTERNAL,
                                        "invalid plan: %s (order %d, window %" PRIu32
                                        ", contention profile %" PRIu32 "); the plan must not "
                                        "run, please report this",
                                        fault, (int)form->order, form->window, form->contention);
}

static vp_status_t check_frame(const check_t *check)
{
    const vp_plan_t *plan = check->plan;
    uint32_t k;

    if (plan->n_ranks != check->model->n_ranks) {
        return bad_plan(check, "the number of ranks", plan->n_ranks, check->model->n_ranks);
    }
    if (plan->activation_begin[0] != 0) {
        return bad_plan(check, "the first lane of activation 0", plan->activation_begin[0], 0);
    }
    for (k = 0; k < plan->n_activations; k++) {
        if (plan->activation_begin[k + 1] <= plan->activation_begin[k] ||
            plan->activation_begin[k + 1] > plan->n_lanes) {
            return vp_error_set(check->error, VP_ERR_INTERNAL,
                                "invalid plan: activation %" PRIu32 " holds lanes %zu to %zu of "
                                "%zu; the plan must not run, please report this",
                                k, plan->activation_begin[k], plan->activation_begin[k + 1],
                                plan->n_lanes);
        }
    }
    if (plan->activation_begin[plan->n_activations] != plan->n_lanes) {
        return bad_plan(check, "the number of lanes in activations",
                        plan->activation_begin[plan->n_activations], plan->n_lanes);
    }
    return VP_OK;
}

/* What a lane is in itself. */
static vp_status_t check_lane(const check_t *check, size_t lane_number, uint32_t activation)
{
    const vp_lane_t *lane = &check->plan->lanes[lane_number];
    const vp_model_t *model = check->model;
    const vp_instance_t *instance;

    if (lane->activation != activation) {
        return bad_lane(check, lane_number, "it stands among the lanes of another activation");
    }
    if (lane->source >= model->n_ranks || lane->destination >= model->n_ranks) {
        return bad_lane(check, lane_number, "a rank is outside the machine");
    }
    if (lane->source == lane->destination) {
        return bad_lane(check, lane_number, "it leads from a rank to itself");
    }
    if (lane->instance >= model->n_instances) {
        return bad_lane(check, lane_number, "its path instance is outside the machine");
    }
    instance = &model->instances[lane->instance];
    if (instance->from_group != model->rank_group[lane->source] ||
        instance->to_group != model->rank_group[lane->destination]) {
        return bad_lane(check, lane_number,
                        "its path instance does not connect the groups of its ranks");
    }
    if (lane->n_bytes == 0) {
        return bad_lane(check, lane_number, "it carries no bytes");
    }
    if (lane->n_bytes > UINT64_MAX - lane->offset_bytes) {
        return bad_lane(check, lane_number, "its bytes reach beyond 2^64");
    }
    return VP_OK;
}

/* Counts a lane at one of its ends in the activation that begins at `first`. */
static uint32_t count_end(size_t *user, uint32_t *n, size_t lane_number, size_t first)
{
    *n = *user > first ? *n + 1 : 1;
    *user = lane_number + 1;
    return *n;
}

/* What a lane takes from the other lanes of its activation, which begins at `first`. */
static vp_status_t check_ends(check_t *check, size_t lane_number, size_t first)
{
    const vp_lane_t *lane = &check->plan->lanes[lane_number];
    const vp_plan_form_t *form = &check->plan->form;
    uint32_t n_out =
        count_end(&check->out_user[lane->source], &check->n_out[lane->source], lane_number, first);
    uint32_t n_in = count_end(&check->in_user[lane->destination], &check->n_in[lane->destination],
                              lane_number, first);

    if (lane_number > first && check->plan->lanes[lane_number - 1].source > lane->source) {
        return bad_lane(check, lane_number, "it stands behind a lane of a higher source");
    }
    if (form->order == VP_PLAN_CONCURRENT) {
        return VP_OK;
    }
    if (n_out > form->window) {
        return bad_lane(check, lane_number, "its source sends on another lane already");
    }
    if (n_in > form->window) {
        return bad_lane(check, lane_number, "its destination receives on another lane already");
    }
    return VP_OK;
}

static vp_status_t check_resources(check_t *check, size_t lane_number, size_t first)
{
    const vp_lane_t *lane = &check->plan->lanes[lane_number];
    const vp_instance_t *instance = &check->model->instances[lane->instance];
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        if (check->resource_user[instance->resources[i]] > first) {
            return bad_lane(check, lane_number, "another lane uses one of its resources already");
        }
        check->resource_user[instance->resources[i]] = lane_number + 1;
    }
    if (++check->copies[lane->instance] > (uint64_t)instance->n_copies * check->plan->form.window) {
        return bad_lane(check, lane_number, "its path instance has fewer copies than lanes");
    }
    return VP_OK;
}

static vp_status_t check_activation(check_t *check, uint32_t activation, uint64_t *time_ns_p)
{
    const vp_plan_t *plan = check->plan;
    size_t first = plan->activation_begin[activation];
    size_t end = plan->activation_begin[activation + 1];
    uint64_t slowest_ns = 0;
    size_t i;

    for (i = first; i < end; i++) {
        vp_status_t status = check_lane(check, i, activation);
        uint64_t ns;

        if (status == VP_OK) {
            status = check_ends(check, i, first);
        }
        if (status == VP_OK && plan->form.order != VP_PLAN_CONCURRENT) {
            status = check_resources(check, i, first);
        }
        if (status != VP_OK) {
            return status;
        }
        ns = vp_transfer_ns(plan->lanes[i].n_bytes,
                            check->model->instances[plan->lanes[i].instance].bytes_per_s);
        slowest_ns = ns > slowest_ns ? ns : slowest_ns;
    }
    for (i = first; i < end; i++) {
        check->copies[plan->lanes[i].instance] = 0;
    }
    *time_ns_p = vp_add_sat(slowest_ns, check->alpha_ns);
    return VP_OK;
}

/* Times of the forms that lanes share links or wait for each other in. */
static vp_status_t check_modelled_time(const check_t *check)
{
    const vp_plan_t *plan = check->plan;
    vp_plan_t again = *plan;
    vp_status_t status;
    uint32_t k;

    again.activation_ns = vp_array_new(plan->n_activations, sizeof(*again.activation_ns));
    if (again.activation_ns == NULL) {
        return vp_error_no_memory(check->error, "the check of a plan");
    }
    status = vp_plan_time(&again, check->model, check->alpha_ns, check->error);
    for (k = 0; k < plan->n_activations && status == VP_OK; k++) {
        if (plan->activation_ns[k] != again.activation_ns[k]) {
            status = bad_plan(check, "the time of an activation", plan->activation_ns[k],
                              again.activation_ns[k]);
        }
    }
    if (status == VP_OK && plan->time_ns != again.time_ns) {
        status = bad_plan(check, "the time of the plan", plan->time_ns, again.time_ns);
    }
    free(again.activation_ns);
    return status;
}

static vp_status_t check_activations(check_t *check)
{
    const vp_plan_t *plan = check->plan;
    bool exclusive = plan->form.order == VP_PLAN_ACTIVATIONS && !plan->form.shares_ports;
    uint64_t time_ns = 0;
    uint32_t k;

    for (k = 0; k < plan->n_activations; k++) {
        uint64_t activation_ns = 0;
        vp_status_t status = check_activation(check, k, &activation_ns);

        if (status != VP_OK) {
            return status;
        }
        if (exclusive && plan->activation_ns[k] != activation_ns) {
            return bad_plan(check, "the time of an activation", plan->activation_ns[k],
                            activation_ns);
        }
        time_ns = vp_add_sat(time_ns, activation_ns);
    }
    if (!exclusive) {
        return check_modelled_time(check);
    }
    return plan->time_ns == time_ns
               ? VP_OK
               : bad_plan(check, "the time of the plan", plan->time_ns, time_ns);
}

static bool before_in_pair(const vp_lane_t *a, const vp_lane_t *b)
{
    if (a->source != b->source) {
        return a->source < b->source;
    }
    if (a->destination != b->destination) {
        return a->destination < b->destination;
    }
    return a->offset_bytes < b->offset_bytes;
}

/* Sinks entry `root` of the heap over the first n lane numbers. */
static void sift_down(const vp_lane_t *lanes, size_t *numbers, size_t root, size_t n)
{
    while (2 * root + 1 < n) {
        size_t child = 2 * root + 1;
        size_t number;

        if (child + 1 < n && before_in_pair(&lanes[numbers[child]], &lanes[numbers[child + 1]])) {
            child++;
        }
        if (!before_in_pair(&lanes[numbers[root]], &lanes[numbers[child]])) {
            return;
        }
        number = numbers[root];
        numbers[root] = numbers[child];
        numbers[child] = number;
        root = child;
    }
}

static void sort_by_pair(const vp_lane_t *lanes, size_t *numbers, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        numbers[i] = i;
    }
    for (i = n / 2; i > 0; i--) {
        sift_down(lanes, numbers, i - 1, n);
    }
    for (i = n; i > 1; i--) {
        size_t number = numbers[0];

        numbers[0] = numbers[i - 1];
        numbers[i - 1] = number;
        sift_down(lanes, numbers, 0, i - 1);
    }
}

/* Consumes the lanes of one pair from *next_p on; they must cover its block without overlap. */
static vp_status_t check_pair(const check_t *check, uint32_t source, uint32_t destination,
                              size_t *next_p)
{
    const vp_plan_t *plan = check->plan;
    uint64_t demand = source == destination
                          ? 0
                          : check->demand_bytes[(size_t)source * plan->n_ranks + destination];
    uint64_t covered = 0;

    while (*next_p < plan->n_lanes) {
        size_t lane_number = check->by_pair[*next_p];
        const vp_lane_t *lane = &plan->lanes[lane_number];

        if (lane->source != source || lane->destination != destination) {
            break;
        }
        if (lane->offset_bytes != covered) {
            return bad_lane(check, lane_number,
                            lane->offset_bytes < covered
                                ? "its bytes overlap those of another lane of the pair"
                                : "bytes of the pair before its offset are on no lane");
        }
        covered += lane->n_bytes;
        if (covered > demand) {
            return bad_lane(check, lane_number, "its bytes reach beyond the pair's demand");
        }
        (*next_p)++;
    }
    if (covered != demand) {
        return vp_error_set(check->error, VP_ERR_INTERNAL,
                            "invalid plan: %" PRIu64 " of the %" PRIu64 " bytes from rank %" PRIu32
                            " to rank %" PRIu32 " are on lanes; the plan must not run, please "
                            "report this",
                            covered, demand, source, destination);
    }
    return VP_OK;
}

static vp_status_t check_bytes(check_t *check)
{
    const vp_plan_t *plan = check->plan;
    size_t next = 0;
    uint64_t total_bytes = 0;
    uint32_t source;
    uint32_t destination;
    size_t i;

    sort_by_pair(plan->lanes, check->by_pair, plan->n_lanes);
    for (source = 0; source < plan->n_ranks; source++) {
        for (destination = 0; destination < plan->n_ranks; destination++) {
            vp_status_t status = check_pair(check, source, destination, &next);

            if (status != VP_OK) {
                return status;
            }
        }
    }
    for (i = 0; i < plan->n_lanes; i++) {
        total_bytes = vp_add_sat(total_bytes, plan->lanes[i].n_bytes);
    }
    if (plan->total_bytes != total_bytes) {
        return bad_plan(check, "the total of bytes", plan->total_bytes, total_bytes);
    }
    return VP_OK;
}

static uint8_t *put_little_endian(uint8_t *at, uint64_t value, uint32_t n_bytes)
{
    uint32_t i;

    for (i = 0; i < n_bytes; i++) {
        *at++ = (uint8_t)(value >> (8 * i));
    }
    return at;
}

static vp_status_t check_hash(const check_t *check)
{
    enum { HEAD_BYTES = 28, LANE_BYTES = 32 };
    const vp_plan_t *plan = check->plan;
    uint8_t *text;
    uint8_t *at;
    uint64_t hash;
    size_t i;

    if (plan->n_lanes > (SIZE_MAX - HEAD_BYTES) / LANE_BYTES) {
        return vp_error_no_memory(check->error, "the hash of a plan");
    }
    text = vp_array_new(HEAD_BYTES + plan->n_lanes * LANE_BYTES, 1);
    if (text == NULL) {
        return vp_error_no_memory(check->error, "the hash of a plan");
    }
    at = put_little_endian(text, plan->n_ranks, 4);
    at = put_little_endian(at, plan->n_lanes, 8);
    at = put_little_endian(at, (uint64_t)plan->form.order, 4);
    at = put_little_endian(at, plan->form.window, 4);
    at = put_little_endian(at, plan->form.shares_ports, 4);
    at = put_little_endian(at, plan->form.contention, 4);
    for (i = 0; i < plan->n_lanes; i++) {
        at = put_little_endian(at, plan->lanes[i].activation, 4);
        at = put_little_endian(at, plan->lanes[i].source, 4);
        at = put_little_endian(at, plan->lanes[i].destination, 4);
        at = put_little_endian(at, plan->lanes[i].instance, 4);
        at = put_little_endian(at, plan->lanes[i].offset_bytes, 8);
        at = put_little_endian(at, plan->lanes[i].n_bytes, 8);
    }
    hash = vp_hash64(text, (size_t)(at - text));
    free(text);
    return plan->hash == hash ? VP_OK : bad_plan(check, "the hash", plan->hash, hash);
}

static bool make_room(check_t *check)
{
    const vp_model_t *model = check->model;

    check->out_user = vp_array_new(model->n_ranks, sizeof(*check->out_user));
    check->in_user = vp_array_new(model->n_ranks, sizeof(*check->in_user));
    check->n_out = vp_array_new(model->n_ranks, sizeof(*check->n_out));
    check->n_in = vp_array_new(model->n_ranks, sizeof(*check->n_in));
    check->resource_user = vp_array_new(model->n_resources, sizeof(*check->resource_user));
    check->copies = vp_array_new(model->n_instances, sizeof(*check->copies));
    check->by_pair = vp_array_new(check->plan->n_lanes, sizeof(*check->by_pair));
    return check->out_user != NULL && check->in_user != NULL && check->n_out != NULL &&
           check->n_in != NULL && check->resource_user != NULL && check->copies != NULL &&
           check->by_pair != NULL;
}

vp_status_t vp_plan_check(const vp_plan_t *plan, const vp_model_t *model,
                          const uint64_t *demand_bytes, uint64_t alpha_ns, vp_error_t *error)
{
    check_t check = {.plan = plan,
                     .model = model,
                     .demand_bytes = demand_bytes,
                     .alpha_ns = alpha_ns,
                     .error = error};
    vp_status_t status;

    if (!make_room(&check)) {
        status = vp_error_no_memory(error, "the check of a plan");
        goto out;
    }
    status = check_form(&check);
    if (status == VP_OK) {
        status = check_frame(&check);
    }
    if (status == VP_OK) {
        status = check_activations(&check);
    }
    if (status == VP_OK) {
        status = check_bytes(&check);
    }
    if (status == VP_OK) {
        status = check_hash(&check);
    }
out:
    free(check.by_pair);
    free(check.copies);
    free(check.resource_user);
    free(check.n_in);
    free(check.n_out);
    free(check.in_user);
    free(check.out_user);
    return status;
}
