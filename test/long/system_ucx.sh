#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The host path on the system's own UCX (Debian 12: 1.13.1), whose puts need the
# target's help.
. "${srcdir:?}/test/long/common.sh"
pkg-config --atleast-version=1.13.1 ucx || { echo "no system UCX 1.13.1 or later"; exit 77; }
unset UCX_LIBDIR LD_LIBRARY_PATH
one "builds on UCX $(pkg-config --modversion ucx)" nested system-ucx --with-ucx=yes --with-ompi=yes
# Emulated puts under many spinning threads are slow, not stuck: beside three busy
# processes on two cores the threaded case takes up to 70 s, alone 1 to 6 s.
nested_check system-ucx TESTS="test/engine/test_engine test/engine/test_engine_faults \
    test/engine/test_engine_threads test/engine/test_lanes test/engine/test_record \
    test/mca/component.sh test/mca/catalog_files.sh test/mca/run_cases.sh"
finish
