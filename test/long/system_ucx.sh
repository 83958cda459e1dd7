#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The host path on the system's own UCX (Debian 12: 1.13.1), whose puts need the
# target's help.
. "${srcdir:?}/test/long/common.sh"
pkg-config --atleast-version=1.13.1 ucx || { echo "no system UCX 1.13.1 or later"; exit 77; }
unset UCX_LIBDIR LD_LIBRARY_PATH
one "builds on UCX $(pkg-config --modversion ucx)" nested system-ucx --with-ucx=yes --with-ompi=yes
nested_check system-ucx
finish
