# SPDX-License-Identifier: BSD-3-Clause
#
# Headers only: the product opens libcuda at run time and links no CUDA library. The runtime's
# header comes in packages that another one completes, so it is compiled, not just looked for.
AC_DEFUN([VP_CHECK_CUDA],
[VP_WITH([cuda], [CUDA headers, device buffers])
AS_IF([test "$vp_cuda_want" != no],
[AS_IF([test -z "$vp_cuda_dir" && test -f /usr/local/cuda/include/cuda.h],
     [vp_cuda_dir=/usr/local/cuda])
 AS_IF([test -n "$vp_cuda_dir"], [CUDA_CFLAGS="-isystem $vp_cuda_dir/include"])
 vp_save_cppflags=$CPPFLAGS
 CPPFLAGS="$CPPFLAGS $CUDA_CFLAGS"
 AC_CHECK_HEADER([cuda.h], [AC_CHECK_HEADER([cuda_runtime_api.h], [vp_have_cuda=yes])])
 CPPFLAGS=$vp_save_cppflags
 AS_IF([test "$vp_have_cuda" = yes],
     [AC_DEFINE([VP_HAVE_CUDA], [1], [CUDA's headers can be used])
      vp_cuda_summary=${vp_cuda_dir:-yes}])])
AC_SUBST([CUDA_CFLAGS])
AM_CONDITIONAL([VP_WITH_CUDA], [test "$vp_have_cuda" = yes])
VP_WITH_RESULT([cuda], [install the CUDA toolkit or give the directory that holds include/cuda.h, cuda_runtime_api.h and crt/])])
