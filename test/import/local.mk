if VP_WITH_CHECK
if VP_WITH_LIBXML2
IMPORT_TESTS = test/import/test_golden test/import/test_tables test/import/test_broken \
	test/import/test_job
if VP_WITH_HWLOC
IMPORT_TESTS += test/import/test_discover
endif
check_PROGRAMS += $(IMPORT_TESTS)
TESTS += $(IMPORT_TESTS)

IMPORT_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) \
	-DVP_TEST_IMPORT_DIR='"$(abs_top_srcdir)/test/import"'
IMPORT_TEST_LDADD = catalog/import/libvp_import.la catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la base/libvp_base.la $(JANSSON_LIBS) $(CHECK_LIBS)

test_import_test_discover_SOURCES = test/import/test_discover.c test/import/samples.c \
	test/import/samples.h
test_import_test_discover_CPPFLAGS = $(IMPORT_TEST_CPPFLAGS)
test_import_test_discover_LDADD = $(IMPORT_TEST_LDADD)
test_import_test_job_SOURCES = test/import/test_job.c test/import/samples.c \
	test/import/samples.h
test_import_test_job_CPPFLAGS = $(IMPORT_TEST_CPPFLAGS)
test_import_test_job_LDADD = $(IMPORT_TEST_LDADD)
test_import_test_golden_SOURCES = test/import/test_golden.c test/import/samples.c \
	test/import/samples.h
test_import_test_golden_CPPFLAGS = $(IMPORT_TEST_CPPFLAGS)
test_import_test_golden_LDADD = $(IMPORT_TEST_LDADD)
test_import_test_tables_SOURCES = test/import/test_tables.c test/import/samples.c \
	test/import/samples.h
test_import_test_tables_CPPFLAGS = $(IMPORT_TEST_CPPFLAGS)
test_import_test_tables_LDADD = $(IMPORT_TEST_LDADD)
test_import_test_broken_SOURCES = test/import/test_broken.c test/import/samples.c \
	test/import/samples.h
test_import_test_broken_CPPFLAGS = $(IMPORT_TEST_CPPFLAGS)
test_import_test_broken_LDADD = $(IMPORT_TEST_LDADD)
endif
endif

# `variopath topology import` from outside: exit codes, output files, standard input.
if VP_WITH_LIBXML2
TESTS += test/import/cli.sh
endif
EXTRA_DIST += test/import/cli.sh \
	test/import/data/README.md \
	test/import/data/h01-t4x8-g4dnmetal.xml \
	test/import/data/h02-p100x2-pascal.xml \
	test/import/data/h03-mi60x4-corona.xml \
	test/import/data/h05-corona-hwloc1.xml \
	test/import/data/h06-l4x8-g6.xml \
	test/import/data/h10-nogpu-c5n.xml \
	test/import/data/h13-dgx2-as-v2.xml \
	test/import/data/h13-dgx2-v3.xml \
	test/import/data/h14-guest-2sockets.xml \
	test/import/data/n01-3090x8-2sw-1nic.xml \
	test/import/data/n03-a6000x4-noswitch.xml \
	test/import/data/n06-4090x2-dualport.xml \
	test/import/data/n08-aws-g5-sparse.xml \
	test/import/data/n09-aws-p4d.xml \
	test/import/data/n12-azure-ndv5.xml \
	test/import/data/n13-azure-ndv2.xml \
	test/import/data/n14-mi50x8-2plx-1nic.xml \
	test/import/data/n16-mi50x8-rootports.xml \
	test/import/data/n19-mi300ax4-cxi.xml \
	test/import/data/n21-mi50x8-pcie-nicfar.xml \
	test/import/data/t01-p40x8-1root.txt \
	test/import/data/t03-4090x8-1socket.txt \
	test/import/data/t04-geforcex8-nicfar.txt \
	test/import/data/t07-l40sx4-pairs.txt \
	test/import/data/t09-x8-4pairs.txt \
	test/import/data/t10-5060tix4-phb.txt \
	test/import/data/t11-x5-phb.txt \
	test/import/data/t12-x8-noswitch.txt \
	test/import/data/t15-x2-pxb-nicrowsmissing.txt \
	test/import/data/t17-a6000x8-nvpairs.txt \
	test/import/data/t18-l40x4-2socket.txt \
	test/import/data/t20-a100pciex4-oldcols.txt \
	test/import/data/t21-x8-pix-pxb-2root.txt \
	test/import/data/t22-4090x8-bondnic.txt \
	test/import/data/t26-k80x4-mlx4.txt \
	test/import/data/t28-x8-phbpairs-1nic.txt \
	test/import/data/t30-vmx8-nic-each.txt \
	test/import/expected/h01-t4x8-g4dnmetal.json \
	test/import/expected/h02-p100x2-pascal.json \
	test/import/expected/h03-mi60x4-corona.json \
	test/import/expected/h05-corona-hwloc1.json \
	test/import/expected/h06-l4x8-g6.json \
	test/import/expected/h10-nogpu-c5n.json \
	test/import/expected/h13-dgx2-as-v2.json \
	test/import/expected/h13-dgx2-v3.json \
	test/import/expected/h14-guest-2sockets.json \
	test/import/expected/n01-3090x8-2sw-1nic.json \
	test/import/expected/n03-a6000x4-noswitch.json \
	test/import/expected/n06-4090x2-dualport.json \
	test/import/expected/n08-aws-g5-sparse.json \
	test/import/expected/n09-aws-p4d.json \
	test/import/expected/n12-azure-ndv5.json \
	test/import/expected/n13-azure-ndv2.json \
	test/import/expected/n14-mi50x8-2plx-1nic.json \
	test/import/expected/n16-mi50x8-rootports.json \
	test/import/expected/n19-mi300ax4-cxi.json \
	test/import/expected/n21-mi50x8-pcie-nicfar.json \
	test/import/expected/t01-p40x8-1root.json \
	test/import/expected/t03-4090x8-1socket.json \
	test/import/expected/t04-geforcex8-nicfar.json \
	test/import/expected/t07-l40sx4-pairs.json \
	test/import/expected/t09-x8-4pairs.json \
	test/import/expected/t10-5060tix4-phb.json \
	test/import/expected/t11-x5-phb.json \
	test/import/expected/t12-x8-noswitch.json \
	test/import/expected/t15-x2-pxb-nicrowsmissing.json \
	test/import/expected/t17-a6000x8-nvpairs.json \
	test/import/expected/t18-l40x4-2socket.json \
	test/import/expected/t20-a100pciex4-oldcols.json \
	test/import/expected/t21-x8-pix-pxb-2root.json \
	test/import/expected/t22-4090x8-bondnic.json \
	test/import/expected/t26-k80x4-mlx4.json \
	test/import/expected/t28-x8-phbpairs-1nic.json \
	test/import/expected/t30-vmx8-nic-each.json
