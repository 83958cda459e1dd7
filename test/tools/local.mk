# The command line, as a user calls it. The scripts run ./variopath of the build directory.
dist_check_SCRIPTS += \
	test/tools/bad.sh \
	test/tools/catalog.sh \
	test/tools/doctor.sh \
	test/tools/manual.sh \
	test/tools/pictures.sh \
	test/tools/plan.sh
TESTS += \
	test/tools/bad.sh \
	test/tools/catalog.sh \
	test/tools/doctor.sh \
	test/tools/manual.sh \
	test/tools/pictures.sh \
	test/tools/plan.sh

EXTRA_DIST += test/mca/events.py

if VP_WITH_CHECK
tools_tests = \
	test/tools/test_options \
	test/tools/test_trace
check_PROGRAMS += $(tools_tests)
TESTS += $(tools_tests)
tools_test_ldadd = \
	tools/libvp_tools.la \
	catalog/import/libvp_import.la \
	sim/libvp_sim.la \
	scheduler/libvp_scheduler.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)
test_tools_test_options_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_tools_test_options_LDADD = $(tools_test_ldadd)
test_tools_test_trace_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_tools_test_trace_LDADD = $(tools_test_ldadd)
endif
