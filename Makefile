.DEFAULT_GOAL := help
PYTHON ?= python

.PHONY: help
help:  ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: check
check: lint types layers test  ## Everything CI runs

.PHONY: lint
lint:  ## Style and formatting
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

.PHONY: format
format:  ## Fix style and formatting
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

.PHONY: types
types:  ## Strict types
	$(PYTHON) -m mypy

.PHONY: layers
layers:  ## A module imports only from layers below
	$(PYTHON) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

.PHONY: test
test:  ## Tests and doctests, warnings as errors
	$(PYTHON) -m pytest

.PHONY: quick
quick:  ## The laws, the rules of the house and one file of tests a room: under two minutes on two cores
	$(PYTHON) -m pytest @tests/quick.txt

.PHONY: kernel
kernel:  ## Compile the loops in C beside the sources, as an installation does
	$(PYTHON) hatch_build.py

.PHONY: sanitize
sanitize:  ## Tests of the loops in C, compiled with AddressSanitizer and UndefinedBehaviorSanitizer
	CC="gcc -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" $(PYTHON) hatch_build.py
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	$(PYTHON) -m pytest -n 0 -q -k "not spark and not dask" tests/_core/test_label_races.py tests/_core/test_kernels.py \
	tests/engines/test_kernel.py tests/summaries tests/inference/test_interval_kernels.py; \
	status=$$?; $(PYTHON) hatch_build.py; exit $$status

.PHONY: golden
golden:  ## Compare figures, texts and error messages with the record in tests/golden: about 60 CPU seconds
	$(PYTHON) benchmarks/golden.py compare tests/golden

.PHONY: golden-write
golden-write:  ## Record figures, texts and error messages again, after a change that was meant
	$(PYTHON) benchmarks/golden.py write tests/golden

.PHONY: bench
bench:  ## Compare speed with other packages; writes docs/evidence
	$(PYTHON) benchmarks/bench_errors.py --write docs/evidence
	$(PYTHON) benchmarks/bench_inference.py --write docs/evidence
	$(PYTHON) benchmarks/bench_start.py --write docs/evidence

.PHONY: bench-table
bench-table:  ## CPU time and memory of every public operation; writes docs/evidence/speed.md
	$(PYTHON) benchmarks/speed.py --write docs/evidence

.PHONY: bench-quick
bench-quick:  ## What became slower than the committed table says: three minutes
	$(PYTHON) benchmarks/speed.py --quick

.PHONY: bench-engines
bench-engines:  ## Evaluate files of up to a hundred million rows (2 GB of disk); writes docs/engines.md
	$(PYTHON) hatch_build.py
	$(PYTHON) benchmarks/bench_engines.py --write docs/evidence --page docs/engines.md --folder build/engines

.PHONY: evidence
evidence:  ## Simulate coverage, null levels, levels and power of tests, estimators; writes docs/evidence
	$(PYTHON) evidence/error_coverage.py docs/evidence
	$(PYTHON) evidence/more_coverage.py docs/evidence
	$(PYTHON) evidence/gate.py docs/evidence
	$(PYTHON) evidence/log_support.py docs/evidence
	$(PYTHON) evidence/gains.py docs/evidence
	$(PYTHON) evidence/rates.py docs/evidence
	$(PYTHON) evidence/segments.py docs/evidence
	$(PYTHON) evidence/intervals.py docs/evidence
	$(PYTHON) evidence/dependence.py docs/evidence
	$(PYTHON) evidence/curves.py docs/evidence
	$(PYTHON) evidence/estimators.py docs/evidence
	$(PYTHON) evidence/levels.py docs/evidence
	$(PYTHON) evidence/verdict.py docs/evidence --page docs/which-test.md
	$(PYTHON) evidence/power_page.py docs/evidence/test_power.csv docs/which-test.md
	$(PYTHON) evidence/game.py docs/evidence
	$(PYTHON) evidence/risk.py docs/evidence
	$(PYTHON) evidence/monitoring.py docs/evidence
	$(PYTHON) evidence/requirements.py docs/evidence
	$(PYTHON) evidence/stores.py docs/evidence

.PHONY: fuzz
fuzz:  ## Fit calibrators 10,000 times to zeros, denormal numbers and ones: half an hour on one core
	$(PYTHON) evidence/fuzz_calibrators.py 10000

.PHONY: league
league:  ## The calibration league (needs benchmarks/league/requirements.txt); writes the page on calibrators
	$(PYTHON) benchmarks/league/run.py --out benchmarks/league/out
	$(PYTHON) benchmarks/league/classifiers.py --out benchmarks/league/out
	$(PYTHON) benchmarks/league/page.py benchmarks/league/out docs/which-calibrator.md docs/evidence

.PHONY: gallery
gallery:  ## Redraw docs/gallery and its page
	$(PYTHON) docs/gallery/make_gallery.py
	$(PYTHON) docs/gallery/side_by_side.py

.PHONY: figures
figures:  ## Redraw the README's figure and the example files
	$(PYTHON) examples/make_examples.py
	$(PYTHON) docs/figures/make_reliability.py

.PHONY: prose-figures
prose-figures:  ## Read the figures in sentences of the pages again from docs/evidence
	$(PYTHON) evidence/prose_figures.py

.PHONY: docs
docs:  ## Build the documentation site into build/site, without a network; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict
