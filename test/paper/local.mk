# The paper's evaluation again: one script for each table or figure.
#   make evaluation        docs/evaluation.md and docs/evaluation/; what evaluation-work/ holds
#                          of unchanged programs and inputs is not run again: remove it to make
#                          the page from nothing
#   make evaluation FAST=1 few points of each figure, into the build directory
paper_scripts = \
	test/paper/ablation.py \
	test/paper/catalogs.py \
	test/paper/evaluation.py \
	test/paper/figure1.py \
	test/paper/figure2.py \
	test/paper/figures.py \
	test/paper/losses.py \
	test/paper/milp50.sh \
	test/paper/moe.py \
	test/paper/page.py \
	test/paper/planning.py \
	test/paper/plot.py \
	test/paper/quality.py \
	test/paper/random_alltoallv.py \
	test/paper/regression.py \
	test/paper/robustness.py \
	test/paper/rows.py \
	test/paper/runner.py \
	test/paper/same.py \
	test/paper/skew.py \
	test/paper/sweeps.py \
	test/paper/synthesizers.py \
	test/paper/tables.py \
	test/paper/uniform_alltoall.py \
	test/paper/validation.py
EXTRA_DIST += $(paper_scripts) test/paper/evaluation.sh test/paper/milp.csv \
	test/paper/synthesizers.csv
TESTS += test/paper/evaluation.sh

.PHONY: evaluation
evaluation: variopath$(EXEEXT)
	PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/test/paper/evaluation.py \
		--variopath ./variopath$(EXEEXT) --work evaluation-work \
		$(if $(FAST),--fast --docs evaluation-work/docs,--docs $(srcdir)/docs)
