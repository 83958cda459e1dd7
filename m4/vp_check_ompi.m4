# SPDX-License-Identifier: BSD-3-Clause
#
# Open MPI with its development headers ("--with-devel-headers"; Debian's
# libopenmpi-dev has them). Sets OMPI_CPPFLAGS, OMPI_LIBS, MPICC, MPIRUN,
# OMPI_INFO, OMPI_PKGLIBDIR.
AC_DEFUN([VP_CHECK_OMPI],
[VP_WITH([ompi], [Open MPI with development headers, the component])
AC_ARG_VAR([MPICC], [Open MPI wrapper compiler])
AC_ARG_VAR([MPIRUN], [Open MPI launcher])
AC_ARG_VAR([OMPI_INFO], [ompi_info of the same Open MPI])
AS_IF([test "$vp_ompi_want" != no],
[vp_ompi_path=$PATH
 AS_IF([test -n "$vp_ompi_dir"], [vp_ompi_path=$vp_ompi_dir/bin])
 AC_PATH_PROGS([MPICC], [mpicc.openmpi mpicc], [], [$vp_ompi_path])
 AC_PATH_PROGS([MPIRUN], [mpirun.openmpi mpirun], [], [$vp_ompi_path])
 AC_PATH_PROGS([OMPI_INFO], [ompi_info], [], [$vp_ompi_path])
 AS_IF([test -n "$MPICC" && test -n "$OMPI_INFO"],
 [OMPI_CPPFLAGS=
  # The internal headers live under <includedir>/openmpi, which some wrappers do not add.
  for vp_dir in `$MPICC --showme:incdirs 2>/dev/null`; do
      OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $vp_dir"
      AS_IF([test -f "$vp_dir/openmpi/ompi_config.h"],
          [OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $vp_dir/openmpi"])
  done
  # What they include and no release installs; real headers come first.
  vp_dir=`cd "$srcdir" && pwd`
  OMPI_CPPFLAGS="$OMPI_CPPFLAGS -idirafter $vp_dir/mca/compat"
  OMPI_LIBS=
  for vp_dir in `$MPICC --showme:libdirs 2>/dev/null`; do
      OMPI_LIBS="$OMPI_LIBS -L$vp_dir"
  done
  OMPI_LIBS="$OMPI_LIBS -lmpi -lopen-pal"
  # From 6.0 on the core is apart from the MPI functions; from 5.0 on its headers need PMIx's.
  for vp_dir in `$MPICC --showme:libdirs 2>/dev/null`; do
      AS_IF([test -e "$vp_dir/libopen_mpi.so"], [OMPI_LIBS="$OMPI_LIBS -lopen_mpi"])
  done
  vp_ompi_major=`$MPICC --showme:version 2>/dev/null | $SED -e 's/^.*Open MPI //' -e 's/\..*//'`
  AS_IF([test "${vp_ompi_major:-0}" -ge 5 2>/dev/null && $PKG_CONFIG --exists pmix],
      [OMPI_CPPFLAGS="$OMPI_CPPFLAGS `$PKG_CONFIG --cflags pmix | $SED 's/-I/-isystem /g'`"
       OMPI_LIBS="$OMPI_LIBS `$PKG_CONFIG --libs pmix`"
       PMIX_COMPONENT_DIR=`$PKG_CONFIG --variable=libdir pmix`/pmix
       AS_IF([test ! -d "$PMIX_COMPONENT_DIR"], [PMIX_COMPONENT_DIR=])])
  OMPI_PKGLIBDIR=`$OMPI_INFO --parsable --path pkglibdir | $SED 's/^path:pkglibdir://'`
  vp_save_cppflags=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $OMPI_CPPFLAGS"
  AC_MSG_CHECKING([whether the Open MPI development headers can be used])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include "ompi_config.h"
#include "mpi.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/communicator/communicator.h"
#if !defined(MCA_COLL_BASE_VERSION_2_0_0) && !defined(MCA_COLL_BASE_VERSION_2_4_0) && \
    !defined(MCA_COLL_BASE_VERSION_3_0_0)
#error "the component knows the coll APIs 2.0.0 (Open MPI 4.1), 2.4.0 (5.0) and 3.0.0 (6.0)"
#endif]], [])],
      [AC_MSG_RESULT([yes]); vp_have_ompi=yes],
      [AC_MSG_RESULT([no])])
  CPPFLAGS=$vp_save_cppflags
  OMPI_VERSION=`$MPICC --showme:version 2>/dev/null | $SED -e 's/^.*Open MPI //' -e 's/ .*//'`
  vp_ompi_summary=$OMPI_VERSION
  AS_IF([test "$vp_have_ompi" = no], [vp_ompi_summary="no (headers of $vp_ompi_summary cannot be used)"])])])
AC_SUBST([OMPI_CPPFLAGS])
AC_SUBST([OMPI_LIBS])
AC_SUBST([OMPI_PKGLIBDIR])
AC_SUBST([OMPI_VERSION])
AC_SUBST([PMIX_COMPONENT_DIR])
VP_WITH_RESULT([ompi], [install libopenmpi-dev or an Open MPI 4.1 or 5.0 built with --with-devel-headers])])
