# SPDX-License-Identifier: BSD-3-Clause
#
# Only the header is used (everything inlined), so nothing is linked.
AC_DEFUN([VP_CHECK_XXHASH],
[VP_WITH([xxhash], [hash for checksums and fingerprints])
AS_IF([test -n "$vp_xxhash_dir"], [XXHASH_CFLAGS="-isystem $vp_xxhash_dir/include"])
AC_SUBST([XXHASH_CFLAGS])
vp_save_cppflags=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $XXHASH_CFLAGS"
AC_CHECK_HEADER([xxhash.h], [vp_have_xxhash=yes])
CPPFLAGS=$vp_save_cppflags
VP_WITH_RESULT([xxhash], [install libxxhash-dev])])
