EXTRA_DIST += docs/ARCHITECTURE.md docs/catalog-format.md docs/engine.md docs/scheduler.md \
	docs/topology-format.md
