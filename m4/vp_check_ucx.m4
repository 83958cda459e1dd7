# SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([VP_CHECK_UCX],
[VP_WITH([ucx], [UCX, carries the lanes; at least 1.13.1])
VP_PKG([ucx], [UCX], [ucx >= 1.13.1], [ucp/api/ucp.h], [ucp], [ucp_get_version_string])
AC_ARG_VAR([UCX_LIBDIR], [directory of the UCX libraries, set as run path of what uses them])
AS_IF([test "$vp_have_ucx" = yes],
    [AS_IF([test -z "$UCX_LIBDIR" && test -n "$vp_ucx_dir"], [UCX_LIBDIR=`cd "$vp_ucx_dir/lib" && pwd`])
     # A pip package is relocated: its .pc and .la files name the place it was
     # built in, and libtool reads an .la before it looks at -l. Link through a
     # directory of our own then, which has the libraries alone.
     AS_IF([test -n "$UCX_LIBDIR" && test -f "$UCX_LIBDIR/libucp.la" &&
            ! grep "^libdir='$UCX_LIBDIR'" "$UCX_LIBDIR/libucp.la" >/dev/null],
         [AS_MKDIR_P([ucx-links])
          for vp_library in libucp.so libucs.so; do
              rm -f ucx-links/$vp_library
              $LN_S "$UCX_LIBDIR/$vp_library" ucx-links/$vp_library
          done
          UCX_CFLAGS="-I$vp_ucx_dir/include"
          UCX_LIBS="-L`pwd`/ucx-links -lucp -lucs"])
     UCX_CFLAGS=`echo " $UCX_CFLAGS" | $SED 's/ -I/ -isystem /g'`
     AS_IF([test -n "$UCX_LIBDIR"], [UCX_LIBS="$UCX_LIBS -R$UCX_LIBDIR"])
     AC_DEFINE([VP_HAVE_UCX], [1], [UCX can be used])])
AC_SUBST([UCX_LIBDIR])
VP_WITH_RESULT([ucx], [install libucx-dev (1.13.1 or later) or give the directory of an installation])])
