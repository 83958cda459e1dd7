/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ranks.h"

typedef struct letter {
    struct letter *next;
    uint32_t from;
    size_t n_bytes;
    bool lost;
    uint64_t step; /* after which it was sent */
    unsigned char bytes[];
} letter_t;

/* What came for one rank and was not taken yet, in the order of its coming. */
typedef struct mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t arrival;
    letter_t *letters;
    letter_t **end;
    letter_t *signals; /* apart from all other traffic */
    letter_t **signals_end;
} mailbox_t;

struct wire {
    uint32_t n_ranks;
    const uint32_t *node;
    mailbox_t *mailboxes;
};

wire_t *wire_create(uint32_t n_ranks, const uint32_t *node)
{
    wire_t *wire = vp_array_new(1, sizeof(*wire));
    uint32_t rank;

    RANKS_CHECK(wire != NULL, "no memory");
    wire->n_ranks = n_ranks;
    wire->node = node;
    wire->mailboxes = vp_array_new(n_ranks, sizeof(*wire->mailboxes));
    RANKS_CHECK(wire->mailboxes != NULL, "no memory");
    for (rank = 0; rank < n_ranks; rank++) {
        mailbox_t *mailbox = &wire->mailboxes[rank];

        (void)pthread_mutex_init(&mailbox->mutex, NULL);
        (void)pthread_cond_init(&mailbox->arrival, NULL);
        mailbox->end = &mailbox->letters;
        mailbox->signals_end = &mailbox->signals;
    }
    return wire;
}

void wire_destroy(wire_t *wire)
{
    uint32_t rank;

    for (rank = 0; rank < wire->n_ranks; rank++) {
        RANKS_CHECK(wire->mailboxes[rank].letters == NULL, "a message was not received");
        RANKS_CHECK(wire->mailboxes[rank].signals == NULL, "a signal was not received");
        (void)pthread_mutex_destroy(&wire->mailboxes[rank].mutex);
        (void)pthread_cond_destroy(&wire->mailboxes[rank].arrival);
    }
    free(wire->mailboxes);
    free(wire);
}

static letter_t *write_letter(const wire_member_t *member, const void *bytes, size_t n_bytes)
{
    letter_t *letter = malloc(sizeof(*letter) + n_bytes);

    RANKS_CHECK(letter != NULL, "no memory");
    letter->next = NULL;
    letter->from = member->rank;
    letter->n_bytes = n_bytes;
    letter->lost = false;
    letter->step = member->step;
    memcpy(letter->bytes, bytes, n_bytes);
    return letter;
}

static void count(const wire_member_t *member, wire_entry_t *entry, uint32_t to, size_t n_bytes)
{
    const wire_t *wire = member->wire;

    entry->n_messages++;
    entry->sent_bytes += n_bytes;
    entry->between_bytes += wire->node[to] == wire->node[member->rank] ? 0 : n_bytes;
}

static void post(wire_member_t *member, wire_entry_t *entry, const void *bytes, size_t n_bytes,
                 uint32_t to, bool lost)
{
    mailbox_t *mailbox = &member->wire->mailboxes[to];
    letter_t *letter = write_letter(member, bytes, n_bytes);

    letter->lost = lost;
    count(member, entry, to, n_bytes);
    (void)pthread_mutex_lock(&mailbox->mutex);
    *mailbox->end = letter;
    mailbox->end = &letter->next;
    (void)pthread_cond_signal(&mailbox->arrival);
    (void)pthread_mutex_unlock(&mailbox->mutex);
}

/* Takes the first letter of a rank out of the box; NULL: none is there. */
static letter_t *find_letter(mailbox_t *mailbox, uint32_t from)
{
    letter_t **link = &mailbox->letters;
    letter_t *letter;

    while (*link != NULL && (*link)->from != from) {
        link = &(*link)->next;
    }
    letter = *link;
    if (letter != NULL) {
        *link = letter->next;
        mailbox->end = letter->next == NULL ? link : mailbox->end;
    }
    return letter;
}

/* False: it was lost. */
static bool await(wire_member_t *member, void *bytes, size_t n_bytes, uint32_t from,
                  uint64_t *step_p)
{
    mailbox_t *mailbox = &member->wire->mailboxes[member->rank];
    letter_t *letter;
    bool arrived;

    (void)pthread_mutex_lock(&mailbox->mutex);
    for (letter = find_letter(mailbox, from); letter == NULL; letter = find_letter(mailbox, from)) {
        (void)pthread_cond_wait(&mailbox->arrival, &mailbox->mutex);
    }
    (void)pthread_mutex_unlock(&mailbox->mutex);
    RANKS_EQUAL(letter->n_bytes, n_bytes);
    arrived = !letter->lost;
    *step_p = letter->step > *step_p ? letter->step : *step_p;
    memset(bytes, 1, n_bytes); /* what is lost may look as if it were there */
    if (arrived) {
        memcpy(bytes, letter->bytes, n_bytes);
    }
    free(letter);
    return arrived;
}

static wire_entry_t *new_entry(wire_member_t *member, const char *what, size_t record_bytes)
{
    wire_entry_t *entry = &member->entries[member->n_entries];

    RANKS_CHECK(member->n_entries < WIRE_ENTRIES, "too many collectives");
    member->n_entries++;
    member->step = 0;
    *entry = (wire_entry_t){.what = what, .record_bytes = record_bytes};
    return entry;
}

/* In round k what is known of 2^k ranks goes 2^k ranks down. */
static vp_status_t allgather(void *context, const void *send, void *receive, size_t n_bytes)
{
    wire_member_t *member = context;
    wire_entry_t *entry = new_entry(member, "allgather", n_bytes);
    uint32_t rank = member->rank, n = member->wire->n_ranks, distance;
    unsigned char *known = vp_array_new(n, n_bytes);
    size_t n_last = (size_t)(n - rank) * n_bytes;

    RANKS_CHECK(known != NULL, "no memory");
    memcpy(known, send, n_bytes);
    for (distance = 1; distance < n; distance *= 2) {
        size_t n_parts = distance < n - distance ? distance : n - distance;

        post(member, entry, known, n_parts * n_bytes, (rank + n - distance) % n, false);
        (void)await(member, known + distance * n_bytes, n_parts * n_bytes, (rank + distance) % n,
                    &member->step);
        entry->n_steps = ++member->step;
    }
    memcpy((unsigned char *)receive + rank * n_bytes, known, n_last);
    memcpy(receive, known + n_last, rank * n_bytes);
    free(known);
    return VP_OK;
}

static vp_status_t alltoall(void *context, const void *send, void *receive, size_t n_bytes)
{
    wire_member_t *member = context;
    wire_entry_t *entry = new_entry(member, "alltoall", n_bytes);
    uint32_t peer, i, n = member->wire->n_ranks;

    for (i = 1; i < n; i++) {
        peer = (member->rank + i) % n;
        post(member, entry, (const unsigned char *)send + peer * n_bytes, n_bytes, peer, false);
    }
    for (peer = 0; peer < n; peer++) {
        if (peer != member->rank) {
            (void)await(member, (unsigned char *)receive + peer * n_bytes, n_bytes, peer,
                        &entry->n_steps);
        }
    }
    memcpy((unsigned char *)receive + member->rank * n_bytes,
           (const unsigned char *)send + member->rank * n_bytes, n_bytes);
    entry->n_steps = 1;
    return VP_OK;
}

static vp_status_t swap(void *context, const void *send, size_t n_sent, uint32_t to, void *receive,
                        size_t n_received, uint32_t from)
{
    wire_member_t *member = context;
    wire_entry_t *entry = member->n_entries == 0 ? NULL : &member->entries[member->n_entries - 1];
    bool lose_sent, arrived = true;

    if (entry == NULL || strcmp(entry->what, "swaps") != 0) {
        entry = new_entry(member, "swaps", 0);
    }
    member->n_swaps++;
    lose_sent = member->n_swaps == member->lose_sent;
    if (to != VP_NOBODY) {
        post(member, entry, send, n_sent, to, lose_sent);
    }
    if (from != VP_NOBODY) {
        arrived = await(member, receive, n_received, from, &member->step);
    }
    entry->n_steps = ++member->step;
    if (member->n_swaps == member->lose_gotten) {
        memset(receive, 1, n_received);
        arrived = false;
    }
    return arrived && !lose_sent ? VP_OK : VP_ERR_TRANSPORT;
}

static vp_status_t send_signal(void *context, uint32_t peer, const void *message)
{
    wire_member_t *member = context;
    mailbox_t *mailbox = &member->wire->mailboxes[peer];
    letter_t *letter = write_letter(member, message, VP_MESSAGE_BYTES);

    count(member, &member->signals, peer, VP_MESSAGE_BYTES);
    (void)pthread_mutex_lock(&mailbox->mutex);
    *mailbox->signals_end = letter;
    mailbox->signals_end = &letter->next;
    (void)pthread_mutex_unlock(&mailbox->mutex);
    return VP_OK;
}

static vp_status_t receive_signal(void *context, void *message, bool *arrived_p)
{
    wire_member_t *member = context;
    mailbox_t *mailbox = &member->wire->mailboxes[member->rank];
    letter_t *letter;

    (void)pthread_mutex_lock(&mailbox->mutex);
    letter = mailbox->signals;
    if (letter != NULL) {
        mailbox->signals = letter->next;
        mailbox->signals_end = letter->next == NULL ? &mailbox->signals : mailbox->signals_end;
    }
    (void)pthread_mutex_unlock(&mailbox->mutex);
    *arrived_p = letter != NULL;
    if (letter != NULL) {
        memcpy(message, letter->bytes, VP_MESSAGE_BYTES);
        free(letter);
    }
    return VP_OK;
}

static void abandon(void *context)
{
    (void)context;
    RANKS_CHECK(false, "the engine gave up on messages");
}

vp_surroundings_t wire_surroundings(wire_member_t *member)
{
    return (vp_surroundings_t){.context = member,
                               .rank = member->rank,
                               .n_ranks = member->wire->n_ranks,
                               .allgather = allgather,
                               .alltoall = alltoall,
                               .swap = swap,
                               .send = send_signal,
                               .receive = receive_signal,
                               .abandon = abandon};
}

void wire_forget(wire_member_t *member)
{
    member->n_entries = 0;
    memset(&member->signals, 0, sizeof(member->signals));
}
