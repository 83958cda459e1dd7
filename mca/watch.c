/*
 * Who wants to know what calls wait for: a signal, or a time without any event.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

#include <signal.h>

static struct sigaction previous;
static int caught; /* 0: no handler is installed */
static bool watching;

/* Only counts: whoever makes progress writes. */
static void handle(int number)
{
    (void)number;
    (void)__atomic_fetch_add(&mca_coll_variopath_component.dump.n_asked, 1, __ATOMIC_RELAXED);
}

/* A handler that the program has set before stays: the signal is its own. */
static void catch_signal(vp_component_t *component)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    int number = component->params.dump_signal;

    (void)sigemptyset(&action.sa_mask);
    if (0 != sigaction(number, NULL, &previous) || SIG_DFL != previous.sa_handler ||
        0 != sigaction(number, &action, NULL)) {
        opal_output(0,
                    "coll:variopath: signal %d of coll_variopath_dump_signal cannot be caught or "
                    "is handled by the program; states are not told on it, choose another one",
                    number);
        return;
    }
    caught = number;
}

static int look(void)
{
    vp_dump_look(&mca_coll_variopath_component.dump);
    return 0;
}

void vp_watch_open(vp_component_t *component)
{
    vp_dump_t *dump = &component->dump;

    if (0 == component->params.dump_signal && 0 == component->params.dump_ms) {
        return;
    }
    dump->silence_ms = component->params.dump_ms;
    dump->log = &component->log;
    if (0 != component->params.dump_signal) {
        catch_signal(component);
    }
    watching = OPAL_SUCCESS == opal_progress_register_lp(look);
}

void vp_watch_close(void)
{
    if (0 != caught) {
        (void)sigaction(caught, &previous, NULL);
        caught = 0;
    }
    if (watching) {
        (void)opal_progress_unregister(look);
        watching = false;
    }
}

vp_dump_t *vp_watch_dump(void)
{
    return watching ? &mca_coll_variopath_component.dump : NULL;
}
