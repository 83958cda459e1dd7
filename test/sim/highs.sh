#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Prints a Python that has HiGHS (highspy): VP_PYTHON, python3, or one in
# highs-venv/ under the current (build) directory, which is made when the package
# can be fetched; else says why and ends with 77. VP_OFFLINE=1 fetches nothing.
set -u
has_highs() {
    "$1" -c 'import highspy' >/dev/null 2>&1
}

for python in "${VP_PYTHON:-python3}" python3 highs-venv/bin/python; do
    if has_highs "$python"; then
        command -v "$python"
        exit 0
    fi
done
if [ "${VP_OFFLINE:-0}" != 1 ] && python3 -m venv highs-venv >/dev/null 2>&1 &&
    timeout 120 highs-venv/bin/pip install -q --retries 1 --timeout 10 'highspy>=1.7,<2' \
        >/dev/null 2>&1 && has_highs highs-venv/bin/python; then
    echo highs-venv/bin/python
    exit 0
fi
echo "no HiGHS for Python: give VP_PYTHON, a Python that has the package highspy" >&2
exit 77
