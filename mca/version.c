/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <stdio.h>

#include "opal/runtime/opal.h"

/*
 * Open MPI never compares releases, but its structures move inside a series,
 * and a component that reads them at the wrong offset crashes. Releases between
 * which nothing moved that is used here; one that is in no range goes with itself alone.
 *   4.0 to 4.1  module and communicator      5.0.7   communicator (c_index_vec)
 *   5.0.10      module, collectives (revoke_local)
 */
typedef struct range {
    int major;
    int minor;
    int first;
    int last;
} range_t;

static const range_t alike[] = {
    {4, 1, 0, 8},
    {5, 0, 0, 6},
    {5, 0, 7, 9},
    {5, 0, 10, 10},
};

static bool in_range(const range_t *range, int major, int minor, int release)
{
    return range->major == major && range->minor == minor && range->first <= release &&
           release <= range->last;
}

static bool compatible(int major, int minor, int release)
{
    size_t i;

    for (i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
        if (in_range(&alike[i], OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)) {
            return in_range(&alike[i], major, minor, release);
        }
    }
    return OMPI_MAJOR_VERSION == major && OMPI_MINOR_VERSION == minor &&
           OMPI_RELEASE_VERSION == release;
}

bool vp_version_matches(void)
{
    static bool reported = false;
    int major, minor, release;

    /* Not MPI_Get_library_version: a component calls no MPI_* function. */
    if (sscanf(opal_version_string, "%d.%d.%d", &major, &minor, &release) == 3 &&
        compatible(major, minor, release)) {
        return true;
    }
    if (!reported) {
        reported = true;
        opal_output(0,
                    "coll:variopath: built for Open MPI %d.%d.%d, but this is %s, whose internal "
                    "structures differ; the component is not used; rebuild it for this release",
                    OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION,
                    opal_version_string);
    }
    return false;
}
