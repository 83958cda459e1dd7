# SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([VP_CHECK_JANSSON],
[VP_WITH([jansson], [JSON library, topology files])
VP_PKG([jansson], [JANSSON], [jansson >= 2.7], [jansson.h], [jansson], [json_loadb])
VP_WITH_RESULT([jansson], [install libjansson-dev])])
