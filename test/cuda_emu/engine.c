/*
 * Queued operations: when each may run, how fast it goes, and who moves its bytes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <time.h>

CUresult emu_resolve(uintptr_t p, size_t n, loc_t *l)
{
    alloc_t *a = emu_lookup(p);
    *l = (loc_t){.a = a, .p = (char *)p, .where = EMU_HOST};
    if (!a) {
        return CUDA_SUCCESS; /* pageable host memory, as far as one can tell */
    }
    if (p + n > a->base + a->size || a->kind == K_RESV) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (a->kind == K_HOST || a->kind == K_HOSTREG) {
        l->pinned = 1;
    } else {
        l->where = a->gpu < 0 ? EMU_HOST : a->gpu;
        l->pinned = 1;
        l->p = a->sh + (p - a->base);
    }
    return CUDA_SUCCESS;
}

void emu_make_path(int s, int d, emu_path_t *p)
{
    if (s != EMU_HOST && d != EMU_HOST && s != d && emu.topo.nop2p[s][d]) {
        emu_path_t *a = &emu.topo.path[s][EMU_HOST], *b = &emu.topo.path[EMU_HOST][d];
        *p = *a;
        for (int i = 0; i < b->n && p->n < EMU_MAXHOP; ++i) {
            p->link[p->n++] = b->link[i];
        }
    } else {
        *p = emu.topo.path[s][d];
    }
}

static void op_done(stream_t *s, op_t *o)
{
    if (o->ready > s->vtime) {
        s->vtime = o->ready;
    }
    s->head = o->next;
    if (!s->head) {
        s->tail = NULL;
    } else if (s->head->ready < s->vtime + s->head->lat) {
        s->head->ready = s->vtime + s->head->lat;
    }
    --emu.npending;
    free(o);
}

static void copy_bytes(op_t *o, size_t from, size_t n)
{
    if (o->kind == OP_SET) {
        char *d = o->dst + from;
        if (o->esize == 1) {
            memset(d, (int)o->val, n);
        } else {
            for (size_t i = 0; i < n; i += o->esize) {
                memcpy(d + i, &o->val, o->esize);
            }
        }
        return;
    }
    if (o->height) { /* pitched: `from` and `n` are in rows of `width` */
        for (size_t r = from / o->width; r < (from + n) / o->width; ++r) {
            memcpy(o->dst + r * o->dpitch, o->src + r * o->spitch, o->width);
        }
        return;
    }
    memmove(o->dst + from, o->src + from, n);
}

/* Run what can be run at `now`; called with the lock held. */
static void step(stream_t *s, int64_t now, int engine)
{
    op_t *o;
    while ((o = s->head) && !s->busy_host) {
        switch (o->kind) {
        case OP_SET:
        case OP_COPY:
            if (o->ready > now) {
                return;
            }
            if (o->path.n) {
                if (o->slot < 0) {
                    o->slot = emu_flow_start(emu.sh, &emu.topo, &o->path, o->n, o->ready);
                    if (o->slot < 0) {
                        return;
                    }
                } else if (now < o->deadline && now - o->polled < 50000) {
                    return;
                }
                o->polled = now;
                size_t left = emu_flow_poll(emu.sh, &emu.topo, o->slot, now, &o->deadline);
                size_t upto = (o->n - left) / o->grain * o->grain;
                if (left && upto - o->done < (256 << 10)) {
                    return;
                }
                copy_bytes(o, o->done, upto - o->done);
                o->done = upto;
                if (left) {
                    return;
                }
                o->ready = o->deadline;
            } else {
                copy_bytes(o, 0, o->n);
            }
            if (o->kind == OP_COPY) {
                atomic_fetch_add(&emu.sh->traffic[o->where_src][o->where_dst], o->n);
                atomic_fetch_add(&emu.sh->copies[o->where_src][o->where_dst], 1);
                if (emu.nfault) {
                    emu_fault("async-copy");
                    if (o->where_src != o->where_dst && o->where_src != EMU_HOST &&
                        o->where_dst != EMU_HOST && emu_fault("corrupt-peer-copy")) {
                        o->dst[o->n / 2] ^= 0x55;
                    }
                }
            }
            break;
        case OP_EVENT:
            atomic_store(&o->ev->st->t, s->vtime > o->ready ? s->vtime : o->ready);
            atomic_store(&o->ev->st->done, o->val);
            break;
        case OP_WAIT:
            if (atomic_load(&o->ev->st->done) < o->val) {
                return;
            }
            o->ready = atomic_load(&o->ev->st->t);
            break;
        case OP_WRITE:
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
            if (o->esize == 8) {
                __atomic_store_n((uint64_t *)o->dst, o->val, __ATOMIC_RELEASE);
            } else {
                __atomic_store_n((uint32_t *)o->dst, (uint32_t)o->val, __ATOMIC_RELEASE);
            }
            break;
        case OP_FREE: {
            alloc_t *a = emu_lookup(o->val);
            if (a) {
                emu_dev_free(a);
            }
            break;
        }
        case OP_HOST:
            if (!engine) {
                return;
            }
            s->busy_host = 1;
            UNLOCK();
            if (o->fn) {
                o->fn(o->arg);
            } else {
                o->cb(s, emu.sticky, o->arg);
            }
            LOCK();
            s->busy_host = 0;
            o->ready = emu_now(); /* it may have waited for something */
            break;
        }
        op_done(s, o);
    }
}

/* Returns when to look again. */
int64_t emu_step_all(int64_t now, int engine)
{
    int64_t when = INT64_MAX;
    for (stream_t *s = emu.streams; s; s = s->next) {
        if (!s->head) {
            continue;
        }
        step(s, now, engine);
        if (s->head) {
            int64_t w = s->head->deadline ? s->head->deadline : s->head->ready;
            if (w <= now) {
                w = now + 50000; /* waits for an event or a host function */
            }
            if (w < when) {
                when = w;
            }
        }
    }
    return when;
}

static void *engine_main(void *arg)
{
    pthread_setname_np(pthread_self(), "cuda_emu");
    LOCK();
    while (!emu.stop) {
        if (!emu.npending) {
            pthread_cond_wait(&emu.work, &emu_mutex);
            continue;
        }
        int64_t now = emu_now(), when = emu_step_all(now, 1);
        if (when == INT64_MAX) {
            continue;
        }
        if (when < now + emu.tick) {
            when = now + emu.tick;
        }
        UNLOCK();
        struct timespec ts = {when / 1000000000, when % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
        LOCK();
    }
    UNLOCK();
    return NULL;
}

static void kick(void) /* lock held */
{
    if (!emu.npending) {
        return;
    }
    if (!emu.engine) {
        pthread_t t;
        pthread_attr_t at;
        pthread_attr_init(&at);
        pthread_attr_setdetachstate(&at, PTHREAD_CREATE_DETACHED);
        emu.engine = 1;
        if (pthread_create(&t, &at, engine_main, NULL)) {
            abort();
        }
    }
    pthread_cond_signal(&emu.work);
}

void emu_enqueue(stream_t *s, op_t *o)
{
    int64_t now = emu_now(), lat = 0, at = now;
    if (now - emu.lag_at < 100000000) {
        at -= emu.lag;
    }
    for (int i = 0; i < o->path.n; ++i) {
        lat += emu.topo.link[o->path.link[i]].lat_ns;
    }
    if (o->kind == OP_COPY || o->kind == OP_SET) {
        lat += emu.defer;
    }
    o->slot = -1;
    o->lat = lat;
    o->ready = (at > s->vtime ? at : s->vtime) + lat;
    if (s->tail) {
        s->tail->next = o;
    } else {
        s->head = o;
    }
    s->tail = o;
    ++emu.npending;
    step(s, now, 0);
    kick();
}

/* Sleep until the stream (or, with NULL, every stream of ctx that `all`
 * admits) has drained.  Lock held on entry and on return. */
void emu_drain(stream_t *one, ctx_t *ctx, int blocking_only)
{
    for (;;) {
        int64_t now = emu_now(), when = emu_step_all(now, 0);
        int busy = 0;
        for (stream_t *s = emu.streams; s; s = s->next) {
            if (s->head && (one ? s == one
                                : (!ctx || s->ctx == ctx) &&
                                      !(blocking_only && (s->flags & CU_STREAM_NON_BLOCKING)))) {
                busy = 1;
            }
        }
        if (!busy) {
            return;
        }
        if (when > now + 1000000) {
            when = now + 1000000;
        }
        UNLOCK();
        struct timespec ts = {when / 1000000000, when % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
        LOCK();
    }
}

stream_t *emu_stream_new(ctx_t *ctx, unsigned flags, int prio)
{
    stream_t *s = calloc(1, sizeof(*s));
    s->magic = MAGIC_STR;
    s->ctx = ctx;
    s->flags = flags;
    s->prio = prio;
    s->id = ++emu.ids;
    s->next = emu.streams;
    emu.streams = s;
    return s;
}

/* On an overcommitted machine a process learns of a completion late, and so
 * submits its next copy late, which no real machine would do.  How late it was
 * is taken off the arrival time of what it submits next (CUDA_EMU_LAG_US, the
 * largest such credit; 0 turns it off).  Lock held. */
void emu_observed(int64_t done_at)
{
    int64_t now = emu_now(), lag = now - done_at;
    emu.lag = lag < 0 ? 0 : lag > emu.lag_max ? emu.lag_max : lag;
    emu.lag_at = now;
}
