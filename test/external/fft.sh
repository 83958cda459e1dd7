#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# FFTW's distributed transforms (Debian's libfftw3-mpi, unpacked, not installed).
. "${srcdir:?}/test/external/common.sh"
unpacked=$kept/fftw
if [ ! -d "$unpacked" ]; then
    (cd "$kept" && timeout 200 apt-get download libfftw3-mpi-dev libfftw3-mpi3 libfftw3-dev \
        libfftw3-double3) >"$kept/fftw.log" 2>&1 ||
        skip "libfftw3-mpi cannot be had: $(tail -n 1 "$kept/fftw.log")"
    for package in "$kept"/libfftw3-*.deb; do
        dpkg-deb -x "$package" "$unpacked" || exit 1
    done
fi
library=$(dirname "$(find "$unpacked" -name libfftw3_mpi.so)")
export LD_LIBRARY_PATH="$library:${LD_LIBRARY_PATH:-}"
check "compiles" "$compiler" -O1 "-I$unpacked/usr/include" "$srcdir/test/external/fft.c" "-L$library" \
    -lfftw3_mpi -lfftw3 -lm -o "$work/fft"
errors() { grep "error below" "$1"; }
for ranks in 2 5 8; do
    pair "transforms" 100 "$ranks" errors "$work/fft"
    check "transforms on $ranks ranks: right" equal "$(grep -c 'yes$' "$work/ours.out")" 4
done
echo "calls carried: $n_carried"
check "calls were carried" test "$n_carried" -gt 0
finish
