/*
 * What a buffer is, without a driver and with the emulated one.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "coll_variopath/device.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/gpu/gpu.h"

enum { N_BYTES = 5000 };

static uint64_t at(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static vp_memory_t classify(const void *begin, size_t n_bytes)
{
    vp_memory_t memory;
    vp_error_t error;

    ck_assert_msg(vp_device_classify(at(begin), at(begin) + n_bytes, &memory, &error) == VP_OK,
                  "%s", error.text);
    return memory;
}

/* The program does not link the driver: it comes in late, as a runtime library brings it. */
static void load_driver(void)
{
    const char *why;

    ck_assert_msg(dlopen(VP_EMULATED_DRIVER, RTLD_NOW | RTLD_GLOBAL) != NULL, "%s", dlerror());
    why = gpu_open(1, 0);
    ck_assert_msg(why == NULL, "%s", why);
}

static void with_faults(const char *faults)
{
    ck_assert_int_eq(setenv("CUDA_EMU_FAULTS", faults, 1), 0);
    load_driver();
}

START_TEST(without_a_driver_all_memory_is_the_hosts)
{
    char bytes[16] = {0};
    vp_memory_t memory;

    ck_assert(!vp_device_present());
    memory = classify(bytes, sizeof(bytes));
    ck_assert_int_eq(memory.kind, VP_MEMORY_HOST);
    memory = classify(bytes, 0);
    ck_assert_int_eq(memory.kind, VP_MEMORY_NONE);
    memory = classify(NULL, 0);
    ck_assert_int_eq(memory.kind, VP_MEMORY_NONE);
}
END_TEST

START_TEST(a_driver_that_is_loaded_later_is_found)
{
    char bytes[16] = {0};

    (void)classify(bytes, sizeof(bytes));
    load_driver();
    ck_assert(vp_device_present());
    ck_assert_int_eq(classify(bytes, sizeof(bytes)).kind, VP_MEMORY_HOST);
    ck_assert_int_eq(classify(bytes, 0).kind, VP_MEMORY_NONE);
}
END_TEST

START_TEST(a_driver_before_its_initialisation_has_no_memory)
{
    char bytes[16] = {0};

    ck_assert_ptr_nonnull(dlopen(VP_EMULATED_DRIVER, RTLD_NOW | RTLD_GLOBAL));
    ck_assert(vp_device_present());
    ck_assert_int_eq(classify(bytes, sizeof(bytes)).kind, VP_MEMORY_HOST);
}
END_TEST

static const struct kind_case {
    char kind;
    vp_memory_kind_t expected;
    bool ipc;
    bool context;
} kind_cases[] = {
    {'h', VP_MEMORY_HOST, false, false},   {'p', VP_MEMORY_HOST, false, false},
    {'d', VP_MEMORY_DEVICE, true, true},   {'a', VP_MEMORY_DEVICE, false, false},
    {'v', VP_MEMORY_DEVICE, false, false}, {'m', VP_MEMORY_MANAGED, false, true},
};
enum { N_KIND_CASES = sizeof(kind_cases) / sizeof(kind_cases[0]) };

START_TEST(each_kind_of_memory_is_told_apart)
{
    const struct kind_case *expected = &kind_cases[_i];
    gpu_buffer_t buffer;
    vp_memory_t memory;

    load_driver();
    gpu_alloc(&buffer, expected->kind, N_BYTES);
    memory = classify(buffer.address + 1000, 500);
    ck_assert_str_eq(vp_memory_kind_text(memory.kind), vp_memory_kind_text(expected->expected));
    if (expected->expected != VP_MEMORY_HOST) {
        ck_assert_int_eq(memory.device, 1);
        ck_assert_int_eq(memory.ipc, expected->ipc);
        ck_assert_int_eq(memory.context != NULL, expected->context);
        ck_assert(memory.one_allocation);
        ck_assert_uint_ne(memory.buffer_id, 0);
    }
    gpu_free(&buffer);
}
END_TEST

START_TEST(bytes_pass_without_a_current_context)
{
    const struct kind_case *expected = &kind_cases[_i];
    char out[N_BYTES], in[N_BYTES], back[100];
    void *context;
    gpu_buffer_t buffer;
    vp_memory_t memory;
    vp_error_t error;
    int i;

    if (expected->expected == VP_MEMORY_HOST) {
        return;
    }
    for (i = 0; i < N_BYTES; i++) {
        out[i] = (char)(i * 7);
    }
    load_driver();
    gpu_alloc(&buffer, expected->kind, N_BYTES);
    gpu_put(&buffer, out);
    context = gpu_context();
    gpu_set_context(NULL);
    memory = classify(buffer.address, N_BYTES);
    ck_assert_msg(vp_device_read(&memory, back, at(buffer.address) + 300, sizeof(back), &error) ==
                      VP_OK,
                  "%s", error.text);
    ck_assert_mem_eq(back, out + 300, sizeof(back));
    memset(back, 1, sizeof(back));
    ck_assert_msg(vp_device_write(&memory, at(buffer.address) + 700, back, sizeof(back), &error) ==
                      VP_OK,
                  "%s", error.text);
    ck_assert_ptr_null(gpu_context());
    gpu_set_context(context);
    gpu_get(&buffer, in);
    memcpy(out + 700, back, sizeof(back));
    ck_assert_mem_eq(in, out, N_BYTES);
    gpu_free(&buffer);
}
END_TEST

START_TEST(a_range_beyond_its_allocation_is_seen)
{
    gpu_buffer_t buffer;

    load_driver();
    gpu_alloc(&buffer, 'd', N_BYTES);
    ck_assert(classify(buffer.address, N_BYTES).one_allocation);
    ck_assert(classify(buffer.address + N_BYTES - 1, 1).one_allocation);
    ck_assert(!classify(buffer.address, N_BYTES + 1).one_allocation);
    ck_assert(!classify(buffer.address + 1, N_BYTES).one_allocation);
    gpu_free(&buffer);
}
END_TEST

START_TEST(an_address_that_is_used_again_has_another_identity)
{
    gpu_buffer_t first, second;
    uint64_t id;

    load_driver();
    gpu_alloc(&first, 'd', N_BYTES);
    id = classify(first.address, N_BYTES).buffer_id;
    ck_assert_uint_eq(classify(first.address + 100, 1).buffer_id, id);
    gpu_free(&first);
    gpu_alloc(&second, 'd', N_BYTES);
    ck_assert_uint_ne(classify(second.address, N_BYTES).buffer_id, id);
    gpu_free(&second);
}
END_TEST

START_TEST(one_look_is_one_query)
{
    gpu_buffer_t buffer;
    long long before;

    load_driver();
    gpu_alloc(&buffer, 'd', N_BYTES);
    before = gpu_calls("cuPointerGetAttributes");
    (void)classify(buffer.address, N_BYTES);
    (void)classify(buffer.address, 0);
    ck_assert_int_eq(gpu_calls("cuPointerGetAttributes") - before, 1);
    ck_assert_int_eq(gpu_calls("cuPointerGetAttribute"), 0);
    ck_assert_int_eq(gpu_calls("cuMemGetAddressRange_v2"), 0);
    gpu_free(&buffer);
}
END_TEST

/* The emulated device's writes are not ordered, and the host can flush them. */
START_TEST(what_a_nic_wrote_is_flushed)
{
    gpu_buffer_t buffer;
    vp_memory_t memory;
    vp_error_t error;
    void *context;

    load_driver();
    gpu_alloc(&buffer, 'd', N_BYTES);
    memory = classify(buffer.address, N_BYTES);
    context = gpu_context();
    gpu_set_context(NULL);
    ck_assert_msg(vp_device_flush_writes(&memory, &error) == VP_OK, "%s", error.text);
    ck_assert_int_eq(gpu_calls("cuFlushGPUDirectRDMAWrites"), 1);
    ck_assert_ptr_null(gpu_context());
    gpu_set_context(context);
    gpu_free(&buffer);
}
END_TEST

START_TEST(a_driver_that_does_not_answer_is_an_error)
{
    gpu_buffer_t buffer;
    vp_memory_t memory = {.kind = VP_MEMORY_NONE};
    vp_error_t error;

    with_faults("cuPointerGetAttributes:nth=1,count=1,err=700");
    gpu_alloc(&buffer, 'd', N_BYTES);
    ck_assert_int_eq(
        vp_device_classify(at(buffer.address), at(buffer.address) + 1, &memory, &error),
        VP_ERR_DEVICE);
    ck_assert_msg(strstr(error.text, "illegal memory access") != NULL, "%s", error.text);
    ck_assert_int_eq(memory.kind, VP_MEMORY_NONE);
}
END_TEST

/* Drivers before 11.1 refuse the whole list when it holds an attribute they do not know. */
START_TEST(an_old_driver_is_asked_for_less)
{
    gpu_buffer_t buffer;
    vp_memory_t memory;

    with_faults("cuPointerGetAttributes:nth=1,count=1,err=1");
    gpu_alloc(&buffer, 'd', N_BYTES);
    memory = classify(buffer.address, 1);
    ck_assert_int_eq(memory.kind, VP_MEMORY_DEVICE);
    ck_assert_int_eq(memory.device, 1);
    ck_assert(!memory.ipc);
    ck_assert(!memory.one_allocation);
    ck_assert_int_eq(classify(buffer.address, 1).kind, VP_MEMORY_DEVICE);
    ck_assert_int_eq(gpu_calls("cuPointerGetAttributes"), 3);
}
END_TEST

static const char *const copy_faults[] = {
    "cuMemcpyDtoH_v2:nth=1,err=719",
    "cuMemcpyHtoD_v2:nth=1,err=719",
    "cuStreamSynchronize:nth=1,err=719",
    "cuCtxPushCurrent_v2:nth=1,err=201",
};

START_TEST(a_copy_that_fails_is_an_error_and_leaves_the_context_alone)
{
    gpu_buffer_t buffer;
    vp_memory_t memory;
    vp_error_t error;
    void *context;
    char byte = 1;
    bool failed;

    with_faults(copy_faults[_i]);
    gpu_alloc(&buffer, 'd', N_BYTES);
    memory = classify(buffer.address, N_BYTES);
    context = gpu_context();
    failed = vp_device_read(&memory, &byte, at(buffer.address), 1, &error) != VP_OK;
    failed = vp_device_write(&memory, at(buffer.address), &byte, 1, &error) != VP_OK || failed;
    ck_assert_msg(failed, "neither copy failed");
    ck_assert_int_eq(error.status, VP_ERR_DEVICE);
    ck_assert_ptr_eq(gpu_context(), context);
}
END_TEST

static Suite *device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *tcase = tcase_create("device");
    const char *fork = getenv("CK_FORK");

    tcase_add_test(tcase, without_a_driver_all_memory_is_the_hosts);
    tcase_add_test(tcase, a_driver_that_is_loaded_later_is_found);
    tcase_add_loop_test(tcase, each_kind_of_memory_is_told_apart, 0, N_KIND_CASES);
    tcase_add_loop_test(tcase, bytes_pass_without_a_current_context, 0, N_KIND_CASES);
    tcase_add_test(tcase, a_range_beyond_its_allocation_is_seen);
    tcase_add_test(tcase, an_address_that_is_used_again_has_another_identity);
    if (fork == NULL || strcmp(fork, "no") != 0) {
        /* These need a driver that was not initialised before. */
        tcase_add_test(tcase, a_driver_before_its_initialisation_has_no_memory);
        tcase_add_test(tcase, one_look_is_one_query);
        tcase_add_test(tcase, what_a_nic_wrote_is_flushed);
        tcase_add_test(tcase, a_driver_that_does_not_answer_is_an_error);
        tcase_add_test(tcase, an_old_driver_is_asked_for_less);
        tcase_add_loop_test(tcase, a_copy_that_fails_is_an_error_and_leaves_the_context_alone, 0,
                            sizeof(copy_faults) / sizeof(copy_faults[0]));
    }
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    char directory[] = "/dev/shm/vp_test_device.XXXXXX";
    SRunner *runner;
    int n_failed;
    char command[64];

    if (mkdtemp(directory) == NULL || setenv("CUDA_EMU_DIR", directory, 1) != 0 ||
        setenv("CUDA_EMU_GPUS", "2", 1) != 0) {
        return 99;
    }
    runner = srunner_create(device_suite());
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    (void)snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) != 0 || n_failed != 0;
}
