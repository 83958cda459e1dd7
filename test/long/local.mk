# Suites that build the tree again; `make check-long` runs them.
LONG_TESTS += test/long/parts.sh test/long/sanitizers.sh test/long/system_ucx.sh test/long/openmpi5.sh \
	test/long/fuzz.sh test/long/distcheck.sh test/long/kills.sh test/long/storm.sh test/long/packages.sh \
	test/long/threads.sh test/long/random_calls.sh test/long/newcomer.sh
EXTRA_DIST += $(LONG_TESTS) test/long/common.sh test/long/fresh.sh test/long/lsan.supp test/long/tsan.supp

check-long: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$(LONG_TESTS)"
# The part of them that every change must pass.
check-ci: all
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS="test/long/fuzz.sh test/testbed/testbed.sh test/vm/vm.sh test/long/parts.sh"
.PHONY: check-long check-ci
