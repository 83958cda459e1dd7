# Fuzz targets, for clang with libFuzzer: `make fuzz` builds them, test/long/fuzz.sh runs them.
# To add one: test/fuzz/fuzz_NAME.c with LLVMFuzzerTestOneInput, its name in fuzz_names, seeds in
# test/long/fuzz.sh, and any further room in fuzz_rooms.
fuzz_names = catalog demand facts hwloc nccl nvidia_smi peers schedule topology trace
fuzz_rooms = \
	$(base_libvp_base_la_SOURCES) \
	$(catalog_libvp_catalog_la_SOURCES) \
	$(catalog_libvp_catalog_build_la_SOURCES) \
	$(catalog_import_libvp_node_la_SOURCES) \
	$(catalog_import_libvp_import_la_SOURCES) \
	$(scheduler_libvp_scheduler_la_SOURCES) \
	$(sim_libvp_sim_la_SOURCES) \
	$(coll_variopath_libvp_engine_la_SOURCES) \
	test/fuzz/lanes_none.c \
	tools/schedule_file.c tools/trace_read.c \
	test/fuzz/fuzz_import.c

EXTRA_DIST += test/fuzz/facts-1.seed test/fuzz/facts-2.seed test/fuzz/schedule.seed \
	test/fuzz/trace-chrome.seed test/fuzz/trace-lines.seed
EXTRA_DIST += test/fuzz/build.sh test/fuzz/fuzz_import.c test/fuzz/fuzz_import.h \
	test/fuzz/fuzz_catalog.c test/fuzz/fuzz_facts.c test/fuzz/fuzz_hwloc.c test/fuzz/fuzz_nccl.c \
	test/fuzz/fuzz_nvidia_smi.c test/fuzz/fuzz_topology.c test/fuzz/fuzz_demand.c \
	test/fuzz/fuzz_peers.c test/fuzz/fuzz_schedule.c test/fuzz/fuzz_trace.c test/fuzz/lanes_none.c \
	test/long/fuzz.sh
LONG_TESTS += test/long/fuzz.sh

# What the targets put in place of lanes has to keep to the interface, also where nobody fuzzes.
check_LTLIBRARIES += test/fuzz/libvp_fuzz_lanes.la
test_fuzz_libvp_fuzz_lanes_la_SOURCES = test/fuzz/lanes_none.c

fuzz: catalog/shipped.c
	$(MKDIR_P) test/fuzz && cd test/fuzz && \
	FUZZ_FLAGS='$(DEFS) -I$(abs_top_srcdir) -I$(abs_top_builddir) $(XXHASH_CFLAGS) $(JANSSON_CFLAGS) $(HWLOC_CFLAGS) $(LIBXML2_CFLAGS)' \
	FUZZ_LIBS='-lm -ldl $(JANSSON_LIBS) $(HWLOC_LIBS) $(LIBXML2_LIBS)' \
	$(BASH) $(abs_top_srcdir)/test/fuzz/build.sh '$(abs_top_srcdir)' '$(fuzz_names)' \
		$(fuzz_rooms) $(abs_top_builddir)/catalog/shipped.c
.PHONY: fuzz

clean-local: clean-fuzz
clean-fuzz:
	rm -rf test/fuzz/objects
	-cd test/fuzz && for name in $(fuzz_names); do rm -f fuzz_$$name; done
.PHONY: clean-fuzz
