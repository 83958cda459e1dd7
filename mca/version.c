/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <stdio.h>

#include "opal/runtime/opal.h"

/*
 * Open MPI never compares releases, but its structures move inside a series,
 * and a component that reads them at the wrong offset crashes. 4.1.0 to 4.1.8
 * have identical layouts of everything that is used here; 4.0 and 5.0 differ.
 */
enum { COMPATIBLE_MAJOR = 4, COMPATIBLE_MINOR = 1 };

bool vp_version_matches(void)
{
    static bool reported = false;
    int major = 0;
    int minor = 0;

    /* Not MPI_Get_library_version: a component calls no MPI_* function. */
    if (sscanf(opal_version_string, "%d.%d", &major, &minor) == 2 && major == COMPATIBLE_MAJOR &&
        minor == COMPATIBLE_MINOR) {
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
