#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranks killed at 200 random moments, over real lanes and over those of the tests.
set -u
export VP_TEST_KILLS=200
code=0
for program in test/engine/test_engine_kills test/engine/test_engine_kills_fake; do
    [ -x "$program" ] || { echo "$program is not built"; exit 77; }
    timeout 900 "$program" || code=1
done
exit "$code"
