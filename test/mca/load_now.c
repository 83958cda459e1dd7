/*
 * Loads a DSO with every symbol resolved at once, so that a missing one fails
 * here and not in the middle of a job.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *handle;

    if (argc != 2) {
        return 2;
    }
    handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (dlsym(handle, "mca_coll_variopath_component") == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return 0;
}
