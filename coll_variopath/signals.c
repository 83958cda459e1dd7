/*
 * What ranks tell each other while lanes run: ends of lanes, and meetings.
 *
 * A meeting is a dissemination: in round k a rank sends to the one 2^k ahead and
 * waits for the one 2^k behind, so that after log2 of the ranks' number each has
 * heard of all, and of the worst trouble of all. Who gave up on one that it should have heard of
 * is unsure what that one still writes, to whom, and says so in the next rounds.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <sched.h>
#include <string.h>

#include "base/units.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/run.h"

enum {
    HOST_PROGRESS_EVERY = 8, /* spins between two calls of the host's progress */
    YIELD_AFTER = 32,        /* idle spins before the core is offered to other ranks */
    BROKEN_MS = 1000,        /* without progress, for own lanes once a rank has died */
    PATIENCE = 8 /* predicted times that others may take, on top of the timeout, without a sign */
};

/* And however long the plan: counts that others made up must not make this rank wait for ever. */
#define MAX_PATIENCE_NS (UINT64_C(3600) * VP_NS_PER_S)

_Static_assert((int)VP_MESSAGE_BYTES == (int)VP_SIGNAL_BYTES, "signals are the host's messages");

static bool is_worse(const vp_trouble_t *a, const vp_trouble_t *b)
{
    if (b->cause == VP_CAUSE_NONE || a->cause != b->cause) {
        return b->cause == VP_CAUSE_NONE || a->cause < b->cause;
    }
    return a->lane != b->lane ? a->lane < b->lane : a->rank < b->rank;
}

void vp_run_note(vp_run_t *run, const vp_trouble_t *trouble)
{
    if (trouble->cause != VP_CAUSE_NONE && is_worse(trouble, &run->trouble)) {
        run->trouble = *trouble;
    }
}

static void note_wait(vp_run_t *run, vp_cause_t cause, uint32_t peer, vp_status_t status)
{
    const vp_wait_list_t *remote = &run->program->waits->remote;
    vp_trouble_t trouble = {.cause = cause,
                            .status = (int32_t)status,
                            .lane = UINT32_MAX,
                            .rank = run->engine->rank,
                            .peer = peer};
    size_t i;

    for (i = 0; cause == VP_CAUSE_WAIT && i < remote->n_waits; i++) {
        uint32_t lane = remote->waits[i].from;
        uint32_t source = run->engine->place_rank[run->program->plan->lanes[lane].source];
        bool first = i == 0 || remote->waits[i - 1].from != lane;

        if (first && !run->program->seen[i] && (peer == run->engine->rank || peer == source)) {
            trouble.lane = lane;
            trouble.peer = source;
            break;
        }
    }
    if (trouble.lane == UINT32_MAX) {
        trouble.cause = VP_CAUSE_MEET;
    }
    vp_run_note(run, &trouble);
    run->is_unsure = true;
}

void vp_run_give_up(vp_run_t *run, vp_cause_t cause, uint32_t peer, vp_status_t status)
{
    note_wait(run, cause, peer, status);
    run->alone = true;
}

static void send(vp_run_t *run, uint32_t peer, vp_signal_kind_t kind, uint32_t number,
                 uint32_t round)
{
    vp_signal_t signal = {.call = (uint32_t)run->engine->n_calls,
                          .kind = kind,
                          .number = number,
                          .round = round,
                          .is_unsure = run->is_unsure,
                          .trouble = run->trouble};
    uint8_t wire[VP_SIGNAL_BYTES];
    vp_status_t status;

    vp_signal_encode(&signal, wire);
    status = run->engine->around.send(run->engine->around.context, peer, wire);
    if (status == VP_OK) {
        return;
    }
    /* The peer will wait in vain. The others are still waited for, as they may be writing here,
     * unless they might wait for that peer for ever. */
    if (run->work->call->patient) {
        vp_run_give_up(run, VP_CAUSE_MEET, peer, status);
    } else {
        note_wait(run, VP_CAUSE_MEET, peer, status);
    }
}

/* False: nobody here waits for that lane, or not any more. */
static bool take_end(vp_run_t *run, uint32_t lane)
{
    const vp_wait_list_t *remote = &run->program->waits->remote;
    size_t first = vp_waits_first(remote, lane), i;

    if (first == remote->n_waits || remote->waits[first].from != lane ||
        run->program->seen[first]) {
        return false;
    }
    run->program->seen[first] = true;
    for (i = first; i < remote->n_waits && remote->waits[i].from == lane; i++) {
        run->program->left[remote->waits[i].to]--;
    }
    run->n_awaited--;
    return true;
}

static bool take_meeting(vp_run_t *run, uint32_t meeting, uint32_t round)
{
    if (meeting - run->meeting > 1 || round >= run->n_rounds) {
        return false;
    }
    run->met[meeting % 2][round] = true;
    return true;
}

static void take(vp_run_t *run, const uint8_t *wire)
{
    vp_signal_t signal;
    bool known;

    vp_signal_decode(wire, &signal);
    run->n_to_come--;
    known = signal.call == (uint32_t)run->engine->n_calls &&
            (signal.kind == VP_SIGNAL_ENDED ? take_end(run, signal.number)
                                            : take_meeting(run, signal.number, signal.round));
    /* Who waits for nobody any more may be ahead; what he knows counts. */
    if (!known && signal.trouble.cause == VP_CAUSE_NONE) {
        vp_run_give_up(run, VP_CAUSE_MEET, run->engine->rank, VP_ERR_INTERNAL);
    }
    vp_run_note(run, &signal.trouble);
    run->is_unsure = run->is_unsure || signal.is_unsure;
}

static unsigned receive(vp_run_t *run)
{
    const vp_surroundings_t *around = &run->engine->around;
    uint8_t wire[VP_SIGNAL_BYTES];
    unsigned n_taken = 0;
    bool arrived = true;

    while (run->n_to_come > 0 && arrived) {
        vp_status_t status = around->receive(around->context, wire, &arrived);

        if (status != VP_OK) {
            vp_run_give_up(run, VP_CAUSE_MEET, run->engine->rank, status);
            return n_taken;
        }
        if (arrived) {
            take(run, wire);
            n_taken++;
        }
    }
    return n_taken;
}

/* Who is dead is not waited for; nor is anybody else, whom his death may keep from coming. */
static void look_for_death(vp_run_t *run)
{
    uint32_t peer;

    if (!run->broken && vp_engine_is_broken(run->engine, &peer)) {
        run->broken = true;
        vp_run_give_up(run, VP_CAUSE_WAIT, peer, VP_ERR_TRANSPORT);
    }
}

void vp_run_advance(vp_run_t *run)
{
    const vp_engine_t *engine = run->engine;
    unsigned n_events = vp_lanes_progress(engine->lanes);

    if (run->spin++ % HOST_PROGRESS_EVERY == 0 && engine->around.progress != NULL) {
        engine->around.progress(engine->around.context);
        look_for_death(run);
    }
    n_events += receive(run);
    if (n_events > 0) {
        run->n_idle = 0;
        run->last_ns = vp_clock_ns();
    } else if (++run->n_idle > YIELD_AFTER) {
        vp_dump_run(run);
        (void)sched_yield();
    }
}

bool vp_run_is_late(const vp_run_t *run, bool for_others)
{
    uint64_t limit_ns = (uint64_t)run->engine->options.timeout_ms * 1000000;

    if (run->broken) {
        uint64_t broken_ns = (uint64_t)BROKEN_MS * 1000000;

        limit_ns = limit_ns == 0 || limit_ns > broken_ns ? broken_ns : limit_ns;
    } else if (limit_ns == 0 || run->work->call->patient) {
        return false;
    }
    if (for_others) {
        /* They notice what is wrong with their own lanes first, and tell. */
        uint64_t more_ns = vp_mul_sat((uint64_t)PATIENCE, run->program->plan->time_ns);

        limit_ns = 2 * limit_ns + (more_ns < MAX_PATIENCE_NS ? more_ns : MAX_PATIENCE_NS);
    }
    return vp_clock_ns() - run->last_ns > limit_ns;
}

void vp_run_release(vp_run_t *run, uint32_t own)
{
    const vp_waits_t *waits = run->program->waits;
    const vp_wait_t *wait;
    size_t i;

    run->program->state[own] = VP_LANE_RELEASED;
    for (i = vp_waits_first(&waits->local, own); i < waits->local.n_waits; i++) {
        wait = &waits->local.waits[i];
        if (wait->from != own) {
            break;
        }
        run->program->left[wait->to]--;
    }
    for (i = vp_waits_first(&waits->told, own); i < waits->told.n_waits; i++) {
        wait = &waits->told.waits[i];
        if (wait->from != own) {
            break;
        }
        send(run, run->engine->place_rank[wait->to], VP_SIGNAL_ENDED, waits->own[own], 0);
    }
}

void vp_run_collect(vp_run_t *run)
{
    while (run->n_awaited > 0 && !run->alone) {
        if (vp_run_is_late(run, true)) {
            vp_run_give_up(run, VP_CAUSE_WAIT, run->engine->rank, VP_ERR_TIMEOUT);
        } else {
            vp_run_advance(run);
        }
    }
}

void vp_run_meet(vp_run_t *run)
{
    uint32_t n = run->engine->n_ranks, rank = run->engine->rank, round;
    bool *met = run->met[run->meeting % 2];

    for (round = 0; round < run->n_rounds; round++) {
        uint32_t distance = UINT32_C(1) << round;

        send(run, (rank + distance) % n, VP_SIGNAL_MEET, run->meeting, round);
        run->meets = true;
        run->meets_rank = (rank + n - distance) % n;
        while (!met[round] && !run->alone) {
            if (vp_run_is_late(run, true)) {
                vp_run_give_up(run, VP_CAUSE_MEET, run->meets_rank, VP_ERR_TIMEOUT);
            } else {
                vp_run_advance(run);
            }
        }
    }
    run->meets = false;
    memset(met, 0, sizeof(run->met[0]));
    run->meeting++;
}
