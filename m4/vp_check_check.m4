# SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([VP_CHECK_CHECK],
[VP_WITH([check], [unit tests])
VP_PKG([check], [CHECK], [check >= 0.11], [check.h], [check], [srunner_create])
VP_WITH_RESULT([check], [install the package "check"])])
