#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Everything that runs without mpirun, under AddressSanitizer (with leaks) and
# UndefinedBehaviorSanitizer.
. "${srcdir:?}/test/long/common.sh"
eval "arguments=($VP_CONFIGURE_ARGS)"
one "builds" nested sanitizers "${arguments[@]}" --without-ompi --enable-sanitizers=address,undefined
nested_check sanitizers
finish
