# What is installed, as its user meets it.
PACKAGING_TESTS = test/packaging/environment.sh test/packaging/examples.sh test/packaging/intree.sh
EXTRA_DIST += $(PACKAGING_TESTS)
if VP_WITH_COMPONENT
TESTS += $(PACKAGING_TESTS)
endif
