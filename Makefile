# Start with `make demo` and `make test`: each first sets up .venv.
# Requires Python 3.11 or later (`make PYTHON=/path/to/python3` chooses one).

.DEFAULT_GOAL := help
.PHONY: help data demo demo-ci demo-spark spark-package test checks lint types warm-up kernels ui wheel docs test-long fuzz test-boundscheck test-python-kernels bench limits \
	format clean setup-run setup-dev setup-bench setup-spark setup-docs

# Compiled modules are kept, also where an image says otherwise: else each of the many processes that
# tests start compiles all that it imports, which is more than half of what a short command costs.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE
export PYTHON

PY := .venv/bin/python
WORKERS ?= 2
# By groups, so that all tests with Spark run in one process and share its session.
PYTEST := $(PY) -m pytest --numprocesses=$(WORKERS) --dist=loadgroup

# Tests that run kernels, for runs with bounds checks and as plain Python.
KERNEL_TESTS := tests/kernels tests/terms tests/relations tests/operators tests/loaders
SHORT := --hypothesis-profile=short -m "not long and not slow_kernels"

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-20s %s\n", $$1, $$2}'

demo: setup-run ## make an example, load it into a store and query it
	@.ci/ui
	@$(PY) -m demo

demo-spark: setup-spark ## the same data through Spark (needs Java 17)
	@$(PY) -m demo.spark

demo-ci: setup-run ## a repository with pull requests, and what each of them infers
	@$(PY) -m examples.ontology_ci

spark-package: setup-spark ## build/spark: the package as one file, and a job, for spark-submit
	@$(PY) -m triplestore.loaders.spark.jobs.packaging build/spark

data: setup-dev ## which folders of test data are missing, and where they come from
	@cd tests && ../$(PY) -m support.data_folders

# Kernels are compiled once for all tests, while types are checked on one processor.
test: setup-dev ## check everything: style, types, tests (some minutes)
	@$(MAKE) --no-print-directory --jobs=2 checks warm-up
	@$(MAKE) --no-print-directory kernels
	$(PYTEST)

checks: lint types

warm-up: setup-dev ## compile all kernels, in both forms
	@$(PY) -m triplestore.cli warm-up --quiet
	@NUMBA_BOUNDSCHECK=1 $(PY) -m triplestore.cli warm-up --quiet

lint: setup-dev ## style only
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: setup-dev ## types only
	$(PY) -m mypy

# The short form of test-boundscheck and test-python-kernels, which is part of `make test`.
kernels: setup-dev
	NUMBA_BOUNDSCHECK=1 $(PYTEST) --quiet $(SHORT) $(wildcard $(KERNEL_TESTS))
	TRIPLESTORE_KERNELS=python $(PYTEST) --quiet $(SHORT) $(wildcard $(KERNEL_TESTS))

ui: ## build the page for browsers (needs Node 20)
	@.ci/ui --must

wheel: setup-dev ## build/wheel: the package with its kernels compiled; tried in a fresh environment
	@.ci/ui --must
	@$(PY) .ci/wheel.py build/wheel

docs: setup-docs ## build/site: the documentation; open build/site/index.html
	@$(PY) .ci/site build/docs
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@$(PY) .ci/site --check build/site

test-long: setup-dev ## the long forms of the tests as well (much longer)
	$(PYTEST) --long --timeout=0 --hypothesis-profile=long

SECONDS ?= 3600
fuzz: setup-dev ## random tests beside their oracles, SECONDS (3600) each
	TRIPLESTORE_FUZZ_SECONDS=$(SECONDS) $(PYTEST) --timeout=0 -m fuzz

test-boundscheck: setup-dev ## tests of kernels with every array access checked
	NUMBA_BOUNDSCHECK=1 $(PYTEST) $(wildcard $(KERNEL_TESTS))

test-python-kernels: setup-dev ## tests of kernels run as plain Python
	TRIPLESTORE_KERNELS=python $(PYTEST) $(wildcard $(KERNEL_TESTS))

bench: setup-bench ## measure against peers; reports go to bench/results
	$(PY) -m bench all

limits: setup-dev ## hostile queries, rules and documents, and the cost of each
	$(PY) -m bench limits

format: setup-dev ## format the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean: ## remove the results of the other targets
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-run setup-dev setup-bench setup-spark setup-docs:
	@.ci/setup $(@:setup-%=%)
