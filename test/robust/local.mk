# Every allocation fails once, each sweep with the libraries of its room; VP_ROBUST_ALL=1 in the
# environment: really every one, not the first of each place (test/long/robust.sh).
if VP_WITH_CHECK
robust_ldflags = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup \
	-Wl,--wrap=aligned_alloc,--wrap=realpath
robust_helpers = test/robust/failing.c test/robust/failing.h test/robust/sweep.c \
	test/robust/sweep.h
robust_jansson = test/robust/failing_jansson.c
robust_cppflags = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)

robust_tests = \
	test/robust/test_sweep_catalog \
	test/robust/test_sweep_scheduler \
	test/robust/test_sweep_sim \
	test/robust/test_sweep_tools
if VP_WITH_LIBXML2
if VP_WITH_HWLOC
robust_tests += test/robust/test_sweep_import
endif
endif
if VP_WITH_UCX
robust_tests += test/robust/test_sweep_engine test/robust/test_sweep_engine_ucx
endif
check_PROGRAMS += $(robust_tests)
TESTS += $(robust_tests)

test_robust_test_sweep_catalog_SOURCES = test/robust/test_sweep_catalog.c $(robust_helpers) \
	$(robust_jansson)
test_robust_test_sweep_catalog_CPPFLAGS = $(robust_cppflags) \
	-DVP_SOURCE_DIR=\"$(abs_top_srcdir)\"
test_robust_test_sweep_catalog_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_catalog_LDADD = catalog/libvp_catalog_build.la catalog/libvp_catalog.la \
	base/libvp_base.la $(JANSSON_LIBS) $(CHECK_LIBS)

test_robust_test_sweep_scheduler_SOURCES = test/robust/test_sweep_scheduler.c $(robust_helpers)
test_robust_test_sweep_scheduler_CPPFLAGS = $(robust_cppflags)
test_robust_test_sweep_scheduler_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_scheduler_LDADD = $(scheduler_test_libraries)

test_robust_test_sweep_sim_SOURCES = test/robust/test_sweep_sim.c test/sim/models.c \
	test/sim/models.h $(robust_helpers)
test_robust_test_sweep_sim_CPPFLAGS = $(robust_cppflags)
test_robust_test_sweep_sim_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_sim_LDADD = $(SIM_TEST_LIBS)

test_robust_test_sweep_import_SOURCES = test/robust/test_sweep_import.c test/import/samples.c \
	test/import/samples.h $(robust_helpers) $(robust_jansson)
test_robust_test_sweep_import_CPPFLAGS = $(robust_cppflags) \
	-DVP_TEST_IMPORT_DIR='"$(abs_top_srcdir)/test/import"'
test_robust_test_sweep_import_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_import_LDADD = catalog/import/libvp_import.la \
	catalog/libvp_catalog_build.la catalog/libvp_catalog.la base/libvp_base.la $(JANSSON_LIBS) \
	$(CHECK_LIBS)

test_robust_test_sweep_engine_SOURCES = test/robust/test_sweep_engine.c $(engine_test_helpers) \
	$(engine_test_rotations) $(engine_test_lanes) $(robust_helpers)
test_robust_test_sweep_engine_CPPFLAGS = $(engine_test_cppflags) -DVP_TEST_OVER_UCX=0
test_robust_test_sweep_engine_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_engine_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)
test_robust_test_sweep_engine_ucx_SOURCES = test/robust/test_sweep_engine.c \
	$(engine_test_helpers) test/engine/planner_real.c $(robust_helpers)
test_robust_test_sweep_engine_ucx_CPPFLAGS = $(engine_test_cppflags) -DVP_TEST_OVER_UCX=1
test_robust_test_sweep_engine_ucx_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_engine_ucx_LDADD = $(engine_test_ldadd) $(UCX_LIBS) $(CHECK_LIBS)
# The command line, called from the test.
test_robust_test_sweep_tools_SOURCES = test/robust/test_sweep_tools.c \
	test/robust/variopath_main.h $(robust_helpers) $(variopath_SOURCES)
test_robust_test_sweep_tools_CPPFLAGS = $(variopath_CPPFLAGS) $(CHECK_CFLAGS) \
	-include $(top_srcdir)/test/robust/variopath_main.h \
	-DVP_SOURCE_DIR=\"$(abs_top_srcdir)\"
test_robust_test_sweep_tools_LDFLAGS = $(robust_ldflags)
test_robust_test_sweep_tools_LDADD = $(variopath_LDADD) $(CHECK_LIBS)
endif

EXTRA_DIST += test/robust/robust.sh
LONG_TESTS += test/robust/robust.sh
# A part of the tests under valgrind; VP_ROBUST_ALL=1 for more.
EXTRA_DIST += test/robust/valgrind.sh
TESTS += test/robust/valgrind.sh
