# Suites of other projects, downloaded when they run; `make check-long` runs them.
EXTERNAL_TESTS = test/external/mpich.sh test/external/mpi4py.sh test/external/fft.sh
EXTRA_DIST += $(EXTERNAL_TESTS) test/external/common.sh test/external/fft.c
if VP_WITH_COMPONENT
LONG_TESTS += $(EXTERNAL_TESTS)
endif
