# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test test-all lint types imports kernels unit databases boundscheck \
	coverage bench docs clean

install: .venv/.installed

.venv/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/.installed-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch .venv/.installed $@

demo: install
	$(BIN)/evosdc demo -o demo-output --force

test: lint types imports unit

lint: .venv/.installed-dev
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples

types: .venv/.installed-dev
	$(BIN)/mypy

imports: .venv/.installed-dev
	$(BIN)/lint-imports --no-cache

# Once, before two workers of pytest would both compile them.
kernels: .venv/.installed-dev
	$(BIN)/python tests/compile_kernels.py

unit: kernels
	$(BIN)/pytest -q -m "not slow"

# What `test` leaves out: slow tests, and properties with all of their examples.
test-all: kernels
	$(BIN)/pytest -q -m "slow or hypothesis" --hypothesis-profile=full

# Spark weighs 450 MB: its test runs where it is installed, and is skipped elsewhere.
.venv/.installed-spark: .venv/.installed-dev
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[spark]' ibis-framework pyarrow-hotfix
	touch $@

# Not part of `test`: the same tables from PostgreSQL, Spark and Ibis.
databases: .venv/.installed-spark
	$(BIN)/pytest -q -n0 tests/integration/test_databases.py

# Not part of `test`: kernels compiled with a check of each index, in a cache of their own.
boundscheck: .venv/.installed-dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/boundscheck $(BIN)/python tests/kernel_bounds.py

# Not part of `test`: it takes longer.
coverage: .venv/.installed-dev
	$(BIN)/pytest -q --cov --cov-report=term --cov-report=html

# A published experiment again: make bench SUITE=ons ARGS=--quick
SUITE ?= gensup
ARGS ?=
bench: .venv/.installed-dev
	$(BIN)/python -m benchmarks $(SUITE) $(ARGS) -o bench-output

# The commands of the manual first: they print what its pages show.
docs: .venv/.installed-dev
	$(BIN)/python tests/manual.py --check
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv demo-output site
