/* SPDX-License-Identifier: BSD-3-Clause */
#include "failing.h"

#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_FRAMES = 12,    /* of a stack that are kept */
    N_OWN_FRAMES = 2, /* note() and the wrapper */
    LIVE_BITS = 18,
    N_LIVE = 1 << LIVE_BITS,
    N_SITES = 1 << 14,
    N_CHOICES = 1 << 20,
    N_FEW = 300 /* allocations of an operation that is cheap to repeat */
};

typedef struct stack {
    int n;
    void *frames[N_FRAMES];
} call_stack_t;

typedef struct live {
    void *block; /* NULL: free */
    size_t number;
} live_t;

typedef struct site {
    uint64_t hash; /* 0: free */
    size_t first;
} site_t;

static struct {
    bool is_on;
    bool is_listing;
    size_t n;
    size_t fail_at;
    size_t n_live;
    size_t n_sites;
    size_t n_choices;
    call_stack_t failed;
    live_t live[N_LIVE];
    site_t sites[N_SITES];
    size_t choices[N_CHOICES];
} state;

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t n_bytes);
void *__real_aligned_alloc(size_t alignment, size_t n_bytes);
char *__real_realpath(const char *path, char *resolved);
void __real_free(void *block);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t n_bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t n_bytes);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *resolved);
void __wrap_free(void *block);

static size_t home(const void *block)
{
    return (size_t)(((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LIVE_BITS));
}

static void add_live(void *block)
{
    size_t i = home(block);

    if (!state.is_on || block == NULL) {
        return;
    }
    if (++state.n_live > N_LIVE / 2) {
        abort();
    }
    while (state.live[i].block != NULL) {
        i = (i + 1) % N_LIVE;
    }
    state.live[i] = (live_t){block, state.n};
}

/* Blocks behind the hole move up as long as their home is not behind it. */
static void close_hole(size_t hole)
{
    size_t i = hole;

    for (;;) {
        i = (i + 1) % N_LIVE;
        if (state.live[i].block == NULL) {
            break;
        }
        if ((i - home(state.live[i].block)) % N_LIVE >= (i - hole) % N_LIVE) {
            state.live[hole] = state.live[i];
            hole = i;
        }
    }
    state.live[hole].block = NULL;
}

/* Was the block taken since the start? */
static bool remove_live(const void *block)
{
    size_t i = home(block);

    if (state.n_live == 0 || block == NULL) {
        return false;
    }
    while (state.live[i].block != NULL && state.live[i].block != block) {
        i = (i + 1) % N_LIVE;
    }
    if (state.live[i].block == NULL) {
        return false;
    }
    state.n_live--;
    close_hole(i);
    return true;
}

static void list_site(void)
{
    void *frames[N_FRAMES];
    int n = backtrace(frames, N_FRAMES);
    uint64_t hash = 1;
    size_t i;
    int k;

    for (k = N_OWN_FRAMES; k < n; k++) {
        hash = (hash ^ (uintptr_t)frames[k]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    hash |= 1;
    for (i = hash % N_SITES; state.sites[i].hash != 0; i = (i + 1) % N_SITES) {
        if (state.sites[i].hash == hash) {
            return;
        }
    }
    if (++state.n_sites > N_SITES / 2) {
        abort();
    }
    state.sites[i] = (site_t){hash, state.n};
}

/* False: this allocation is to fail. */
static __attribute__((noinline)) bool note(void)
{
    if (!state.is_on) {
        return true;
    }
    state.n++;
    if (state.is_listing) {
        state.is_on = false;
        list_site();
        state.is_on = true;
    }
    if (state.n == state.fail_at) {
        state.failed.n = backtrace(state.failed.frames, N_FRAMES);
        errno = ENOMEM;
        return false;
    }
    return true;
}

static void *keep(void *block)
{
    add_live(block);
    return block;
}

void *__wrap_malloc(size_t n_bytes)
{
    return note() ? keep(__real_malloc(n_bytes)) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return note() ? keep(__real_calloc(n, size)) : NULL;
}

void *__wrap_realloc(void *block, size_t n_bytes)
{
    bool was_live;
    void *moved;

    if (!note()) {
        return NULL;
    }
    was_live = remove_live(block);
    moved = __real_realloc(block, n_bytes);
    if (moved == NULL && was_live) {
        add_live(block);
    } else if (was_live || block == NULL) {
        add_live(moved);
    }
    return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t n_bytes)
{
    return note() ? keep(__real_aligned_alloc(alignment, n_bytes)) : NULL;
}

char *__wrap_strdup(const char *text)
{
    size_t n_bytes = strlen(text) + 1;
    char *copy = note() ? keep(__real_malloc(n_bytes)) : NULL;

    if (copy != NULL) {
        memcpy(copy, text, n_bytes);
    }
    return copy;
}

char *__wrap_realpath(const char *path, char *resolved)
{
    if (resolved != NULL) {
        return __real_realpath(path, resolved);
    }
    return note() ? keep(__real_realpath(path, NULL)) : NULL;
}

void __wrap_free(void *block)
{
    (void)remove_live(block);
    __real_free(block);
}

static void start(size_t fail_at, bool is_listing)
{
    void *frame;

    (void)backtrace(&frame, 1); /* loads its library */
    if (state.n_live > 0) {
        memset(state.live, 0, sizeof(state.live));
    }
    if (state.n_sites > 0 && is_listing) {
        memset(state.sites, 0, sizeof(state.sites));
        state.n_sites = 0;
    }
    state.n = 0;
    state.n_live = 0;
    state.fail_at = fail_at;
    state.failed.n = 0;
    state.is_listing = is_listing;
    state.is_on = true;
}

void failing_start(size_t fail_at)
{
    start(fail_at, false);
}

void failing_start_listing(void)
{
    start(0, true);
}

size_t failing_stop(void)
{
    state.is_on = false;
    return state.n;
}

size_t failing_n_live(void)
{
    return state.n_live;
}

size_t failing_n_sites(void)
{
    return state.n_sites;
}

static int compare(const void *a, const void *b)
{
    size_t left = *(const size_t *)a;
    size_t right = *(const size_t *)b;

    return left < right ? -1 : left > right;
}

static void choose(size_t number)
{
    if (state.n_choices == N_CHOICES) {
        abort();
    }
    state.choices[state.n_choices++] = number;
}

const size_t *failing_choose(bool all, size_t *n_p)
{
    size_t i;

    state.n_choices = 0;
    all = all || state.n <= N_FEW;
    for (i = 1; all && i <= state.n; i++) {
        choose(i);
    }
    for (i = 0; !all && i < N_SITES; i++) {
        if (state.sites[i].hash != 0) {
            choose(state.sites[i].first);
        }
    }
    qsort(state.choices, state.n_choices, sizeof(state.choices[0]), compare);
    *n_p = state.n_choices;
    return state.choices;
}

static void print_stack(FILE *stream, const call_stack_t *stack)
{
    char **names = backtrace_symbols(stack->frames, stack->n);
    int i;

    for (i = N_OWN_FRAMES; i < stack->n; i++) {
        (void)fprintf(stream, "    %s\n", names == NULL ? "?" : names[i]);
    }
    __real_free(names);
}

void failing_report(FILE *stream)
{
    size_t i;

    if (state.failed.n > 0) {
        (void)fprintf(stream, "  allocation %zu failed in\n", state.fail_at);
        print_stack(stream, &state.failed);
    }
    for (i = 0; i < N_LIVE && state.n_live > 0; i++) {
        if (state.live[i].block != NULL) {
            (void)fprintf(stream, "  not given back: allocation %zu\n", state.live[i].number);
        }
    }
}
