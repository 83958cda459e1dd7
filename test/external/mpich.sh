#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# MPICH's own tests of the alltoall family and of nonblocking collectives, from
# Debian's source package.
. "${srcdir:?}/test/external/common.sh"
debian_source mpich || skip "the source package mpich cannot be had: $(tail -n 1 "$kept/mpich.log")"
tests=$kept/mpich/test/mpi
objects=$work/mpich
mkdir "$objects"

# What its configure would find out; the whole of it would also build what we do not run.
cat >"$objects/mpitestconf.h" <<'EOF'
#define HAVE_GETRUSAGE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDIO_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
EOF
flags=(-w -O1 "-I$objects" "-I$tests/include" "-I$tests/util" "-I$tests/dtpools/include")
# Open MPI 4.1 has the persistent collectives under names of its own.
case $("$VP_MPIRUN" --version) in
*" 4."*)
    flags+=(-include mpi.h -include mpi-ext.h)
    for name in alltoall alltoallv alltoallw; do
        flags+=("-DMPI_A${name#a}_init=MPIX_A${name#a}_init")
    done
    ;;
esac
for part in mtest mtest_common mtest_single; do
    "$compiler" "${flags[@]}" -c "$tests/util/$part.c" -o "$objects/$part.o" ||
        { echo "MPICH's $part.c does not compile"; exit 1; }
done

no_errors() { grep -c "No Errors" "$1"; }

# run SOURCE RANKS [FLAG]
run() {
    local program=$objects/$1$3
    [ -x "$program" ] ||
        check "$1 compiles" "$compiler" "${flags[@]}" ${3:+"$3"} "$tests/coll/$1.c" "$objects"/mtest*.o \
            -lpthread -o "$program"
    pair "$1${3:+, nonblocking}" 60 "$2" no_errors "$program"
}
# Left out: nonblocking2 and nonblocking3 keep datatypes in arrays of int, which only MPICH's are.
for entry in alltoall1:8 alltoallv:10 alltoallv0:10 alltoallw1:10 alltoallw2:10 alltoallw_zeros:1 \
    alltoallw_zeros:2 alltoallw_zeros:5 alltoallw_zeros:8 icalltoall:5 icalltoall:7 icalltoallv:5 \
    icalltoallv:7 icalltoallw:5 icalltoallw:7 nonblocking:4 nonblocking:5 nonblocking:10 \
    neighb_alltoall:4 neighb_alltoallv:4 neighb_alltoallw:4 \
    p_alltoall:8 p_alltoallv:10 p_alltoallw:10; do
    run "${entry%:*}" "${entry#*:}" ""
done
for entry in alltoall1:8 icalltoall:8 icalltoallv:8 icalltoallw:8; do
    run "${entry%:*}" "${entry#*:}" -DUSE_MTEST_NBC
done
echo "calls carried: $n_carried"
check "calls were carried" test "$n_carried" -gt 0
finish
