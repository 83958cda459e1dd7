# SPDX-License-Identifier: BSD-3-Clause
#
# VP_COMPILER_FLAGS: warnings that the compiler knows; -Werror in a git checkout.
AC_DEFUN([VP_TRY_CFLAG],
[AC_MSG_CHECKING([whether $CC accepts $1])
vp_save_cflags=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes]); VP_CFLAGS="$VP_CFLAGS $1"], [AC_MSG_RESULT([no])])
CFLAGS=$vp_save_cflags])

AC_DEFUN([VP_COMPILER_FLAGS],
[VP_CFLAGS=
AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [warnings are errors @<:@in a git checkout@:>@])],
    [], [AS_IF([test -e "$srcdir/.git"], [enable_werror=yes], [enable_werror=no])])
VP_TRY_CFLAG([-std=gnu11])
VP_TRY_CFLAG([-Wall])
VP_TRY_CFLAG([-Wextra])
VP_TRY_CFLAG([-Wshadow])
VP_TRY_CFLAG([-Wundef])
VP_TRY_CFLAG([-Wconversion])
VP_TRY_CFLAG([-Wstrict-prototypes])
VP_TRY_CFLAG([-Wmissing-prototypes])
VP_TRY_CFLAG([-Wvla])
VP_TRY_CFLAG([-fvisibility=hidden])
AS_IF([test "$enable_werror" = yes], [VP_TRY_CFLAG([-Werror])])
vp_cflags=`echo $VP_CFLAGS $CFLAGS`
AC_SUBST([VP_CFLAGS])])
