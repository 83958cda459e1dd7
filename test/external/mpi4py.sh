#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The collective tests of mpi4py, from its source package on PyPI.
. "${srcdir:?}/test/external/common.sh"
version=3.1.6
source=$kept/mpi4py-$version
if [ ! -e "$source/built" ]; then
    { python3 -m venv "$kept/mpi4py-venv" &&
        timeout 300 "$kept/mpi4py-venv/bin/pip" download -q --no-deps --no-binary :all: -d "$kept" \
            "mpi4py==$version" &&
        timeout 300 "$kept/mpi4py-venv/bin/pip" install -q setuptools; } >"$kept/mpi4py.log" 2>&1 ||
        skip "mpi4py cannot be had: $(tail -n 1 "$kept/mpi4py.log")"
    tar -xf "$kept/mpi4py-$version.tar.gz" -C "$kept" &&
        (cd "$source" && MPICC=$compiler "$kept/mpi4py-venv/bin/python" setup.py -q build) \
            >>"$kept/mpi4py.log" 2>&1 && touch "$source/built" ||
        { tail -n 20 "$kept/mpi4py.log"; exit 1; }
fi
cd "$source" || exit 1

# "Ran 99 tests" and "OK (skipped=3)" of every rank; times differ. Ranks may write into one line.
ran() { grep -oE 'Ran [0-9]+ tests|(OK|FAILED)( \([^)]*\))?' "$1" | sort | uniq -c | tr -s ' \n' ' '; }

for entry in test_cco_buf:4 test_cco_vec:4 test_cco_nb_buf:4 test_cco_nb_vec:4 test_cco_obj:4 \
    test_cco_vec:5 test_cco_nb_vec:5; do
    module=${entry%:*}
    pair "$module" 200 "${entry#*:}" ran "$kept/mpi4py-venv/bin/python" test/runtests.py -q \
        --no-numpy --no-array -i "${module#test_}"
done
echo "calls carried: $n_carried"
check "calls were carried" test "$n_carried" -gt 0
finish
