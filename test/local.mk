# Tests are grouped by room; each group links only what its room may use.
include test/catalog/local.mk
include test/import/local.mk
include test/fuzz/local.mk
include test/scheduler/local.mk
include test/sim/local.mk
include test/bench/local.mk
include test/engine/local.mk
include test/mca/local.mk
include test/cuda_emu/local.mk
include test/gpu/local.mk
include test/tools/local.mk
include test/packaging/local.mk
include test/probe/local.mk
include test/paper/local.mk
include test/testbed/local.mk
include test/vm/local.mk
include test/lint/local.mk
include test/external/local.mk
include test/robust/local.mk
include test/long/local.mk

AM_TESTS_ENVIRONMENT = \
	VP_MPIRUN='$(MPIRUN)'; export VP_MPIRUN; \
	VP_OMPI_INFO='$(OMPI_INFO)'; export VP_OMPI_INFO; \
	VP_UCX_LIBDIR='$(UCX_LIBDIR)'; export VP_UCX_LIBDIR; \
	VP_CONFIGURE_ARGS="$(VP_CONFIGURE_ARGS)"; export VP_CONFIGURE_ARGS; \
	CC='$(CC)'; export CC; \
	CK_DEFAULT_TIMEOUT=$${CK_DEFAULT_TIMEOUT:-60}; export CK_DEFAULT_TIMEOUT;
EXTRA_DIST += test/summary
TEST_EXTENSIONS = .sh
