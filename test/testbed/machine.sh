#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the testbed makes of topology files; needs neither root nor namespaces.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
exec python3 "${srcdir:?}/test/testbed/machine_test.py" ./variopath
