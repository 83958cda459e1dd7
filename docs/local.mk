EXTRA_DIST += docs/ARCHITECTURE.md docs/importers.md docs/catalog-format.md docs/engine.md docs/scheduler.md docs/scheduling-results.md \
	docs/simulator.md docs/topology-format.md
