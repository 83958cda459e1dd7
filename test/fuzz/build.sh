#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# build.sh TOP "NAME..." SOURCE...: every SOURCE with the fuzzer's instrumentation, and with it
# each TOP/test/fuzz/fuzz_NAME.c, in the current directory.
set -eu
top=$1
names=$2
shift 2
read -ra flags <<<"-std=gnu11 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all $FUZZ_FLAGS"
read -ra libs <<<"$FUZZ_LIBS"
mkdir -p objects
objects=()
for source in "$@"; do
    case $source in
    coll_variopath/lanes*) continue ;; # test/fuzz/lanes_none.c stands in for them
    /*.c) path=$source ;;
    *.c) path=$top/$source ;;
    *) continue ;;
    esac
    object=objects/$(basename "$(dirname "$path")")_$(basename "$path" .c).o
    clang "${flags[@]}" -fsanitize=fuzzer-no-link,address,undefined -c "$path" -o "$object"
    objects+=("$object")
done
for name in $names; do
    clang "${flags[@]}" -fsanitize=fuzzer,address,undefined "$top/test/fuzz/fuzz_$name.c" \
        "${objects[@]}" "${libs[@]}" -o "fuzz_$name"
done
