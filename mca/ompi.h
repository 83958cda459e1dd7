/*
 * The one place that includes Open MPI's internals, and what differs between
 * its series. Never include vp_config.h together with this: both define
 * PACKAGE_* and HAVE_*.
 *
 *                      4.1             5.0             6.0, main
 *   coll API           2.0.0           2.4.0           3.0.0
 *   counts             const int *     const int *     ompi_count_array_t
 *   displacements      const int *     const int *     ompi_disp_array_t
 *   one count          int             int             size_t
 *   slots              filled by base  filled by base  installed by enable
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
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/mca.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"
#include "opal/util/show_help.h"

#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#define VP_COLL_API 300
#define VP_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
#elif defined(MCA_COLL_BASE_VERSION_2_4_0)
#define VP_COLL_API 240
#define VP_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#define VP_COLL_API 200
#define VP_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#else
#error "this Open MPI's coll framework is not supported: its API must be 2.0.0, 2.4.0 or 3.0.0"
#endif

#if VP_COLL_API >= 240
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"
#else
#include "opal/mca/pmix/pmix.h"
#include "opal/threads/mutex.h"
#endif

/* A copy function of attributes is also told the new communicator, up to 4.1. */
#if VP_COLL_API >= 240
#define VP_COPY_TO_COMM
#else
#define VP_COPY_TO_COMM , MPI_Comm new_comm __attribute__((unused))
#endif

/* What processes tell each other when they start; false in a tool that is no process of a job. */
#if VP_COLL_API >= 240
#define VP_PMIX_SCOPE PMIX_GLOBAL
#define VP_PMIX_USABLE() (0 != PMIx_Initialized())
typedef size_t vp_pmix_size_t;
#else
#define VP_PMIX_SCOPE OPAL_PMIX_GLOBAL
#define VP_PMIX_USABLE() (NULL != opal_pmix.put)
typedef int vp_pmix_size_t;
#endif

/* Does this Open MPI tell which processes died (ULFM)? */
#if defined(OPAL_ENABLE_FT_MPI) && OPAL_ENABLE_FT_MPI
#include "ompi/runtime/params.h"
#define VP_FAULT_TOLERANT 1
#define VP_FAULT_TOLERANCE_ON() ompi_ftmpi_enabled
#else
#define VP_FAULT_TOLERANT 0
#define VP_FAULT_TOLERANCE_ON() false
#endif

/* Arguments of collectives as the framework passes them, and element i of them. */
#if VP_COLL_API >= 300
typedef size_t vp_count_t;
typedef ompi_count_array_t vp_counts_t;
typedef ompi_disp_array_t vp_displs_t;
#define VP_COUNT(counts, i) ompi_count_array_get((counts), (size_t)(i))
#define VP_DISPL(displs, i) ompi_disp_array_get((displs), (size_t)(i))
#else
typedef int vp_count_t;
typedef const int *vp_counts_t;
typedef const int *vp_displs_t;
#define VP_COUNT(counts, i) ((size_t)(counts)[i])
#define VP_DISPL(displs, i) ((ptrdiff_t)(displs)[i])
#endif

/* Collectives that this component offers; coll_variopath_cts chooses among them. */
#define VP_FOREACH_OFFERED(X)                                                                      \
    X(alltoall)                                                                                    \
    X(alltoallv)                                                                                   \
    X(alltoallw)                                                                                   \
    X(ialltoall) X(ialltoallv) X(ialltoallw) X(alltoall_init) X(alltoallv_init) X(alltoallw_init)

/* Collectives of the layer below that the module saves and retains. */
#define VP_FOREACH_SAVED(X) X(allgather) VP_FOREACH_OFFERED(X)

#endif
