# The command line, as a user calls it. The scripts run ./variopath of the build directory.
dist_check_SCRIPTS += \
	test/tools/catalog.sh \
	test/tools/plan.sh
TESTS += \
	test/tools/catalog.sh \
	test/tools/plan.sh
