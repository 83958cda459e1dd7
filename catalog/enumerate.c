/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/families.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "catalog/order.h"

/* Steps between two words to the watch: a few milliseconds. */
enum { WATCH_STEPS = 1 << 16 };

typedef struct group_state {
    uint32_t n_ranks;
    uint32_t out; /* lanes selected from the group and to it, fillers not counted */
    uint32_t in;
    uint64_t left_out; /* lanes that the candidates still to come could add at most */
    uint64_t left_in;
} group_state_t;

/*
 * The state (t, B) of Algorithm 1. Candidates are the instances to decide on,
 * in the model's order. Local instances without footprint are not among them:
 * they fill what is left of a group at the end, so their number is no choice.
 */
typedef struct search {
    const vp_model_t *model;
    vp_families_t *families;
    const vp_build_watch_t *watch; /* NULL: nobody watches */
    uint64_t max_steps;
    uint32_t max_families;
    uint32_t *footprint;  /* [n_instances] first instance of the pair with the same footprint */
    uint32_t *candidates; /* [n_candidates] instance of each */
    uint32_t *next;       /* [n_candidates] one more than the number of copies to try next */
    uint32_t *count;      /* [n_candidates] copies selected */
    uint32_t *blocked;    /* [n_candidates] resources of it that are taken */
    uint32_t *chosen;     /* [n_chosen] candidates with count > 0, ascending */
    uint32_t *fillers;    /* [n_fillers] local instances by group, fastest first */
    size_t *user_begin;   /* [n_resources + 1] into users */
    uint32_t *users;      /* candidates of each resource, ascending */
    group_state_t *groups;
    uint32_t n_candidates;
    uint32_t n_chosen;
    uint32_t n_fillers;
    uint32_t n_unfillable; /* groups that no suffix can balance any more */
} search_t;

static const vp_instance_t *candidate(const search_t *search, uint32_t t)
{
    return &search->model->instances[search->candidates[t]];
}

static bool is_filler(const vp_instance_t *instance)
{
    return instance->from_group == instance->to_group && instance->n_resources == 0;
}

static uint32_t minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/*
 * SuffixOK for one group. Fillers give a group as many lanes out as in, so it
 * can be completed if the rest can still make both sides equal; neither
 * exceeds n_ranks because CanAdd keeps them below.
 */
static bool is_fillable(const group_state_t *group)
{
    return group->out <= group->in + group->left_in && group->in <= group->out + group->left_out;
}

static uint32_t count_unfillable(const group_state_t *from, const group_state_t *to)
{
    uint32_t n = is_fillable(from) ? 0 : 1;

    if (to != from && !is_fillable(to)) {
        n++;
    }
    return n;
}

/* Takes an undecided candidate out of the suffix of both its groups, or puts it back. */
static void suffix_change(search_t *search, uint32_t t, bool is_removed)
{
    const vp_instance_t *it = candidate(search, t);
    group_state_t *from = &search->groups[it->from_group];
    group_state_t *to = &search->groups[it->to_group];
    uint64_t change = is_removed ? UINT64_C(0) - it->n_copies : it->n_copies;
    uint32_t n_before = count_unfillable(from, to);

    from->left_out += change;
    to->left_in += change;
    search->n_unfillable += count_unfillable(from, to) - n_before;
}

/* Adds `change` lanes (modulo 2^32) to both groups of a candidate. */
static void lanes_change(search_t *search, uint32_t t, uint32_t change)
{
    const vp_instance_t *it = candidate(search, t);
    group_state_t *from = &search->groups[it->from_group];
    group_state_t *to = &search->groups[it->to_group];
    uint32_t n_before = count_unfillable(from, to);

    from->out += change;
    to->in += change;
    search->n_unfillable += count_unfillable(from, to) - n_before;
}

/* Blocks or frees the later candidates that share a resource with t. */
static void block_sharers(search_t *search, uint32_t t, bool is_blocked)
{
    const vp_instance_t *it = candidate(search, t);
    uint32_t i;

    for (i = 0; i < it->n_resources; i++) {
        size_t begin = search->user_begin[it->resources[i]];
        size_t end = search->user_begin[it->resources[i] + 1];

        for (; end > begin && search->users[end - 1] > t; end--) {
            uint32_t sharer = search->users[end - 1];

            if (search->blocked[sharer] == (is_blocked ? 0U : 1U)) {
                suffix_change(search, sharer, is_blocked);
            }
            search->blocked[sharer] += is_blocked ? 1U : UINT32_MAX;
        }
    }
}

static void include(search_t *search, uint32_t t, uint32_t count)
{
    search->count[t] = count;
    if (count > 0) {
        search->chosen[search->n_chosen++] = t;
        lanes_change(search, t, count);
        block_sharers(search, t, true);
    }
}

static void undo(search_t *search, uint32_t t)
{
    if (search->count[t] > 0) {
        block_sharers(search, t, false);
        lanes_change(search, t, UINT32_C(0) - search->count[t]);
        search->n_chosen--;
    }
}

/* Opens the decision on t; CanAdd bounds the copies to try. */
static void enter(search_t *search, uint32_t t)
{
    const vp_instance_t *it = candidate(search, t);
    const group_state_t *from = &search->groups[it->from_group];
    const group_state_t *to = &search->groups[it->to_group];
    uint32_t room = minimum(from->n_ranks - from->out, to->n_ranks - to->in);

    search->next[t] = 1;
    if (search->blocked[t] == 0) {
        suffix_change(search, t, true);
        search->next[t] += minimum(it->n_copies, room);
    }
}

static void leave(search_t *search, uint32_t t)
{
    if (search->blocked[t] == 0) {
        suffix_change(search, t, false);
    }
}

static bool append_selected(search_t *search, uint32_t instance, uint32_t count)
{
    const vp_instance_t *it = &search->model->instances[instance];
    vp_families_t *families = search->families;

    if (!vp_array_reserve(&families->selected, &families->selected_capacity,
                          families->n_selected + 1, sizeof(*families->selected))) {
        return false;
    }
    families->selected[families->n_selected++] =
        (vp_selected_t){.pair = (uint32_t)vp_pair(search->model, it->from_group, it->to_group),
                        .footprint = search->footprint[instance],
                        .instance = instance,
                        .count = count,
                        .bytes_per_s = it->bytes_per_s};
    return true;
}

/* Gives the positions that are left to local copies, the fastest first. */
static bool append_fillers(search_t *search)
{
    uint32_t used_group = UINT32_MAX;
    uint32_t left = 0;
    uint32_t i;

    for (i = 0; i < search->n_fillers; i++) {
        const vp_instance_t *it = &search->model->instances[search->fillers[i]];
        uint32_t count;

        if (it->from_group != used_group) {
            used_group = it->from_group;
            left = search->groups[used_group].n_ranks - search->groups[used_group].out;
        }
        count = minimum(left, it->n_copies);
        if (count > 0 && !append_selected(search, search->fillers[i], count)) {
            return false;
        }
        left -= count;
    }
    return true;
}

/* Complete: writes down the family B; one without any lane is none. */
static vp_status_t record(search_t *search, vp_error_t *error)
{
    vp_families_t *families = search->families;
    size_t begin = families->n_selected;
    bool has_room = vp_array_reserve(&families->families, &families->families_capacity,
                                     families->n_families + 1, sizeof(*families->families));
    uint32_t i;

    for (i = 0; has_room && i < search->n_chosen; i++) {
        uint32_t t = search->chosen[i];

        has_room = append_selected(search, search->candidates[t], search->count[t]);
    }
    if (!has_room || !append_fillers(search)) {
        return vp_error_no_memory(error, "the families of a catalog");
    }
    if (families->n_selected > begin) {
        families->families[families->n_families++] =
            (vp_family_t){.begin = begin, .n_selected = (uint32_t)(families->n_selected - begin)};
    }
    return VP_OK;
}

static vp_status_t budget_error(const search_t *search, const char *what, vp_error_t *error)
{
    const vp_model_t *model = search->model;

    return vp_error_set(error, VP_ERR_LIMIT,
                        "%s with %" PRIu32 " rank groups and %" PRIu32
                        " path instances has too many channel families for an exhaustive catalog: "
                        "the budget of %s was used up after %" PRIu64 " steps and %zu families; "
                        "use fewer nodes, raise the budget (--max-steps, --max-families) or make a "
                        "generated catalog (--mode generated)",
                        model->name == NULL ? "the topology" : model->name, model->n_groups,
                        model->n_instances, what, search->families->n_steps,
                        search->families->n_families);
}

static vp_status_t spend_step(search_t *search, vp_error_t *error)
{
    if (search->families->n_steps == search->max_steps) {
        return budget_error(search, "steps", error);
    }
    search->families->n_steps++;
    if (search->families->n_steps % WATCH_STEPS == 0 && search->watch != NULL) {
        search->watch->tell(search->watch->context, search->families->n_steps,
                            search->families->n_families);
    }
    return VP_OK;
}

static vp_status_t complete(search_t *search, vp_error_t *error)
{
    if (search->families->n_families == search->max_families) {
        return budget_error(search, "families", error);
    }
    return record(search, error);
}

/*
 * The depth-first search of Algorithm 1, with the recursion unrolled because
 * its depth is the number of candidates.
 */
static vp_status_t run(search_t *search, vp_error_t *error)
{
    uint32_t t = 0;
    vp_status_t status;

    if (search->n_candidates == 0) {
        return complete(search, error);
    }
    enter(search, t);
    for (;;) {
        if (search->next[t] == 0) {
            leave(search, t);
            if (t == 0) {
                return VP_OK;
            }
            undo(search, --t);
            continue;
        }
        status = spend_step(search, error);
        if (status != VP_OK) {
            return status;
        }
        include(search, t, --search->next[t]);
        if (search->n_unfillable == 0 && t + 1 < search->n_candidates) {
            enter(search, ++t);
            continue;
        }
        if (search->n_unfillable == 0) {
            status = complete(search, error);
            if (status != VP_OK) {
                return status;
            }
        }
        undo(search, t);
    }
}

/*
 * Sorts instances into fillers and candidates. An instance with the footprint
 * and rate of an earlier one is neither: it would give exact duplicates only.
 */
static void sort_instance(search_t *search, uint32_t instance)
{
    const vp_model_t *model = search->model;
    const vp_instance_t *it = &model->instances[instance];
    size_t pair = vp_pair(model, it->from_group, it->to_group);
    uint32_t lanes =
        minimum(model->groups[it->from_group].n_ranks, model->groups[it->to_group].n_ranks);
    bool is_redundant = false;
    uint32_t i;

    search->footprint[instance] = instance;
    for (i = model->pair_begin[pair]; i < instance; i++) {
        const vp_instance_t *earlier = &model->instances[i];

        if (vp_footprint_compare(earlier, it) != 0) {
            continue;
        }
        search->footprint[instance] = minimum(search->footprint[instance], i);
        is_redundant = is_redundant || (earlier->bytes_per_s == it->bytes_per_s &&
                                        (it->n_resources > 0 || earlier->n_copies >= lanes));
    }
    if (is_filler(it)) {
        search->fillers[search->n_fillers++] = instance;
    } else if (!is_redundant) {
        search->candidates[search->n_candidates++] = instance;
    }
}

/* Insertion sort: a group has one filler, or a few. */
static void sort_fillers(search_t *search)
{
    const vp_instance_t *instances = search->model->instances;
    uint32_t i;
    uint32_t k;

    for (i = 1; i < search->n_fillers; i++) {
        uint32_t filler = search->fillers[i];

        for (k = i; k > 0; k--) {
            uint32_t other = search->fillers[k - 1];

            if (instances[other].from_group != instances[filler].from_group ||
                instances[other].bytes_per_s >= instances[filler].bytes_per_s) {
                break;
            }
            search->fillers[k] = other;
        }
        search->fillers[k] = filler;
    }
}

/* Lists the candidates of every resource: counted first, then placed. */
static bool index_users(search_t *search)
{
    uint32_t n_resources = search->model->n_resources;
    size_t n_users = 0;
    uint32_t t;
    uint32_t i;

    search->user_begin = vp_array_new((size_t)n_resources + 2, sizeof(*search->user_begin));
    if (search->user_begin == NULL) {
        return false;
    }
    for (t = 0; t < search->n_candidates; t++) {
        for (i = 0; i < candidate(search, t)->n_resources; i++) {
            search->user_begin[candidate(search, t)->resources[i] + 2]++;
            n_users++;
        }
    }
    for (i = 0; i < n_resources; i++) {
        search->user_begin[i + 2] += search->user_begin[i + 1];
    }
    search->users = vp_array_new(n_users, sizeof(*search->users));
    for (t = 0; search->users != NULL && t < search->n_candidates; t++) {
        for (i = 0; i < candidate(search, t)->n_resources; i++) {
            search->users[search->user_begin[candidate(search, t)->resources[i] + 1]++] = t;
        }
    }
    return search->users != NULL;
}

static void init_groups(search_t *search)
{
    uint32_t group;
    uint32_t t;

    for (group = 0; group < search->model->n_groups; group++) {
        search->groups[group].n_ranks = search->model->groups[group].n_ranks;
    }
    for (t = 0; t < search->n_candidates; t++) {
        search->groups[candidate(search, t)->from_group].left_out += candidate(search, t)->n_copies;
        search->groups[candidate(search, t)->to_group].left_in += candidate(search, t)->n_copies;
    }
}

static vp_status_t init(search_t *search, vp_error_t *error)
{
    const vp_model_t *model = search->model;
    uint32_t i;

    search->footprint = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->candidates = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->next = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->count = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->blocked = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->chosen = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->fillers = vp_array_new(model->n_instances, sizeof(uint32_t));
    search->groups = vp_array_new(model->n_groups, sizeof(*search->groups));
    if (search->footprint == NULL || search->candidates == NULL || search->next == NULL ||
        search->count == NULL || search->blocked == NULL || search->chosen == NULL ||
        search->fillers == NULL || search->groups == NULL) {
        return vp_error_no_memory(error, "the search for channel families");
    }
    for (i = 0; i < model->n_instances; i++) {
        sort_instance(search, i);
    }
    sort_fillers(search);
    if (!index_users(search)) {
        return vp_error_no_memory(error, "the search for channel families");
    }
    init_groups(search);
    return VP_OK;
}

static void clear(search_t *search)
{
    free(search->footprint);
    free(search->candidates);
    free(search->next);
    free(search->count);
    free(search->blocked);
    free(search->chosen);
    free(search->fillers);
    free(search->user_begin);
    free(search->users);
    free(search->groups);
}

vp_status_t vp_families_enumerate(const vp_model_t *model, const vp_build_options_t *options,
                                  const vp_build_watch_t *watch, vp_families_t *families,
                                  vp_error_t *error)
{
    search_t search = {.model = model, .families = families, .watch = watch};
    vp_status_t status;

    search.max_steps =
        options == NULL || options->max_steps == 0 ? VP_BUILD_MAX_STEPS : options->max_steps;
    search.max_families = options == NULL || options->max_families == 0 ? VP_BUILD_MAX_FAMILIES
                                                                        : options->max_families;
    status = init(&search, error);
    if (status == VP_OK) {
        status = run(&search, error);
    }
    clear(&search);
    return status;
}
