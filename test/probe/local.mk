# What the probe tries out and writes; the measuring itself runs on the testbed.
if VP_WITH_CHECK
check_PROGRAMS += test/probe/test_probe test/probe/test_local
TESTS += test/probe/test_probe test/probe/test_local
endif
test_probe_test_probe_SOURCES = test/probe/test_probe.c
test_probe_test_probe_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
test_probe_test_probe_LDADD = tools/probe/libvp_probe.la catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la base/libvp_base.la $(JANSSON_LIBS) $(CHECK_LIBS)
test_probe_test_local_SOURCES = test/probe/test_local.c
test_probe_test_local_CPPFLAGS = $(test_probe_test_probe_CPPFLAGS)
test_probe_test_local_LDADD = $(test_probe_test_probe_LDADD)

# One process on emulated devices.
if VP_WITH_CUDA
TESTS += test/probe/local.sh
endif
EXTRA_DIST += test/probe/local.sh test/probe/host.json
