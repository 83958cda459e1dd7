# SPDX-License-Identifier: BSD-3-Clause
#
# --enable-sanitizers=LIST adds -fsanitize=LIST after all probes have run.
# VP_PLAIN_CFLAGS stays without: for libraries that stand in for foreign ones.
AC_DEFUN([VP_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST], [build with -fsanitize=LIST, for example address,undefined])],
    [], [enable_sanitizers=no])
AC_SUBST([VP_PLAIN_CFLAGS], [$VP_CFLAGS])
AS_CASE([$enable_sanitizers],
    [no], [],
    [yes], [AC_MSG_ERROR([--enable-sanitizers needs a list, for example address,undefined])],
    [VP_CFLAGS="$VP_CFLAGS -fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer -g"
     vp_cflags="$vp_cflags -fsanitize=$enable_sanitizers"])])
