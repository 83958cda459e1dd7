LINT_TESTS = test/lint/equations.sh test/lint/format.sh test/lint/headers.sh test/lint/links.sh \
	test/lint/rooms.sh
EXTRA_DIST += $(LINT_TESTS) .clang-format
TESTS += $(LINT_TESTS)
