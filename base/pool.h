/*
 * Memory that is used again and again: blocks that are given back stay for the
 * next taker, so that work that comes back does not ask the system for pages
 * each time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_POOL_H
#define VP_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Keeps as much as was ever taken at one time, at most twice that. Not for two threads at once. */
typedef struct vp_pool vp_pool_t;

/* NULL when memory is out. */
vp_pool_t *vp_pool_create(void) __attribute__((warn_unused_result));
/* All blocks have been given back. NULL is fine. */
void vp_pool_destroy(vp_pool_t *pool);

/*
 * A block for n elements of `size` bytes, whose contents are anything; or all
 * zero. From no pool (NULL) it is new. NULL when the product overflows or
 * memory is out. It goes back to the same pool by vp_pool_give.
 */
void *vp_pool_take(vp_pool_t *pool, size_t n, size_t size) __attribute__((warn_unused_result));
void *vp_pool_take_zeroed(vp_pool_t *pool, size_t n, size_t size)
    __attribute__((warn_unused_result));
/* block may be NULL. */
void vp_pool_give(vp_pool_t *pool, void *block);

/* vp_array_reserve for an array that is NULL or comes from the pool. */
bool vp_pool_reserve(vp_pool_t *pool, void *array_p, size_t *capacity_p, size_t needed, size_t size)
    __attribute__((warn_unused_result));

#endif
