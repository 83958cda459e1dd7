# The component under a real mpirun.
MCA_TESTS = test/mca/component.sh test/mca/catalog_files.sh test/mca/discover.sh test/mca/run_cases.sh test/mca/lifecycle.sh \
	test/mca/dump.sh test/mca/osu.sh test/mca/parameters.sh test/mca/stress.sh
EXTRA_DIST += $(MCA_TESTS) test/mca/ulfm.sh test/mca/parameters.py test/mca/common.sh test/mca/four.json

if VP_WITH_COMPONENT
check_PROGRAMS += test/mca/cases test/mca/layouts test/mca/lifecycle test/mca/nonblocking test/mca/load_now test/mca/tools_first \
	test/mca/big test/mca/late test/mca/reports test/mca/stress test/mca/ulfm
TESTS += $(MCA_TESTS)
endif
test_mca_cases_SOURCES = test/mca/cases.c test/mca/cases.h test/mca/harness.c
test_mca_cases_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS)
test_mca_cases_LDADD = $(OMPI_LIBS) -lpthread
test_mca_layouts_SOURCES = test/mca/layouts.c test/mca/exchange.c test/mca/exchange.h \
	test/mca/cases.h test/mca/harness.c
test_mca_layouts_CPPFLAGS = $(test_mca_cases_CPPFLAGS)
test_mca_layouts_LDADD = $(OMPI_LIBS)
test_mca_lifecycle_SOURCES = test/mca/lifecycle.c test/mca/exchange.c test/mca/exchange.h \
	test/mca/cases.h test/mca/harness.c
test_mca_lifecycle_CPPFLAGS = $(test_mca_cases_CPPFLAGS)
test_mca_lifecycle_LDADD = $(OMPI_LIBS)
test_mca_nonblocking_SOURCES = test/mca/nonblocking.c test/mca/exchange.c test/mca/exchange.h \
	test/mca/cases.h test/mca/harness.c
test_mca_nonblocking_CPPFLAGS = $(test_mca_cases_CPPFLAGS)
test_mca_nonblocking_LDADD = $(OMPI_LIBS) -lpthread
test_mca_big_SOURCES = test/mca/big.c test/mca/cases.h test/mca/harness.c
test_mca_big_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS)
test_mca_big_LDADD = $(OMPI_LIBS)
test_mca_late_SOURCES = test/mca/late.c
test_mca_late_CPPFLAGS = $(OMPI_CPPFLAGS)
test_mca_late_LDADD = $(OMPI_LIBS)
test_mca_load_now_SOURCES = test/mca/load_now.c
test_mca_load_now_LDADD = $(OMPI_LIBS) -ldl
test_mca_tools_first_SOURCES = test/mca/tools_first.c test/mca/cases.h test/mca/harness.c
test_mca_tools_first_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS)
test_mca_tools_first_LDADD = $(OMPI_LIBS)
test_mca_reports_SOURCES = test/mca/reports.c test/mca/exchange.c test/mca/exchange.h \
	test/mca/cases.h test/mca/harness.c
test_mca_reports_CPPFLAGS = $(test_mca_cases_CPPFLAGS)
test_mca_reports_LDADD = $(OMPI_LIBS) -lpthread
test_mca_ulfm_SOURCES = test/mca/ulfm.c test/mca/exchange.c test/mca/exchange.h \
	test/mca/cases.h test/mca/harness.c
test_mca_ulfm_CPPFLAGS = $(test_mca_cases_CPPFLAGS)
test_mca_ulfm_LDADD = $(OMPI_LIBS) -lpthread
test_mca_stress_SOURCES = test/mca/stress.c test/mca/exchange.c test/mca/exchange.h \
	test/mca/cases.h test/mca/harness.c examples/device_memory.c examples/device_memory.h
test_mca_stress_CPPFLAGS = $(test_mca_cases_CPPFLAGS)
test_mca_stress_LDADD = $(OMPI_LIBS) -lpthread -ldl

# The page of parameters, from the registration table.
docs-parameters: all
	$(AM_TESTS_ENVIRONMENT) srcdir="$(srcdir)"; export srcdir; $(srcdir)/test/mca/parameters.sh --write
.PHONY: docs-parameters
