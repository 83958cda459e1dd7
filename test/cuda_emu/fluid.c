/*
 * Bandwidth of shared links, as a fluid model in shared memory.
 *
 * Every copy that crosses a limited link is a flow.  At any instant the flows
 * have max-min fair rates over the directed links of their paths.  Whoever
 * polls advances the model to the present, so a flow proceeds whether or not
 * its own process gets the CPU.  Times are CLOCK_MONOTONIC nanoseconds.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/emu.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define EPS 0.5 /* bytes */

static void lock(emu_fluid_t *f)
{
    uint32_t s = atomic_load(&f->init);
    if (s != 2) {
        uint32_t zero = 0;
        if (atomic_compare_exchange_strong(&f->init, &zero, 1)) {
            pthread_mutexattr_t a;
            pthread_mutexattr_init(&a);
            pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
            pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
            pthread_mutex_init(&f->mtx, &a);
            atomic_store(&f->init, 2);
        } else {
            while (atomic_load(&f->init) != 2) {
                usleep(100);
            }
        }
    }
    if (pthread_mutex_lock(&f->mtx) == EOWNERDEAD) {
        pthread_mutex_consistent(&f->mtx);
    }
}

/* What a link has for its flows now. A flow's source is known by its first link. */
static double capacity(const emu_fluid_t *f, const emu_link_t *link, int index)
{
    uint8_t seen[EMU_MAXLINK] = {0};
    int sources = 0;

    if (!link->nshare) {
        return link->bw;
    }
    for (int i = 0; i < f->top; ++i) {
        const emu_flow_t *w = &f->flow[i];
        int on = 0;

        for (int k = 0; w->state == EMU_FLOW_ACTIVE && k < w->path.n; ++k) {
            on |= w->path.link[k] == index;
        }
        if (on && !seen[w->path.link[0]]) {
            seen[w->path.link[0]] = 1;
            ++sources;
        }
    }
    sources = sources > link->nshare ? link->nshare : sources;
    return sources ? link->bw * link->share[sources - 1] : link->bw;
}

static void rates(emu_fluid_t *f, const emu_topo_t *t)
{
    double left[EMU_MAXLINK];
    int users[EMU_MAXLINK] = {0}, open = 0;

    for (int i = 0; i < t->nlink; ++i) {
        left[i] = capacity(f, &t->link[i], i);
    }
    for (int i = 0; i < f->top; ++i) {
        emu_flow_t *w = &f->flow[i];
        if (w->state != EMU_FLOW_ACTIVE) {
            continue;
        }
        w->rate = -1;
        ++open;
        for (int k = 0; k < w->path.n; ++k) {
            ++users[w->path.link[k]];
        }
    }
    while (open) {
        int tight = -1;
        double share = INFINITY;
        for (int i = 0; i < t->nlink; ++i) {
            if (users[i] && t->link[i].bw > 0 && left[i] / users[i] < share) {
                share = left[i] / users[i];
                tight = i;
            }
        }
        for (int i = 0; i < f->top; ++i) {
            emu_flow_t *w = &f->flow[i];
            int on = tight < 0;
            if (w->state != EMU_FLOW_ACTIVE || w->rate >= 0) {
                continue;
            }
            for (int k = 0; k < w->path.n; ++k) {
                on |= w->path.link[k] == tight;
            }
            if (!on) {
                continue;
            }
            w->rate = tight < 0 ? 1e15 : share;
            --open;
            for (int k = 0; k < w->path.n; ++k) {
                --users[w->path.link[k]];
                left[w->path.link[k]] -= share;
            }
        }
    }
    f->dirty = 0;
}

static void finish(emu_fluid_t *f, emu_flow_t *w, int64_t at)
{
    w->state = EMU_FLOW_DONE;
    w->remaining = 0;
    w->finish = at;
    f->active--;
    f->dirty = 1;
}

static void advance(emu_fluid_t *f, const emu_topo_t *t, int64_t to)
{
    while (f->active && f->now < to) {
        double dt = to - f->now;
        int ends = 0;
        if (f->dirty) {
            rates(f, t);
        }
        for (int i = 0; i < f->top; ++i) {
            emu_flow_t *w = &f->flow[i];
            if (w->state == EMU_FLOW_ACTIVE && w->remaining / w->rate * 1e9 <= dt) {
                dt = w->remaining / w->rate * 1e9;
                ends = 1;
            }
        }
        int64_t at = ends ? f->now + (int64_t)ceil(dt) : to;
        for (int i = 0; i < f->top; ++i) {
            emu_flow_t *w = &f->flow[i];
            if (w->state != EMU_FLOW_ACTIVE) {
                continue;
            }
            for (int k = 0; k < w->path.n; ++k) {
                f->busy[w->path.link[k]] = at;
            }
            w->remaining -= w->rate * dt / 1e9;
            if (w->remaining <= EPS) {
                finish(f, w, at);
            }
        }
        f->now = at;
    }
}

static void reap(emu_fluid_t *f)
{
    for (int i = 0; i < f->top; ++i) {
        emu_flow_t *w = &f->flow[i];
        if (w->state != EMU_FLOW_FREE && kill(w->pid, 0) && errno == ESRCH) {
            if (w->state == EMU_FLOW_ACTIVE) {
                finish(f, w, f->now);
            }
            w->state = EMU_FLOW_FREE;
        }
    }
}

int emu_flow_start(emu_shared_t *s, const emu_topo_t *t, const emu_path_t *p, size_t bytes,
                   int64_t arrival)
{
    emu_fluid_t *f = &s->fluid;
    int i;

    lock(f);
    if (f->active) {
        advance(f, t, arrival);
    }
    if (f->now < arrival) {
        f->now = arrival; /* nothing was in flight */
    }
    for (i = 0; i < EMU_MAXFLOW && f->flow[i].state != EMU_FLOW_FREE; ++i) {
        ;
    }
    if (i == EMU_MAXFLOW) {
        reap(f);
        pthread_mutex_unlock(&f->mtx);
        return -1;
    }
    if (i >= f->top) {
        f->top = i + 1;
    }
    emu_flow_t *w = &f->flow[i];
    *w = (emu_flow_t){.state = EMU_FLOW_ACTIVE, .pid = getpid(), .path = *p, .remaining = bytes};
    f->active++;
    f->dirty = 1;
    /* A late submission (arrival before the model's present) gets what its
     * links, had they been idle since, would have carried. */
    double bw = INFINITY;
    int64_t from = arrival;
    for (int k = 0; k < p->n; ++k) {
        s->link[p->link[k]].bytes += bytes;
        if (t->link[p->link[k]].bw > 0 && t->link[p->link[k]].bw < bw) {
            bw = t->link[p->link[k]].bw;
        }
        if (f->busy[p->link[k]] > from) {
            from = f->busy[p->link[k]];
        }
    }
    if (isinf(bw)) {
        finish(f, w, arrival);
    } else if (from < f->now) {
        double got = bw * (f->now - from) / 1e9;
        if (got >= bytes) {
            finish(f, w, from + (int64_t)(bytes * 1e9 / bw));
        } else {
            w->remaining -= got;
        }
        int64_t till = got >= bytes ? w->finish : f->now;
        for (int k = 0; k < p->n; ++k) {
            f->busy[p->link[k]] = till;
        }
    }
    pthread_mutex_unlock(&f->mtx);
    return i;
}

size_t emu_flow_poll(emu_shared_t *s, const emu_topo_t *t, int slot, int64_t now, int64_t *when)
{
    emu_fluid_t *f = &s->fluid;
    emu_flow_t *w = &f->flow[slot];
    size_t left = 0;

    lock(f);
    advance(f, t, now);
    if (w->state == EMU_FLOW_DONE && w->finish <= now) {
        *when = w->finish;
        w->state = EMU_FLOW_FREE;
        while (f->top && f->flow[f->top - 1].state == EMU_FLOW_FREE) {
            --f->top;
        }
    } else if (w->state == EMU_FLOW_DONE) {
        *when = w->finish;
        left = 1;
    } else {
        if (f->dirty) {
            rates(f, t);
        }
        left = ceil(w->remaining);
        *when = f->now + (int64_t)(w->remaining / w->rate * 1e9) + 1;
        if (now - f->reaped > 1000000000) {
            f->reaped = now;
            reap(f);
        }
    }
    pthread_mutex_unlock(&f->mtx);
    return left;
}
