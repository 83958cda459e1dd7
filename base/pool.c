/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEPT = 32 };

/* Before each block; as long as the strictest alignment. */
typedef union head {
    size_t n_bytes; /* of the block behind it */
    max_align_t align;
} head_t;

struct vp_pool {
    size_t n_kept;
    head_t *kept[MAX_KEPT];
};

vp_pool_t *vp_pool_create(void)
{
    return calloc(1, sizeof(vp_pool_t));
}

void vp_pool_destroy(vp_pool_t *pool)
{
    if (pool == NULL) {
        return;
    }
    while (pool->n_kept > 0) {
        free(pool->kept[--pool->n_kept]);
    }
    free(pool);
}

/* Takes the smallest block that is long enough, and not twice as long, out of the pool. */
static head_t *find_kept(vp_pool_t *pool, size_t n_bytes)
{
    size_t best = MAX_KEPT;
    size_t i;
    head_t *head;

    for (i = 0; i < pool->n_kept; i++) {
        size_t kept_bytes = pool->kept[i]->n_bytes;

        if (kept_bytes >= n_bytes && kept_bytes / 2 <= n_bytes &&
            (best == MAX_KEPT || kept_bytes < pool->kept[best]->n_bytes)) {
            best = i;
        }
    }
    if (best == MAX_KEPT) {
        return NULL;
    }
    head = pool->kept[best];
    pool->kept[best] = pool->kept[--pool->n_kept];
    return head;
}

static void *take(vp_pool_t *pool, size_t n, size_t size, bool zeroed)
{
    head_t *head = NULL;
    size_t n_bytes = n * size;

    if (size != 0 && n > (SIZE_MAX - sizeof(*head)) / size) {
        return NULL;
    }
    if (pool != NULL) {
        head = find_kept(pool, n_bytes);
    }
    if (head != NULL && zeroed) {
        memset(head + 1, 0, n_bytes);
    }
    if (head == NULL) {
        head = zeroed ? calloc(1, sizeof(*head) + n_bytes) : malloc(sizeof(*head) + n_bytes);
        if (head == NULL) {
            return NULL;
        }
        head->n_bytes = n_bytes;
    }
    return head + 1;
}

void *vp_pool_take(vp_pool_t *pool, size_t n, size_t size)
{
    return take(pool, n, size, false);
}

void *vp_pool_take_zeroed(vp_pool_t *pool, size_t n, size_t size)
{
    return take(pool, n, size, true);
}

void vp_pool_give(vp_pool_t *pool, void *block)
{
    head_t *head;
    size_t least = 0;
    size_t i;

    if (block == NULL) {
        return;
    }
    head = (head_t *)block - 1;
    if (pool == NULL) {
        free(head);
        return;
    }
    if (pool->n_kept < MAX_KEPT) {
        pool->kept[pool->n_kept++] = head;
        return;
    }
    for (i = 1; i < MAX_KEPT; i++) {
        least = pool->kept[i]->n_bytes < pool->kept[least]->n_bytes ? i : least;
    }
    if (pool->kept[least]->n_bytes < head->n_bytes) {
        head_t *shorter = pool->kept[least];

        pool->kept[least] = head;
        head = shorter;
    }
    free(head);
}

bool vp_pool_reserve(vp_pool_t *pool, void *array_p, size_t *capacity_p, size_t needed, size_t size)
{
    size_t capacity = *capacity_p < 8 ? 8 : *capacity_p;
    void *old;
    void *array;

    if (needed <= *capacity_p) {
        return true;
    }
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) {
            return false;
        }
        capacity *= 2;
    }
    array = vp_pool_take(pool, capacity, size);
    if (array == NULL) {
        return false;
    }
    memcpy(&old, array_p, sizeof(old));
    if (old != NULL) {
        memcpy(array, old, *capacity_p * size);
        vp_pool_give(pool, old);
    }
    memcpy(array_p, &array, sizeof(array));
    *capacity_p = capacity;
    return true;
}
