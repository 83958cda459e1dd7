# -*- shell-script -*-
#
# SPDX-License-Identifier: BSD-3-Clause
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#

# MCA_coll_variopath_CONFIG([action-if-can-compile],
#                           [action-if-cant-compile])
# ---------------------------------------------------
# It needs UCX, jansson, xxHash's header and an hwloc with headers (not one inside Open MPI).
AC_DEFUN([MCA_ompi_coll_variopath_CONFIG],[
    AC_CONFIG_FILES([ompi/mca/coll/variopath/Makefile])

    OPAL_VAR_SCOPE_PUSH([coll_variopath_lacks])

    coll_variopath_lacks=
    OMPI_CHECK_UCX([coll_variopath], [], [coll_variopath_lacks="$coll_variopath_lacks UCX"])
    AC_CHECK_HEADER([jansson.h],
        [AC_CHECK_LIB([jansson], [json_loadb], [coll_variopath_LIBS="$coll_variopath_LIBS -ljansson"],
            [coll_variopath_lacks="$coll_variopath_lacks jansson"])],
        [coll_variopath_lacks="$coll_variopath_lacks jansson"])
    AC_CHECK_HEADER([hwloc.h],
        [AC_CHECK_LIB([hwloc], [hwloc_topology_set_io_types_filter],
            [coll_variopath_LIBS="$coll_variopath_LIBS -lhwloc"],
            [coll_variopath_lacks="$coll_variopath_lacks hwloc"])],
        [coll_variopath_lacks="$coll_variopath_lacks hwloc"])
    AC_CHECK_HEADER([xxhash.h], [], [coll_variopath_lacks="$coll_variopath_lacks xxHash"])

    AS_IF([test -z "$coll_variopath_lacks"],
          [$1],
          [AC_MSG_NOTICE([coll/variopath is not built, it needs:$coll_variopath_lacks])
           $2])

    OPAL_VAR_SCOPE_POP

    AC_SUBST([coll_variopath_CPPFLAGS])
    AC_SUBST([coll_variopath_LDFLAGS])
    AC_SUBST([coll_variopath_LIBS])
])dnl
