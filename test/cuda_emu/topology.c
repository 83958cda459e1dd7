/*
 * The description of devices and links that `describe` writes from a topology,
 * and the state that the processes of a session share.
 *
 * One statement per line, # begins a comment:
 *   node NAME                     what follows holds for that node only
 *   gpu N key=value...            pci=DDDD:BB:SS.0 mem=4G cc=8.0 numa=0 nvlinks=N uuid=32 digits
 *   link NAME bw=200M [lat=US]    one direction; bw=0: no limit
 *                 [share=PPM,...]  what is left of bw with 1, 2, ... sources, the last for more
 *   path SRC DST LINK[,LINK...]   SRC, DST: a gpu number or "host"
 *   nop2p A B | nop2p all         no peer access between A and B
 *   set ipc=0 vmm=1 pools=1 fabric=0 dmabuf=0 driver=13000
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/emu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int64_t emu_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static double number_with_suffix(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    switch (tolower((unsigned char)*end)) {
    case 'k':
        return value * 1e3;
    case 'm':
        return value * 1e6;
    case 'g':
        return value * 1e9;
    case 't':
        return value * 1e12;
    default:
        return value;
    }
}

static void set_gpu_defaults(const emu_topo_t *t, emu_gpu_t *gpu, int index)
{
    uint64_t hash = 1469598103934665603ull;

    for (const char *n = t->node; *n; ++n) {
        hash = (hash ^ (uint8_t)*n) * 1099511628211ull;
    }
    memset(gpu, 0, sizeof(*gpu));
    snprintf(gpu->name, sizeof(gpu->name), "Emulated CUDA device");
    memcpy(gpu->uuid, &hash, 8);
    gpu->uuid[8] = 0xfa;
    gpu->uuid[15] = (uint8_t)index;
    gpu->bus = 0x10 + index;
    gpu->mem = (size_t)1 << 30;
    gpu->cc_major = 8;
    gpu->numa = -1;
}

static int find_link(const emu_topo_t *t, const char *name)
{
    for (int i = 0; i < t->nlink; ++i) {
        if (strcmp(t->link[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static int endpoint(const char *text)
{
    if (!text) {
        return -1;
    }
    if (strcmp(text, "host") == 0) {
        return EMU_HOST;
    }
    return isdigit((unsigned char)*text) && atoi(text) < EMU_MAXGPU ? atoi(text) : -1;
}

static char *next_word(char **rest_p)
{
    return strtok_r(NULL, " \t\n", rest_p);
}

static int read_uuid(const char *text, uint8_t *uuid)
{
    for (int k = 0; k < 16; ++k) {
        unsigned byte;

        if (sscanf(text + 2 * k, "%2x", &byte) != 1) {
            return -1;
        }
        uuid[k] = (uint8_t)byte;
    }
    return 0;
}

static int read_gpu_key(emu_gpu_t *gpu, const char *key)
{
    if (sscanf(key, "pci=%x:%x:%x", &gpu->domain, &gpu->bus, &gpu->slot) == 3 ||
        sscanf(key, "cc=%d.%d", &gpu->cc_major, &gpu->cc_minor) == 2 ||
        sscanf(key, "numa=%d", &gpu->numa) == 1 || sscanf(key, "nvlinks=%d", &gpu->nvlinks) == 1 ||
        sscanf(key, "name=%95s", gpu->name) == 1) {
        return 0;
    }
    if (strncmp(key, "mem=", 4) == 0) {
        gpu->mem = (size_t)number_with_suffix(key + 4);
        return 0;
    }
    return strncmp(key, "uuid=", 5) == 0 ? read_uuid(key + 5, gpu->uuid) : -1;
}

static int read_gpu(emu_topo_t *t, char **rest_p)
{
    int i = endpoint(next_word(rest_p));

    if (i < 0 || i >= EMU_MAXGPU) {
        return -1;
    }
    for (; t->ngpu <= i; ++t->ngpu) {
        set_gpu_defaults(t, &t->gpu[t->ngpu], t->ngpu);
    }
    for (char *key; (key = next_word(rest_p));) {
        if (read_gpu_key(&t->gpu[i], key)) {
            return -1;
        }
    }
    return 0;
}

static int read_shares(emu_link_t *link, char *list)
{
    char *rest = NULL;

    for (char *ppm = strtok_r(list, ",", &rest); ppm; ppm = strtok_r(NULL, ",", &rest)) {
        if (link->nshare == EMU_MAXSHARE || atof(ppm) <= 0) {
            return -1;
        }
        link->share[link->nshare++] = atof(ppm) / 1e6;
    }
    return link->nshare ? 0 : -1;
}

static int read_link(emu_topo_t *t, char **rest_p)
{
    emu_link_t *link = &t->link[t->nlink];
    const char *name = next_word(rest_p);

    if (!name || t->nlink == EMU_MAXLINK || strlen(name) >= sizeof(link->name)) {
        return -1;
    }
    snprintf(link->name, sizeof(link->name), "%s", name);
    for (char *key; (key = next_word(rest_p));) {
        if (strncmp(key, "bw=", 3) == 0) {
            link->bw = number_with_suffix(key + 3);
        } else if (strncmp(key, "lat=", 4) == 0) {
            link->lat_ns = atof(key + 4) * 1e3;
        } else if (strncmp(key, "share=", 6) == 0) {
            if (read_shares(link, key + 6)) {
                return -1;
            }
        } else {
            return -1;
        }
    }
    ++t->nlink;
    return 0;
}

static int read_path(emu_topo_t *t, char **rest_p)
{
    int from = endpoint(next_word(rest_p)), to = endpoint(next_word(rest_p));
    char *list = next_word(rest_p), *rest = NULL;
    emu_path_t *path;

    if (from < 0 || to < 0 || !list) {
        return -1;
    }
    path = &t->path[from][to];
    path->n = 0;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        int link = find_link(t, name);

        if (link < 0 || path->n == EMU_MAXHOP) {
            return -1;
        }
        path->link[path->n++] = link;
    }
    return 0;
}

static int read_no_peers(emu_topo_t *t, char **rest_p)
{
    const char *first = next_word(rest_p);
    int a, b;

    if (first && strcmp(first, "all") == 0) {
        memset(t->nop2p, 1, sizeof(t->nop2p));
        return 0;
    }
    a = endpoint(first);
    b = endpoint(next_word(rest_p));
    if (a < 0 || b < 0 || a == EMU_HOST || b == EMU_HOST) {
        return -1;
    }
    t->nop2p[a][b] = t->nop2p[b][a] = 1;
    return 0;
}

static int read_settings(emu_topo_t *t, char **rest_p)
{
    for (char *key; (key = next_word(rest_p));) {
        if (sscanf(key, "ipc=%d", &t->ipc) != 1 && sscanf(key, "vmm=%d", &t->vmm) != 1 &&
            sscanf(key, "pools=%d", &t->pools) != 1 && sscanf(key, "fabric=%d", &t->fabric) != 1 &&
            sscanf(key, "dmabuf=%d", &t->dmabuf) != 1 &&
            sscanf(key, "driver=%d", &t->driver_version) != 1) {
            return -1;
        }
    }
    return 0;
}

/* *mine_p: do the statements hold for this process's node? */
static int read_line(emu_topo_t *t, char *line, int *mine_p)
{
    static const struct {
        const char *word;
        int (*read)(emu_topo_t *t, char **rest_p);
    } statements[] = {{"gpu", read_gpu},
                      {"link", read_link},
                      {"path", read_path},
                      {"nop2p", read_no_peers},
                      {"set", read_settings}};
    char *rest = NULL, *word = strtok_r(line, " \t\n", &rest);

    if (!word) {
        return 0;
    }
    if (strcmp(word, "node") == 0) {
        const char *name = next_word(&rest);

        *mine_p = name && strcmp(name, t->node) == 0;
        return name ? 0 : -1;
    }
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); ++i) {
        if (strcmp(word, statements[i].word) == 0) {
            return *mine_p ? statements[i].read(t, &rest) : 0;
        }
    }
    return -1;
}

static int read_file(emu_topo_t *t, const char *name)
{
    FILE *f = fopen(name, "re");
    char line[1024];
    int number = 0, mine = 1, code = 0;

    if (!f) {
        fprintf(stderr, "cuda_emu: %s: %s\n", name, strerror(errno));
        return -1;
    }
    while (code == 0 && fgets(line, sizeof(line), f)) {
        ++number;
        line[strcspn(line, "#")] = '\0';
        code = read_line(t, line, &mine);
    }
    fclose(f);
    if (code) {
        fprintf(stderr, "cuda_emu: %s:%d: cannot read this line\n", name, number);
    }
    return code;
}

int emu_topo_load(emu_topo_t *t)
{
    const char *file = getenv("CUDA_EMU_TOPO"), *n = getenv("CUDA_EMU_GPUS");
    const char *node = getenv("CUDA_EMU_NODE");

    memset(t, 0, sizeof(*t));
    snprintf(t->node, sizeof(t->node), "%s", node ? node : "node0");
    t->ipc = t->vmm = t->pools = 1;
    t->driver_version = 13000;
    if (file) {
        return read_file(t, file);
    }
    for (int i = 0; i < (n ? atoi(n) : 0) && i < EMU_MAXGPU; ++i, ++t->ngpu) {
        set_gpu_defaults(t, &t->gpu[i], i);
    }
    return 0;
}

emu_shared_t *emu_shared_open(const emu_topo_t *t)
{
    char dir[256], path[400];
    const char *d = getenv("CUDA_EMU_DIR");
    void *p;
    int fd;

    if (d) {
        snprintf(dir, sizeof(dir), "%s", d);
    } else {
        snprintf(dir, sizeof(dir), "/dev/shm/cuda_emu.%u", (unsigned)getuid());
    }
    mkdir(dir, 0700);
    snprintf(path, sizeof(path), "%s/state.%s", dir, t->node);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(emu_shared_t))) {
        fprintf(stderr, "cuda_emu: %s: %s\n", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    /* The raw call: libc's is hooked by UCX. All zeroes is a valid first state. */
    p = (void *)syscall(SYS_mmap, NULL, sizeof(emu_shared_t), PROT_READ | PROT_WRITE, MAP_SHARED,
                        fd, 0L);
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}
