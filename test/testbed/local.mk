# Network namespaces with limited links, see docs/testbed.md.
TESTBED_PARTS = test/testbed/bed.py test/testbed/bench.py test/testbed/calibrate.py \
	test/testbed/exact.py test/testbed/faster.py \
	test/testbed/flows.py test/testbed/fluid.py test/testbed/job.py test/testbed/leftover.py \
	test/testbed/machine.py test/testbed/machine_test.py test/testbed/netns-rsh \
	test/testbed/selftest.py test/testbed/system.py test/testbed/testbed.py \
	test/testbed/eight.json test/testbed/sixteen.json test/testbed/tree.json
EXTRA_DIST += $(TESTBED_PARTS) test/testbed/machine.sh test/testbed/testbed.sh
TESTS += test/testbed/machine.sh
LONG_TESTS += test/testbed/testbed.sh

# Half an hour of measuring as root on a quiet machine; the tables are docs/testbed.md's.
TESTBED_ENVIRONMENT = srcdir='$(srcdir)' VP_MPIRUN='$(MPIRUN)' VP_OMPI_INFO='$(OMPI_INFO)' \
	VP_UCX_LIBDIR='$(UCX_LIBDIR)' PYTHONDONTWRITEBYTECODE=1
bench-testbed: all
	$(TESTBED_ENVIRONMENT) python3 $(srcdir)/test/testbed/bench.py \
		--topology $(srcdir)/test/testbed/eight.json --output testbed-eight.md --json testbed-eight.json
	$(TESTBED_ENVIRONMENT) python3 $(srcdir)/test/testbed/bench.py --megabytes 2 \
		--topology $(srcdir)/test/testbed/sixteen.json --output testbed-sixteen.md --json testbed-sixteen.json
	cat testbed-eight.md testbed-sixteen.md
.PHONY: bench-testbed
CLEANFILES += testbed-eight.md testbed-eight.json testbed-sixteen.md testbed-sixteen.json
