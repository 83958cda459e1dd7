# What the probe tries out and writes; the measuring itself runs on the testbed.
if VP_WITH_CHECK
check_PROGRAMS += test/probe/test_probe
TESTS += test/probe/test_probe
endif
test_probe_test_probe_SOURCES = test/probe/test_probe.c
test_probe_test_probe_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
test_probe_test_probe_LDADD = tools/probe/libvp_probe.la catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la base/libvp_base.la $(JANSSON_LIBS) $(CHECK_LIBS)
