EXTRA_DIST += docs/ARCHITECTURE.md docs/importers.md docs/catalog-format.md docs/engine.md docs/scheduler.md docs/scheduling-results.md \
	docs/probe.md docs/rdma-guest.md docs/simulator.md docs/testbed.md docs/topology-format.md
EXTRA_DIST += docs/device-buffers.md docs/gpu-results.md
EXTRA_DIST += docs/discovery.md
EXTRA_DIST += docs/evaluation.md docs/evaluation
EXTRA_DIST += docs/parameters.md
EXTRA_DIST += docs/equations.md docs/guide.md docs/troubleshooting.md docs/contributing.md
