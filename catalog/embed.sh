#!/bin/sh
# Writes a C file that holds the named JSON files as strings.
# Usage: embed.sh AWK SOURCE_DIRECTORY FILE...
#
# SPDX-License-Identifier: BSD-3-Clause
set -eu

awk=$1
directory=$2
shift 2

echo '/* Made by catalog/embed.sh from catalog/topologies/; edit those. */'
echo '#include "catalog/shipped.h"'
echo
echo '#include <stddef.h>'
echo
echo 'const char *const vp_shipped_names[] = {'
for file in "$@"; do
    name=${file##*/}
    echo "    \"${name%.json}\","
done
echo '    NULL};'
echo
echo 'const char *const vp_shipped_texts[] = {'
for file in "$@"; do
    "$awk" '{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); print "    \"" $0 "\\n\"" }' "$directory/$file"
    echo '    ,'
done
echo '    NULL};'
