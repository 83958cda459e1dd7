#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A QEMU guest with soft RoCE behind PCIe switches: the tree that the kernel
# shows, and lanes that are RDMA writes. Needs no root and installs nothing.
set -u
: "${srcdir:?run this through make check-ci}" "${VP_MPIRUN:?}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec timeout -k 10 600 python3 "$srcdir/test/vm/rdma.py" --folder vm-guest
