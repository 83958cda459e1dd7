# The paper's evaluation again: one script for each table or figure.
#   make evaluation        docs/evaluation.md and docs/evaluation/, from nothing
#   make evaluation FAST=1 few points of each figure, into the build directory
paper_scripts = \
	test/paper/ablation.py \
	test/paper/catalogs.py \
	test/paper/evaluation.py \
	test/paper/figure1.py \
	test/paper/figure2.py \
	test/paper/figures.py \
	test/paper/milp50.sh \
	test/paper/moe.py \
	test/paper/page.py \
	test/paper/planning.py \
	test/paper/plot.py \
	test/paper/quality.py \
	test/paper/random_alltoallv.py \
	test/paper/robustness.py \
	test/paper/runner.py \
	test/paper/skew.py \
	test/paper/sweeps.py \
	test/paper/tables.py \
	test/paper/uniform_alltoall.py \
	test/paper/validation.py
EXTRA_DIST += $(paper_scripts) test/paper/evaluation.sh test/paper/milp.csv test/paper/planning.csv
TESTS += test/paper/evaluation.sh

.PHONY: evaluation
evaluation: variopath$(EXEEXT)
	rm -rf evaluation-work
	python3 $(srcdir)/test/paper/evaluation.py --variopath ./variopath$(EXEEXT) \
		--work evaluation-work \
		$(if $(FAST),--fast --docs evaluation-work/docs,--docs $(srcdir)/docs)
