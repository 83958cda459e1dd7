/*
 * What a rank hears from its peers: facts, addresses, reports, openings, rows of
 * counts, pairs, keys, losses, signals. They begin as what this rank says itself,
 * changed by the input byte by byte, for three calls of four ranks over lanes
 * that move nothing.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalog/build.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "coll_variopath/engine.h"

enum { N_RANKS = 4, N_CALLS = 3, BLOCK_BYTES = 512, MANY_LOOKS = 500 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

typedef struct input {
    const uint8_t *data;
    size_t n_left;
} input_t;

static uint32_t me; /* rank of this process */

static void take_line(void *context, vp_log_level_t level, const char *line)
{
    (void)level;
    *(size_t *)context += strlen(line);
}

static uint8_t next(input_t *input)
{
    if (input->n_left == 0) {
        return 0;
    }
    input->n_left--;
    return *input->data++;
}

/*
 * The clock of the engine: it jumps when nothing comes any more, so that nobody
 * waits for a lane that was made up.
 */
static uint64_t now_ns;
static unsigned n_looks;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    n_looks++;
    now_ns += n_looks > MANY_LOOKS ? UINT64_C(4000000000000) : 1000;
    time->tv_sec = (time_t)(now_ns / 1000000000);
    time->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

/* One record of a peer. */
static void say(input_t *input, const uint8_t *own, uint8_t *record, size_t n_bytes)
{
    size_t i;

    for (i = 0; i < n_bytes; i++) {
        record[i] = (uint8_t)(own[i] ^ next(input));
    }
}

static vp_status_t allgather(void *context, const void *send, void *receive, size_t n_bytes)
{
    uint8_t *to = receive;
    uint32_t rank;

    for (rank = 0; rank < N_RANKS; rank++) {
        if (rank == me) {
            memmove(to + rank * n_bytes, send, n_bytes);
        } else {
            say(context, send, to + rank * n_bytes, n_bytes);
        }
    }
    return VP_OK;
}

static vp_status_t alltoall(void *context, const void *send, void *receive, size_t n_bytes)
{
    const uint8_t *from = send;
    uint8_t *to = receive;
    uint32_t rank;

    for (rank = 0; rank < N_RANKS; rank++) {
        if (rank == me) {
            memmove(to + rank * n_bytes, from + rank * n_bytes, n_bytes);
        } else {
            say(context, from + rank * n_bytes, to + rank * n_bytes, n_bytes);
        }
    }
    return VP_OK;
}

static vp_status_t send_message(void *context, uint32_t peer, const void *message)
{
    (void)context;
    (void)message;
    if (peer >= N_RANKS) {
        abort();
    }
    return VP_OK;
}

static vp_status_t receive_message(void *context, void *message, bool *arrived_p)
{
    static const uint8_t blank[VP_MESSAGE_BYTES];
    input_t *input = context;

    if (input->n_left == 0) {
        return VP_ERR_TRANSPORT;
    }
    n_looks = 0;
    say(input, blank, message, VP_MESSAGE_BYTES);
    *arrived_p = true;
    return VP_OK;
}

static void abandon(void *context)
{
    (void)context;
}

static const vp_catalog_t *catalog_of_four(void)
{
    static vp_catalog_t *catalog;
    vp_model_t *model = NULL;

    if (catalog == NULL &&
        (vp_topology_resolve("synthetic:switches=2,gpus=2,nics=1:transports=local", &model, NULL) !=
             VP_OK ||
         vp_catalog_generate(&model, &catalog, NULL) != VP_OK ||
         vp_catalog_seal(catalog, NULL) != VP_OK)) {
        abort();
    }
    return catalog;
}

static void call_once(vp_engine_t *engine, unsigned number)
{
    static unsigned char memory[2][N_RANKS][BLOCK_BYTES];
    vp_block_t send[N_RANKS];
    vp_block_t receive[N_RANKS];
    vp_call_t call = {.send = send, .receive = receive};
    vp_outcome_t outcome;
    vp_error_t error = {.text = ""};
    uint32_t i;

    for (i = 0; i < N_RANKS; i++) {
        send[i] = (vp_block_t){.address = memory[0][i], .n_bytes = BLOCK_BYTES - number / 2 - i};
        receive[i] = (vp_block_t){.address = memory[1][i], .n_bytes = BLOCK_BYTES};
    }
    if (vp_engine_alltoallv(engine, &call, &outcome, &error) != VP_OK && error.text[0] == '\0') {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const uint32_t places[N_RANKS] = {0, 1, 2, 3};
    static const uint64_t keys[N_RANKS] = {5, 6, 7, 8};
    input_t input = {.data = data, .n_left = n_bytes};
    size_t n_logged = 0;
    vp_log_t log = {.write = take_line, .context = &n_logged, .verbosity = VP_LOG_DEBUG};
    vp_engine_options_t options = {.carry_host = true,
                                   .scheduler = "auto",
                                   .timeout_ms = 1,
                                   .cache_plans = 2,
                                   .overlap_percent = 100,
                                   .log = &log};
    vp_surroundings_t around = {.context = &input,
                                .n_ranks = N_RANKS,
                                .allgather = allgather,
                                .alltoall = alltoall,
                                .send = send_message,
                                .receive = receive_message,
                                .abandon = abandon};
    vp_counters_t counters = {0};
    vp_lanes_t *lanes = NULL;
    vp_engine_t *engine = NULL;
    unsigned i;

    now_ns = 0;
    n_looks = 0;
    me = next(&input) % 2;
    around.rank = me;
    options.sync = (vp_sync_t)(next(&input) % 3);
    if (vp_lanes_create(NULL, &lanes, NULL) == VP_OK &&
        vp_engine_create(catalog_of_four(), lanes, &around, places, keys, &options, &counters,
                         &engine, NULL) == VP_OK) {
        for (i = 0; i < N_CALLS; i++) {
            call_once(engine, i);
        }
    }
    vp_engine_destroy(engine);
    vp_lanes_destroy(lanes);
    return 0;
}
