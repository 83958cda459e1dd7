EXTRA_DIST += docs/ARCHITECTURE.md docs/importers.md docs/catalog-format.md docs/engine.md docs/scheduler.md docs/scheduling-results.md \
	docs/probe.md docs/rdma-guest.md docs/simulator.md docs/testbed.md docs/topology-format.md
EXTRA_DIST += docs/device-buffers.md docs/gpu-results.md
EXTRA_DIST += docs/discovery.md
EXTRA_DIST += docs/evaluation.md docs/evaluation
EXTRA_DIST += docs/parameters.md
EXTRA_DIST += docs/equations.md docs/guide.md docs/troubleshooting.md docs/contributing.md docs/security.md
EXTRA_DIST += docs/pictures.md docs/pictures.sh \
	docs/pictures/bandwidth-8.svg \
	docs/pictures/plan-8.svg \
	docs/pictures/plan-64.svg \
	docs/pictures/topology-8.svg \
	docs/pictures/topology-64.svg

# Draws docs/pictures/ anew; test/tools/pictures.sh compares.
pictures: variopath$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(srcdir)/docs/pictures && sh $(srcdir)/docs/pictures.sh $(srcdir)/docs/pictures
.PHONY: pictures
EXTRA_DIST += docs/packages.md
