/*
 * Lanes between device buffers: UCX's CUDA transports on emulated devices. What
 * crossed which PCIe link is read from the emulator's counters.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll_variopath/device.h"
#include "coll_variopath/lanes.h"
#include "ranks.h"
#include "test/gpu/gpu.h"

enum { N_CLASSES = 2, PCIE = 0, NIC = 1, ADDRESS_BYTES = 512, KEYS_BYTES = 2048 };
/* More chunks than an inbox has slots for one sender. */
enum { N_BYTES = 5 << 20, EDGE = 4096 };

static const vp_path_class_t classes[N_CLASSES] = {
    {(char *)"pcie", (char *)"cuda_ipc,cuda_copy," RANKS_SHM_TLS, (char *)""},
    {(char *)"nic0", (char *)"tcp,cuda_copy", (char *)"lo"},
};
static const bool wanted[N_CLASSES] = {true, true};

static const struct put_case {
    uint32_t path;
    char from;
    char to;
    bool staged;       /* chunk by chunk through host memory */
    bool peer_to_peer; /* straight from device to device */
} cases[] = {
    {PCIE, 'd', 'd', false, true}, {PCIE, 'd', 'h', false, false}, {PCIE, 'h', 'd', false, false},
    {NIC, 'd', 'h', false, false}, {PCIE, 'd', 'd', true, false},  {PCIE, 'd', 'h', true, false},
    {PCIE, 'h', 'd', true, false}, {PCIE, 'h', 'h', true, false},  {NIC, 'd', 'd', true, false},
    {NIC, 'd', 'h', true, false},  {NIC, 'h', 'd', true, false},   {PCIE, 'm', 'v', true, false},
    {NIC, 'v', 'a', true, false},  {NIC, 'a', 'm', true, false},
};

typedef struct bulletin {
    size_t address_bytes[2][N_CLASSES];
    unsigned char address[2][N_CLASSES][ADDRESS_BYTES];
    size_t keys_bytes;
    unsigned char keys[KEYS_BYTES];
    uint64_t target;
} bulletin_t;

typedef struct setting {
    ranks_comm_t *comm;
    bulletin_t *bulletin;
    const struct put_case *put;
} setting_t;

static void progress(void *context)
{
    (void)vp_lanes_progress(context);
}

/* What UCX's CUDA modules need comes by name: it is there already. */
static const char *load_driver(void)
{
    static const char *const names[] = {"libcuda.so.1", "libnvidia-ml.so.1", "libcudart.so.13"};
    char path[512];
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", VP_EMULATED_LIBRARIES, names[i]);
        if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL) {
            return dlerror();
        }
    }
    return NULL;
}

static vp_status_t create(uint32_t rank, vp_lanes_t **lanes_p, vp_error_t *error)
{
    vp_lanes_config_t config = {.classes = classes,
                                .n_classes = N_CLASSES,
                                .wanted = wanted,
                                .estimated_peers = 2,
                                .place = rank,
                                .n_places = 2};

    return vp_lanes_create(&config, lanes_p, error);
}

static void tell_addresses(vp_lanes_t *lanes, uint32_t rank, bulletin_t *bulletin)
{
    vp_error_t error;
    uint32_t i;

    for (i = 0; i < N_CLASSES; i++) {
        const void *address;
        size_t n_bytes;

        RANKS_CHECK(vp_lanes_address(lanes, i, &address, &n_bytes, &error) == VP_OK, "%s",
                    error.text);
        RANKS_CHECK(n_bytes <= ADDRESS_BYTES, "an address of %zu bytes", n_bytes);
        memcpy(bulletin->address[rank][i], address, n_bytes);
        bulletin->address_bytes[rank][i] = n_bytes;
    }
}

static uint64_t link_bytes(const char *link)
{
    uint64_t (*ask)(const char *);

    *(void **)&ask = dlsym(RTLD_DEFAULT, "cuda_emu_link_bytes");
    RANKS_CHECK(ask != NULL, "the driver is not the emulated one");
    return ask(link);
}

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + (i >> 8) + 3);
}

static void run_put(vp_lanes_t *lanes, const setting_t *setting, const gpu_buffer_t *source)
{
    const bulletin_t *bulletin = setting->bulletin;
    uint32_t path = setting->put->path;
    vp_operation_t *operation = NULL;
    vp_window_t *window = NULL;
    vp_error_t error;
    bool done = false;

    RANKS_CHECK(vp_lanes_connect(lanes, 1, path, path, bulletin->address[1][path],
                                 bulletin->address_bytes[1][path], 10000, NULL, NULL,
                                 &error) == VP_OK,
                "%s", error.text);
    RANKS_CHECK((setting->put->staged ? vp_lanes_open_staged : vp_lanes_open_window)(
                    lanes, 1, path, path, bulletin->keys, bulletin->keys_bytes, &window, &error) ==
                    VP_OK,
                "%s", error.text);
    RANKS_CHECK(vp_lanes_put(lanes, window, source->address + EDGE, setting->put->from != 'h',
                             bulletin->target + EDGE, N_BYTES - 2 * EDGE, &operation,
                             &error) == VP_OK,
                "%s", error.text);
    while (!done) {
        RANKS_CHECK(vp_lanes_test(lanes, &operation, &done, &error) == VP_OK, "%s", error.text);
        (void)vp_lanes_progress(lanes);
    }
    vp_lanes_close_window(lanes, window);
}

static void check_target(const gpu_buffer_t *target)
{
    unsigned char *bytes = malloc(N_BYTES);
    size_t i;

    gpu_get(target, bytes);
    for (i = 0; i < N_BYTES; i++) {
        unsigned char expected = i < EDGE || i >= N_BYTES - EDGE ? 0xee : pattern(i);

        RANKS_CHECK(bytes[i] == expected, "byte %zu is %u, expected %u", i, bytes[i], expected);
    }
    free(bytes);
}

static void fill(const gpu_buffer_t *buffer, uint32_t rank)
{
    unsigned char *bytes = malloc(N_BYTES);
    size_t i;

    for (i = 0; i < N_BYTES; i++) {
        bytes[i] = rank == 0 ? pattern(i) : 0xee;
    }
    gpu_put(buffer, bytes);
    free(bytes);
}

static unsigned how_to_register(const struct put_case *put)
{
    unsigned how = put->staged ? VP_REGION_STAGED : 0;

    how |= put->to == 'h' ? 0 : VP_REGION_DEVICE;
    return how | (strchr("mva", put->to) != NULL ? VP_REGION_NO_PUT : 0);
}

static void body_put(uint32_t rank, void *argument)
{
    const setting_t *setting = argument;
    vp_region_t *region = NULL;
    const char *why = load_driver();
    ranks_member_t member = {.comm = setting->comm, .rank = rank, .progress = progress};
    gpu_buffer_t buffer;
    uint64_t before;
    const void *keys;
    vp_lanes_t *lanes;
    vp_error_t error;

    RANKS_CHECK(why == NULL, "%s", why);
    why = gpu_open((int)rank, 0);
    RANKS_CHECK(why == NULL, "%s", why);
    gpu_alloc(&buffer, rank == 0 ? setting->put->from : setting->put->to, N_BYTES);
    fill(&buffer, rank);
    RANKS_CHECK(create(rank, &lanes, &error) == VP_OK, "%s", error.text);
    member.progress_context = lanes;
    tell_addresses(lanes, rank, setting->bulletin);
    if (rank == 1) {
        RANKS_CHECK(vp_lanes_register(lanes, buffer.address, N_BYTES, how_to_register(setting->put),
                                      &region, &error) == VP_OK,
                    "%s", error.text);
        keys = vp_region_keys(region, &setting->bulletin->keys_bytes);
        RANKS_CHECK(setting->bulletin->keys_bytes <= KEYS_BYTES, "keys of %zu bytes",
                    setting->bulletin->keys_bytes);
        memcpy(setting->bulletin->keys, keys, setting->bulletin->keys_bytes);
        setting->bulletin->target = (uint64_t)(uintptr_t)buffer.address;
    }
    ranks_barrier(&member);
    before = link_bytes("a>b");
    ranks_barrier(&member);
    if (rank == 0) {
        run_put(lanes, setting, &buffer);
    }
    ranks_barrier(&member);
    RANKS_EQUAL(link_bytes("a>b") - before, setting->put->peer_to_peer ? N_BYTES - 2 * EDGE : 0);
    ranks_barrier(&member);
    if (rank == 1) {
        check_target(&buffer);
    }
    vp_lanes_unregister(lanes, region);
    ranks_barrier(&member);
    vp_lanes_close(lanes);
    ranks_barrier(&member);
    vp_lanes_destroy(lanes);
    gpu_free(&buffer);
}

START_TEST(bytes_arrive_over_the_path_that_was_chosen)
{
    setting_t setting = {.comm = ranks_comm_create(2),
                         .bulletin = ranks_share(sizeof(bulletin_t)),
                         .put = &cases[_i]};

    ranks_run(2, body_put, &setting);
    ranks_unshare(setting.bulletin, sizeof(bulletin_t));
    ranks_comm_destroy(setting.comm);
}
END_TEST

/* A UCX without CUDA refuses the class. In a process of its own: the driver would not survive. */
static void probe(char *why)
{
    const char *driver = load_driver();
    vp_lanes_t *lanes;
    vp_error_t error;

    if (driver == NULL) {
        driver = gpu_open(0, 0);
    }
    if (driver != NULL) {
        (void)snprintf(why, VP_ERROR_TEXT_BYTES, "%s", driver);
    } else if (create(0, &lanes, &error) != VP_OK) {
        (void)snprintf(why, VP_ERROR_TEXT_BYTES, "%s", error.text);
    } else {
        if (!vp_lanes_put_device(lanes)) {
            (void)snprintf(why, VP_ERROR_TEXT_BYTES, "this UCX has no CUDA transports");
        }
        vp_lanes_destroy(lanes);
    }
}

static int run_suite(void)
{
    Suite *suite = suite_create("device lanes");
    TCase *tcase = tcase_create("device lanes");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, bytes_arrive_over_the_path_that_was_chosen, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed;
}

static bool write_description(const char *directory)
{
    char path[96];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/devices", directory);
    file = fopen(path, "w");
    if (file == NULL || setenv("CUDA_EMU_TOPO", path, 1) != 0 ||
        setenv("CUDA_EMU_DIR", directory, 1) != 0) {
        return false;
    }
    (void)fprintf(file, "gpu 0\ngpu 1\nlink a>b bw=0\npath 0 1 a>b\n");
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    char directory[] = "/dev/shm/vp_test_lanes.XXXXXX", command[64];
    char *why =
        mmap(NULL, VP_ERROR_TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int n_failed = 0, status;
    pid_t child;

    (void)argc;

    if (getenv("UCX_MEMTYPE_CACHE") == NULL) {
        /*
         * UCX reads it when it is loaded. Without the cache it asks the driver, so that its
         * hooks, which may need a runtime library of another name, do not matter.
         */
        (void)setenv("UCX_MEMTYPE_CACHE", "n", 1);
        (void)execv("/proc/self/exe", argv);
        return 99;
    }
    if (why == MAP_FAILED || mkdtemp(directory) == NULL || !write_description(directory)) {
        return 99;
    }
    child = fork();
    if (child == 0) {
        probe(why);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        return 99;
    }
    if (why[0] != '\0') {
        (void)printf("skipped: %s\n", why);
    } else {
        n_failed = run_suite();
    }
    (void)snprintf(command, sizeof(command), "rm -rf %s", directory);
    if (system(command) != 0 || n_failed != 0) {
        return 1;
    }
    return why[0] == '\0' ? 0 : 77;
}
