/*
 * Cache file: "VPNODE\r\n", u32 version, u64 fingerprint, u64 checksum of what
 * follows; u8 outcome, then the facts or the text of a refusal.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include "catalog/import/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "catalog/import/facts.h"
#include "catalog/import/import.h"

#define MAGIC "VPNODE\r\n"
enum { VERSION = 1, HEADER_BYTES = 8 + 4 + 8 + 8, OUTCOME_FACTS = 0, OUTCOME_REFUSAL = 1 };
/* How long a process waits for another one's discovery before it starts its own. */
enum { WAIT_STEPS = 300, WAIT_STEP_NS = 10 * 1000 * 1000 };

/* The environment that changes what hwloc finds. */
static const char *const environment[] = {
    "HWLOC_XMLFILE",    "HWLOC_FSROOT",       "HWLOC_COMPONENTS", "HWLOC_SYNTHETIC",
    "HWLOC_CPUID_PATH", "HWLOC_PCI_LOCALITY", "HWLOC_THISSYSTEM"};

/* Whose cache it is: the host and what hwloc is told. */
static void write_owner(vp_writer_t *writer)
{
    char host[256] = "";
    size_t i;

    (void)gethostname(host, sizeof(host) - 1);
    vp_write_string(writer, host);
    for (i = 0; i < sizeof(environment) / sizeof(environment[0]); i++) {
        vp_write_string(writer, getenv(environment[i]));
    }
}

/* The names in the folder, in any order the same: the sum of their hashes, and how many. */
static void write_folder(vp_writer_t *writer, const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    uint64_t sum = 0;
    uint64_t n = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        sum += vp_hash64(entry->d_name, strlen(entry->d_name));
        n++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    vp_write_u64(writer, sum);
    vp_write_u64(writer, n);
}

static void write_file(vp_writer_t *writer, const char *path, bool has_contents)
{
    struct stat facts;
    vp_error_t ignored;
    char *text = NULL;
    size_t n_bytes;

    if (has_contents && vp_file_read(path, 4096, &text, &n_bytes, &ignored) == VP_OK) {
        vp_write_string(writer, text);
    }
    free(text);
    if (!has_contents && stat(path, &facts) == 0) {
        vp_write_u64(writer, (uint64_t)facts.st_size);
        vp_write_u64(writer, (uint64_t)facts.st_mtim.tv_sec);
        vp_write_u64(writer, (uint64_t)facts.st_mtim.tv_nsec);
    }
}

/* Everything that discovery depends on and that costs little to look at. */
static void write_state(vp_writer_t *writer)
{
    const char *xml = getenv("HWLOC_XMLFILE");

    vp_write_u32(writer, VERSION);
    vp_write_string(writer, VP_VERSION);
    write_owner(writer);
    write_file(writer, "/proc/sys/kernel/random/boot_id", true);
    write_folder(writer, "/sys/bus/pci/devices");
    write_folder(writer, "/sys/class/infiniband");
    write_folder(writer, "/sys/class/net");
    if (xml != NULL) {
        write_file(writer, xml, false);
    }
}

static bool hash_of(void (*write)(vp_writer_t *writer), uint64_t *hash_p)
{
    vp_writer_t writer = VP_WRITER_INIT;
    bool is_whole;

    write(&writer);
    is_whole = !writer.failed;
    *hash_p = is_whole ? vp_hash64(writer.data, writer.n_bytes) : 0;
    vp_writer_clear(&writer);
    return is_whole;
}

/* In a folder that others can write into they could put links in the place of the cache. */
static bool is_private(const char *path)
{
    struct stat facts;

    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Makes the folder of the cache; false: there is no place for one. */
static bool make_folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    size_t n_bytes;

    if (cache != NULL && cache[0] == '/') {
        (void)snprintf(path, size, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        (void)snprintf(path, size, "%s/.cache", home);
    } else {
        return false;
    }
    n_bytes = strlen(path);
    (void)mkdir(path, 0700);
    if (n_bytes + sizeof("/variopath") > size) {
        return false;
    }
    (void)snprintf(path + n_bytes, size - n_bytes, "/variopath");
    (void)mkdir(path, 0700);
    return is_private(path);
}

static void find_path(vp_discovery_t *discovery)
{
    char folder[VP_DISCOVERY_PATH_BYTES - 64];
    uint64_t owner;

    if (make_folder(folder, sizeof(folder)) && hash_of(write_owner, &owner)) {
        (void)snprintf(discovery->path, sizeof(discovery->path), "%s/node-%016" PRIx64 ".vpnode",
                       folder, owner);
    }
}

/* Takes the outcome over when it is sound. */
static bool take_outcome(vp_discovery_t *discovery, const uint8_t *data, size_t n_bytes)
{
    vp_hardware_t *machine;
    vp_error_t ignored;

    if (n_bytes > 1 && data[0] == OUTCOME_REFUSAL && n_bytes <= sizeof(discovery->refusal)) {
        memcpy(discovery->refusal, data + 1, n_bytes - 1);
        discovery->refusal[n_bytes - 1] = '\0';
        return true;
    }
    if (n_bytes < 1 || data[0] != OUTCOME_FACTS ||
        vp_facts_read(data + 1, n_bytes - 1, "cache", &machine, &ignored) != VP_OK) {
        return false;
    }
    vp_hardware_destroy(machine);
    discovery->facts = malloc(n_bytes - 1);
    if (discovery->facts == NULL) {
        return false;
    }
    memcpy(discovery->facts, data + 1, n_bytes - 1);
    discovery->n_bytes = n_bytes - 1;
    return true;
}

static bool read_cache(vp_discovery_t *discovery, uint64_t fingerprint)
{
    vp_error_t ignored;
    vp_reader_t reader;
    char magic[8];
    char *text;
    size_t n_bytes;
    bool is_good;

    if (vp_file_read(discovery->path, VP_DISCOVERY_MAX_BYTES, &text, &n_bytes, &ignored) != VP_OK) {
        return false;
    }
    vp_reader_init(&reader, text, n_bytes);
    vp_read_bytes(&reader, magic, sizeof(magic));
    is_good = vp_read_u32(&reader) == VERSION && vp_read_u64(&reader) == fingerprint &&
              memcmp(magic, MAGIC, sizeof(magic)) == 0;
    is_good = is_good &&
              vp_read_u64(&reader) == vp_hash64(text + reader.position, vp_reader_left(&reader)) &&
              !reader.failed;
    if (is_good) {
        is_good =
            take_outcome(discovery, (const uint8_t *)text + HEADER_BYTES, n_bytes - HEADER_BYTES);
    }
    free(text);
    return is_good;
}

/* A cache that cannot be written is none. */
static bool write_cache(const vp_discovery_t *discovery, uint64_t fingerprint)
{
    vp_writer_t body = VP_WRITER_INIT;
    vp_writer_t writer = VP_WRITER_INIT;
    vp_error_t ignored;
    bool is_written;

    vp_write_u8(&body, discovery->facts != NULL ? OUTCOME_FACTS : OUTCOME_REFUSAL);
    if (discovery->facts != NULL) {
        vp_write_bytes(&body, discovery->facts, discovery->n_bytes);
    } else {
        vp_write_bytes(&body, discovery->refusal, strlen(discovery->refusal));
    }
    vp_write_bytes(&writer, MAGIC, 8);
    vp_write_u32(&writer, VERSION);
    vp_write_u64(&writer, fingerprint);
    vp_write_u64(&writer, body.failed ? 0 : vp_hash64(body.data, body.n_bytes));
    vp_write_bytes(&writer, body.data, body.n_bytes);
    is_written = !body.failed && !writer.failed &&
                 vp_file_write(discovery->path, writer.data, writer.n_bytes, &ignored) == VP_OK;
    vp_writer_clear(&body);
    vp_writer_clear(&writer);
    return is_written;
}

/* Keeps what is wrong, without the remedy: that is for those who import files. */
static void refuse(vp_discovery_t *discovery, const char *text)
{
    static const char place[] = "this machine: ";
    size_t n_bytes;

    text += strncmp(text, place, sizeof(place) - 1) == 0 ? sizeof(place) - 1 : 0;
    n_bytes = strcspn(text, ";");
    if (n_bytes >= sizeof(discovery->refusal)) {
        n_bytes = sizeof(discovery->refusal) - 1;
    }
    memcpy(discovery->refusal, text, n_bytes);
    discovery->refusal[n_bytes] = '\0';
}

/* Asks hwloc. What it cannot tell becomes the refusal, which may be different the next time. */
static vp_status_t discover(vp_discovery_t *discovery, bool *is_lasting_p, vp_error_t *error)
{
    vp_writer_t writer = VP_WRITER_INIT;
    vp_hardware_t *machine;
    vp_error_t cause = {.text = ""};
    vp_status_t status = vp_import_live(true, &machine, &cause);

    if (status == VP_ERR_NO_MEMORY) {
        return vp_error_no_memory(error, "the discovery of this node");
    }
    *is_lasting_p = status == VP_OK || status == VP_ERR_BAD_INPUT || status == VP_ERR_LIMIT;
    if (status != VP_OK) {
        refuse(discovery, cause.text);
        return VP_OK;
    }
    vp_facts_write(&writer, machine);
    vp_hardware_destroy(machine);
    if (writer.failed) {
        vp_writer_clear(&writer);
        return vp_error_no_memory(error, "the facts of this node");
    }
    discovery->facts = writer.data;
    discovery->n_bytes = writer.n_bytes;
    return VP_OK;
}

/*
 * Waits until the cache is good, or the lock ours; then, or when that takes too long,
 * or locks do not work here, the caller discovers. Returns whether the cache is good.
 */
static bool wait_for_cache(vp_discovery_t *discovery, uint64_t fingerprint, int lock)
{
    const struct timespec pause = {.tv_nsec = WAIT_STEP_NS};
    int i;

    for (i = 0; i < WAIT_STEPS; i++) {
        if (read_cache(discovery, fingerprint)) {
            return true;
        }
        if (lock < 0) {
            return false;
        }
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
            /* Whoever had the lock before may have written it since. */
            return read_cache(discovery, fingerprint);
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* The lock is a file of its own, as the cache is replaced; it stays. */
static int open_lock(const char *path)
{
    char lock[VP_DISCOVERY_PATH_BYTES + 8];

    (void)snprintf(lock, sizeof(lock), "%s.lock", path);
    return open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static vp_status_t discover_or_wait(vp_discovery_t *discovery, uint64_t fingerprint,
                                    vp_error_t *error)
{
    int lock = open_lock(discovery->path);
    bool is_lasting = false;
    vp_status_t status = VP_OK;

    if (wait_for_cache(discovery, fingerprint, lock)) {
        discovery->source = VP_DISCOVERY_CACHED;
    } else {
        status = discover(discovery, &is_lasting, error);
        discovery->source = status == VP_OK && is_lasting && write_cache(discovery, fingerprint)
                                ? VP_DISCOVERY_NEW
                                : VP_DISCOVERY_UNCACHED;
    }
    if (lock >= 0) {
        (void)close(lock); /* unlocks */
    }
    return status;
}

vp_status_t vp_discover_node(vp_discovery_t *discovery, vp_error_t *error)
{
    uint64_t fingerprint;
    bool is_lasting;
    vp_status_t status = VP_OK;

    *discovery = (vp_discovery_t){.source = VP_DISCOVERY_UNCACHED};
    find_path(discovery);
    if (discovery->path[0] == '\0' || !hash_of(write_state, &fingerprint)) {
        status = discover(discovery, &is_lasting, error);
    } else if (read_cache(discovery, fingerprint)) {
        discovery->source = VP_DISCOVERY_CACHED;
    } else {
        status = discover_or_wait(discovery, fingerprint, error);
    }
    if (status != VP_OK) {
        vp_discovery_clear(discovery);
        return status;
    }
    discovery->hash =
        discovery->facts == NULL ? 0 : vp_hash64(discovery->facts, discovery->n_bytes);
    return VP_OK;
}

void vp_discovery_clear(vp_discovery_t *discovery)
{
    free(discovery->facts);
    *discovery = (vp_discovery_t){.facts = NULL};
}
