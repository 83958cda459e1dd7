#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The engine's own tests under ThreadSanitizer: ranks as threads, several engines over
# the same UCX lanes, fibers that change threads. Ranks that are processes of one
# thread run over the lanes of the tests only: over UCX there is nothing more to see.
. "${srcdir:?}/test/long/common.sh"
printf 'int main(void) { return 0; }\n' >"$work/probe.c"
cc -fsanitize=thread "$work/probe.c" -o "$work/probe" 2>/dev/null && "$work/probe" ||
    { echo "no ThreadSanitizer"; exit 77; }
export TSAN_OPTIONS=suppressions=$top/test/long/tsan.supp:halt_on_error=1:exitcode=66
# UCX writes its hooks into libc's functions, where the sanitizer has its own: both wait for ever.
export UCX_MEM_EVENTS=n UCX_MEM_MMAP_HOOK_MODE=none
eval "arguments=($VP_CONFIGURE_ARGS)"
mkdir "$work/threads" && cd "$work/threads" || exit 99
one "configures" sh -c "'$top/configure' -q ${arguments[*]} --without-ompi \
    --enable-sanitizers=thread >configure.log 2>&1"
nested_check threads TESTS="test/engine/test_engine_exchange test/engine/test_engine_fake \
    test/engine/test_engine_faults test/engine/test_engine_threads \
    test/engine/test_engine_together test/engine/test_engine_trace test/engine/test_engine_wire \
    test/engine/test_fiber test/engine/test_leaders"
finish
