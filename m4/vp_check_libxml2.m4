# SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([VP_CHECK_LIBXML2],
[VP_WITH([libxml2], [XML library, importers of hwloc and NCCL files])
VP_PKG([libxml2], [LIBXML2], [libxml-2.0 >= 2.9], [libxml/parser.h], [xml2], [xmlCtxtReadMemory])
AS_IF([test "$vp_have_libxml2" = yes],
    [LIBXML2_CFLAGS=`echo " $LIBXML2_CFLAGS" | $SED 's/ -I/ -isystem /g'`
     AC_DEFINE([VP_HAVE_LIBXML2], [1], [libxml2 can be used])])
VP_WITH_RESULT([libxml2], [install libxml2-dev])])
