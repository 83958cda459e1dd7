# SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([VP_CHECK_HWLOC],
[VP_WITH([hwloc], [hardware locality, discovery of PCIe trees])
VP_PKG([hwloc], [HWLOC], [hwloc >= 2.0], [hwloc.h], [hwloc], [hwloc_topology_init])
AS_IF([test "$vp_have_hwloc" = yes], [AC_DEFINE([VP_HAVE_HWLOC], [1], [hwloc can be used])])
VP_WITH_RESULT([hwloc], [install libhwloc-dev])])
