# SPDX-License-Identifier: BSD-3-Clause
#
# VP_WITH(NAME, WHAT)
# Adds --with-NAME=yes|no|guess|DIR and sets
#   vp_NAME_want  yes, no or guess
#   vp_NAME_dir   DIR or empty
# "yes" and a directory make a failing probe fatal.
AC_DEFUN([VP_WITH],
[AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=yes|no|guess|DIR], [$2 @<:@guess@:>@])],
    [], [with_$1=guess])
vp_$1_dir=
AS_CASE([$with_$1],
    [yes|no|guess], [vp_$1_want=$with_$1],
    [vp_$1_want=yes; vp_$1_dir=$with_$1])
AS_IF([test -n "$vp_$1_dir" && test ! -d "$vp_$1_dir"],
    [AC_MSG_ERROR([--with-$1: $vp_$1_dir is not a directory])])
vp_have_$1=no
vp_$1_summary=no])

# VP_WITH_RESULT(NAME, REMEDY)
# Ends a probe: a wanted dependency that is absent is an error.
AC_DEFUN([VP_WITH_RESULT],
[AS_IF([test "$vp_$1_want" = yes && test "$vp_have_$1" = no],
    [AC_MSG_ERROR([--with-$1 was given, but it cannot be used; $2])])
AS_IF([test "$vp_have_$1" = no && test "$vp_$1_want" = no], [vp_$1_summary="no (--without-$1)"])])

# VP_PKG(NAME, VARIABLE, MODULE-SPEC, HEADER, LIBRARY, FUNCTION)
# A dependency with a pkg-config file: DIR, if given, is looked up first in
# DIR/lib/pkgconfig, then as plain DIR/include and DIR/lib.
AC_DEFUN([VP_PKG],
[AS_IF([test "$vp_$1_want" != no],
[vp_save_pkg_path=$PKG_CONFIG_PATH
vp_save_cppflags=$CPPFLAGS
vp_save_libs=$LIBS
AS_IF([test -n "$vp_$1_dir"],
    [PKG_CONFIG_PATH=$vp_$1_dir/lib/pkgconfig:$vp_$1_dir/lib64/pkgconfig; export PKG_CONFIG_PATH
     AS_IF([test -z "$$2_CFLAGS"], [$2_CFLAGS="-I$vp_$1_dir/include"])
     AS_IF([test -z "$$2_LIBS"], [$2_LIBS="-L$vp_$1_dir/lib -l$5"])])
PKG_CHECK_MODULES([$2], [$3], [vp_have_$1=yes], [vp_have_$1=no])
AS_IF([test "$vp_have_$1" = yes],
    [CPPFLAGS="$CPPFLAGS $$2_CFLAGS"
     LIBS="$$2_LIBS $LIBS"
     AC_CHECK_HEADER([$4], [], [vp_have_$1=no])
     AC_MSG_CHECKING([whether $5 links])
     AC_LINK_IFELSE([AC_LANG_CALL([], [$6])], [AC_MSG_RESULT([yes])],
         [AC_MSG_RESULT([no]); vp_have_$1=no])])
AS_IF([test "$vp_have_$1" = yes],
    [vp_$1_summary=`$PKG_CONFIG --modversion m4_bregexp([$3], [^\([^ ]*\).*$], [\1]) 2>/dev/null`
     AS_IF([test -z "$vp_$1_summary"], [vp_$1_summary=yes])
     AS_IF([test -n "$vp_$1_dir"], [vp_$1_summary="$vp_$1_summary ($vp_$1_dir)"])])
CPPFLAGS=$vp_save_cppflags
LIBS=$vp_save_libs
AS_IF([test -n "$vp_save_pkg_path"], [PKG_CONFIG_PATH=$vp_save_pkg_path], [AS_UNSET([PKG_CONFIG_PATH])])])])
