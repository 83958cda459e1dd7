/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES ((size_t)4 << 20) /* frames grow under the sanitizer */
#else
#define STACK_BYTES ((size_t)512 << 10)
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

struct vp_fiber {
    void (*function)(void *);
    void *argument;
    char *memory;
    ucontext_t inside;
    ucontext_t outside;
    bool done;
#ifdef __SANITIZE_ADDRESS__
    const void *outside_bottom;
    size_t outside_bytes;
    void *fake_stack;
#endif
#ifdef __SANITIZE_THREAD__
    void *watched_inside;
    void *watched_outside;
#endif
};

/* The sanitizers are told of every change of stacks. */
static void leave_outside(vp_fiber_t *fiber, void **fake_stack_p)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fake_stack_p, fiber->memory, STACK_BYTES);
#elif defined(__SANITIZE_THREAD__)
    (void)fake_stack_p;
    fiber->watched_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->watched_inside, 0);
#else
    (void)fiber;
    (void)fake_stack_p;
#endif
}

static void arrive_outside(void *fake_stack)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#else
    (void)fake_stack;
#endif
}

static void leave_inside(vp_fiber_t *fiber)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fiber->done ? NULL : &fiber->fake_stack, fiber->outside_bottom,
                                   fiber->outside_bytes);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(fiber->watched_outside, 0);
#else
    (void)fiber;
#endif
}

static void arrive_inside(vp_fiber_t *fiber)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &fiber->outside_bottom,
                                    &fiber->outside_bytes);
#else
    (void)fiber;
#endif
}

/* False: there is no memory for it. */
static bool watch(vp_fiber_t *fiber)
{
#ifdef __SANITIZE_THREAD__
    fiber->watched_inside = __tsan_create_fiber(0);
    return NULL != fiber->watched_inside;
#else
    (void)fiber;
    return true;
#endif
}

static void unwatch(vp_fiber_t *fiber)
{
#ifdef __SANITIZE_THREAD__
    if (NULL != fiber->watched_inside) {
        __tsan_destroy_fiber(fiber->watched_inside);
    }
#else
    (void)fiber;
#endif
}

/* makecontext passes ints only: the fiber's address comes in two of them. */
static void enter(unsigned high, unsigned low)
{
    vp_fiber_t *fiber = (vp_fiber_t *)((uintptr_t)high << 32 | (uintptr_t)low);

    arrive_inside(fiber);
    fiber->function(fiber->argument);
    fiber->done = true;
    leave_inside(fiber);
    (void)setcontext(&fiber->outside);
}

static bool make_context(vp_fiber_t *fiber)
{
    if (0 != getcontext(&fiber->inside)) {
        return false;
    }
    fiber->inside.uc_stack.ss_sp = fiber->memory;
    fiber->inside.uc_stack.ss_size = STACK_BYTES;
    fiber->inside.uc_link = NULL;
    makecontext(&fiber->inside, (void (*)(void))enter, 2, (unsigned)((uintptr_t)fiber >> 32),
                (unsigned)(uintptr_t)fiber);
    return true;
}

/* Only touched pages take memory; the lowest one catches an overflow. */
static char *make_stack(void)
{
    char *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (MAP_FAILED == (void *)memory) {
        return NULL;
    }
    if (0 != mprotect(memory, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE)) {
        (void)munmap(memory, STACK_BYTES);
        return NULL;
    }
    return memory;
}

vp_fiber_t *vp_fiber_create(void (*function)(void *argument), void *argument)
{
    vp_fiber_t *fiber = calloc(1, sizeof(*fiber));

    if (NULL == fiber) {
        return NULL;
    }
    fiber->function = function;
    fiber->argument = argument;
    fiber->memory = make_stack();
    if (NULL == fiber->memory || !make_context(fiber) || !watch(fiber)) {
        vp_fiber_destroy(fiber);
        return NULL;
    }
    return fiber;
}

bool vp_fiber_resume(vp_fiber_t *fiber)
{
    void *fake_stack = NULL;

    leave_outside(fiber, &fake_stack);
    (void)swapcontext(&fiber->outside, &fiber->inside);
    arrive_outside(fake_stack);
    return fiber->done;
}

void vp_fiber_pause(vp_fiber_t *fiber)
{
    leave_inside(fiber);
    (void)swapcontext(&fiber->inside, &fiber->outside);
    arrive_inside(fiber);
}

void vp_fiber_destroy(vp_fiber_t *fiber)
{
    if (NULL == fiber) {
        return;
    }
    unwatch(fiber);
    if (NULL != fiber->memory) {
        (void)munmap(fiber->memory, STACK_BYTES);
    }
    free(fiber);
}
