#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# More than 100,000 random calls of the component under AddressSanitizer and
# UndefinedBehaviorSanitizer: VP_STRESS_CALLS in each mode of test/mca/stress.sh, of which
# there are six with emulated devices.
. "${srcdir:?}/test/long/common.sh"
export VP_STRESS_CALLS=${VP_STRESS_CALLS:-17000} VP_STRESS_SECONDS=${VP_STRESS_SECONDS:-3000}
eval "arguments=($VP_CONFIGURE_ARGS)"
one "builds" nested random "${arguments[@]}" --enable-sanitizers=address,undefined
nested_seconds=7200
nested_check random TESTS=test/mca/stress.sh check_PROGRAMS=test/mca/stress
sed -n 's/^\(seed .* calls, .* wrong\)$/\1/p' "$work/random/test/mca/stress.log"
finish
