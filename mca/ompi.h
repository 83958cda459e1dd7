/*
 * The one place that includes Open MPI's internals, and what differs between
 * its series. Never include vp_config.h together with this: both define
 * PACKAGE_* and HAVE_*.
 *
 * Supported: the 4.1 series (coll API 2.0.0).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_OMPI_H
#define VP_MCA_OMPI_H

#include "ompi_config.h"

#include "mpi.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/mca.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"
#include "opal/threads/mutex.h"
#include "opal/util/output.h"
#include "opal/util/show_help.h"

#if defined(MCA_COLL_BASE_VERSION_2_0_0)
#define VP_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#else
#error "this Open MPI's coll framework is not supported: 4.1 (coll API 2.0.0) is needed"
#endif

/* Collectives of the layer below that the module saves, retains and calls. */
#define VP_FOREACH_SAVED(X) X(allgather) X(alltoall) X(alltoallv) X(barrier)

#endif
