/*
 * One archive to attach to a report. Every text goes through a filter that takes
 * the names of this host and of its user out; what cannot go through it, as a
 * binary catalog, is left out.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <ctype.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/outside.h"

enum { MAX_NAMES = 12, NAME_BYTES = 256, MAX_TRACE_BYTES = 64 << 20, TAR_MS = 60000 };

typedef struct names {
    char from[MAX_NAMES][NAME_BYTES];
    const char *to[MAX_NAMES];
    size_t n;
} names_t;

static void add_name(names_t *names, const char *from, const char *to)
{
    /* Everybody is root somewhere; a letter or two would hit common words. */
    if (from == NULL || strlen(from) < 2 || strlen(from) >= NAME_BYTES ||
        strcmp(from, "root") == 0 || strcmp(from, "localhost") == 0 || names->n == MAX_NAMES) {
        return;
    }
    (void)snprintf(names->from[names->n], NAME_BYTES, "%s", from);
    names->to[names->n++] = to;
}

static void find_names(names_t *names)
{
    char host[NAME_BYTES] = "";
    const struct passwd *user = getpwuid(getuid());

    names->n = 0;
    (void)gethostname(host, sizeof(host) - 1);
    add_name(names, getenv("HOME"), "HOME"); /* before the user's name, which it holds */
    add_name(names, user == NULL ? NULL : user->pw_dir, "HOME");
    add_name(names, host, "HOST");
    host[strcspn(host, ".")] = '\0';
    add_name(names, host, "HOST");
    add_name(names, getenv("HOSTNAME"), "HOST");
    add_name(names, getenv("SLURMD_NODENAME"), "HOST");
    add_name(names, user == NULL ? NULL : user->pw_name, "USER");
    add_name(names, getenv("USER"), "USER");
    add_name(names, getenv("LOGNAME"), "USER");
    add_name(names, getenv("SUDO_USER"), "USER");
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The name that stands at text[at] as a word; names->n: none. */
static size_t name_at(const names_t *names, const char *text, size_t at)
{
    size_t i;

    for (i = 0; i < names->n; i++) {
        size_t n = strlen(names->from[i]);

        if (strncmp(text + at, names->from[i], n) == 0 && !is_word(text[at + n]) &&
            (at == 0 || !is_word(names->from[i][0]) || !is_word(text[at - 1]))) {
            return i;
        }
    }
    return names->n;
}

char *vp_doctor_scrub(const char *text)
{
    vp_writer_t out = VP_WRITER_INIT;
    names_t names;
    size_t at = 0;

    find_names(&names);
    while (text[at] != '\0') {
        size_t name = name_at(&names, text, at);

        if (name < names.n) {
            vp_write_bytes(&out, names.to[name], strlen(names.to[name]));
            at += strlen(names.from[name]);
        } else {
            vp_write_u8(&out, (uint8_t)text[at++]);
        }
    }
    vp_write_u8(&out, 0);
    if (out.failed) {
        vp_writer_clear(&out);
        return NULL;
    }
    return (char *)out.data;
}

static vp_status_t put(const char *folder, const char *name, const char *text, vp_error_t *error)
{
    char *clean = vp_doctor_scrub(text == NULL ? "" : text);
    char path[4096];
    vp_status_t status;

    if (clean == NULL) {
        return vp_error_no_memory(error, "the bundle");
    }
    (void)snprintf(path, sizeof(path), "%s/variopath-report/%s", folder, name);
    status = vp_file_write(path, clean, strlen(clean), error);
    free(clean);
    return status;
}

static vp_status_t put_findings(const vp_doctor_t *doctor, const char *folder, vp_error_t *error)
{
    json_t *root = vp_doctor_pack(doctor);
    char *text = root == NULL ? NULL : json_dumps(root, JSON_INDENT(2));
    vp_status_t status = text == NULL ? vp_error_no_memory(error, "the bundle")
                                      : put(folder, "findings.json", text, error);

    free(text);
    json_decref(root);
    return status;
}

/* A catalog is derived from its topology: its facts say all of it that another machine needs. */
static vp_status_t put_catalog(const vp_doctor_t *doctor, const char *folder, vp_error_t *error)
{
    char text[512];
    const vp_model_t *model = doctor->model;

    if (model == NULL) {
        return put(folder, "catalog.txt", "no topology, so no catalog\n", error);
    }
    (void)snprintf(text, sizeof(text),
                   "topology %s, rates %s, transports %s\nnodes %u\nranks %u\ngroups %u\nNICs "
                   "%u\nresources %u\ninstances %u\nalpha_ns %llu\n",
                   model->name, model->rates, model->transport, model->n_nodes, model->n_ranks,
                   model->n_groups, model->n_nics, model->n_resources, model->n_instances,
                   (unsigned long long)model->alpha_ns);
    return put(folder, "catalog.txt", text, error);
}

static vp_status_t put_trace(const char *trace, const char *folder, vp_error_t *error)
{
    char *text = NULL;
    size_t n_bytes = 0;
    vp_status_t status;

    if (trace == NULL) {
        return VP_OK;
    }
    status = vp_file_read(trace, MAX_TRACE_BYTES, &text, &n_bytes, error);
    if (status == VP_OK) {
        status = put(folder, "trace", text, error);
    }
    free(text);
    return status;
}

static vp_status_t fill(const vp_doctor_t *doctor, const char *trace, const char *folder,
                        vp_error_t *error)
{
    vp_status_t status = put_findings(doctor, folder, error);

    if (status == VP_OK) {
        status = put(folder, "versions.txt", doctor->versions, error);
    }
    if (status == VP_OK) {
        status = put(folder, "parameters.txt", doctor->parameters, error);
    }
    if (status == VP_OK && doctor->topology != NULL) {
        status = put(folder, "topology.json", doctor->topology, error);
    }
    if (status == VP_OK) {
        status = put_catalog(doctor, folder, error);
    }
    return status == VP_OK ? put_trace(trace, folder, error) : status;
}

/* Through memory, so that the archive appears whole or not at all; owners are numbers, 0. */
static vp_status_t pack(const char *folder, const char *path, vp_error_t *error)
{
    char archive[4096];
    char *data = NULL;
    char *text = NULL;
    size_t n_bytes = 0;
    vp_status_t status;
    vp_outcome_t outcome;

    (void)snprintf(archive, sizeof(archive), "%s/report.tar.gz", folder);
    outcome = vp_outside_run(
        (char *[]){(char *)"tar", (char *)"-C", (char *)folder, (char *)"--sort=name",
                   (char *)"--owner=0", (char *)"--group=0", (char *)"--numeric-owner",
                   (char *)"--mtime=@0", (char *)"-czf", archive, (char *)"variopath-report", NULL},
        TAR_MS, &text);
    free(text);
    if (outcome != VP_OUTCOME_DONE) {
        return vp_error_set(error, VP_ERR_IO,
                            "tar %s, so there is no bundle; is there a tar with gzip, and room in "
                            "the folder for temporary files?",
                            vp_outcome_text(outcome));
    }
    status = vp_file_read(archive, SIZE_MAX / 2, &data, &n_bytes, error);
    if (status == VP_OK) {
        status = vp_file_write(path, data, n_bytes, error);
    }
    free(data);
    return status;
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"findings.json", "versions.txt", "parameters.txt",
                                        "topology.json", "catalog.txt",  "trace"};
    char path[4096];
    size_t i;

    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/variopath-report/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof(path), "%s/variopath-report", folder);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/report.tar.gz", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

vp_status_t vp_doctor_bundle(const vp_doctor_t *doctor, const char *trace, const char *path,
                             vp_error_t *error)
{
    const char *temporary = getenv("TMPDIR");
    char folder[2048];
    char inner[4096];
    vp_status_t status;

    (void)snprintf(folder, sizeof(folder), "%.2000s/variopath-XXXXXX",
                   temporary == NULL || temporary[0] == '\0' ? "/tmp" : temporary);
    if (mkdtemp(folder) == NULL) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot make a temporary folder for the bundle; set TMPDIR to one that "
                            "can be written");
    }
    (void)snprintf(inner, sizeof(inner), "%s/variopath-report", folder);
    if (mkdir(inner, 0700) != 0) {
        status = vp_error_set(error, VP_ERR_IO,
                              "cannot make a folder for the bundle; is the disk "
                              "full?");
    } else {
        status = fill(doctor, trace, folder, error);
    }
    if (status == VP_OK) {
        status = pack(folder, path, error);
    }
    remove_folder(folder);
    return status;
}
