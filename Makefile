# `make demo` and `make test` set up everything they need in .venv on a fresh machine.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready
LOWEST := .venv-lowest
N ?= 100000
WORKERS ?= 1

.PHONY: help demo test test-fast test-no-numba test-lowest fuzz check bench docs clean
.DEFAULT_GOAL := help

help:
	@echo "make demo           learn edit costs on lollipop graphs, draw an edit path and a learning curve (about a minute)"
	@echo "make test           all tests; set EPIC_DATA to a data folder to include those on real data"
	@echo "make test-fast      the tests that take no more than two minutes together"
	@echo "make test-no-numba  the fast tests without numba"
	@echo "make test-lowest    the fast tests with the lowest versions that pyproject.toml allows, after a demo of the wheel"
	@echo "make fuzz N=100000  N cases in memory and N/10 files; goes on where it stopped, summary in results/fuzz.json"
	@echo "make check          ruff, mypy and import-linter"
	@echo "make docs           the site, in docs/_build (open docs/_build/index.html)"
	@echo "make bench          speed of the core, of training and of every method (needs EPIC_DATA)"

# torch first and alone: resolved together with the rest, pip may fetch a build for another accelerator.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check $$(grep '^torch==' constraints.txt)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,mol,ot,ray,fast,lightning]'
	touch $@

$(LOWEST)/.ready: pyproject.toml constraints-lowest.txt
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install -q --disable-pip-version-check -c constraints-lowest.txt $$(grep '^torch==' constraints-lowest.txt)
	$(LOWEST)/bin/python -m pip wheel -q --disable-pip-version-check --no-deps -w $(LOWEST)/wheel .
	$(LOWEST)/bin/python -m pip install -q --disable-pip-version-check -c constraints-lowest.txt $(LOWEST)/wheel/*.whl
	cd $(LOWEST) && bin/epic demo  # the wheel alone, without extras
	$(LOWEST)/bin/python -m pip install -q --disable-pip-version-check -c constraints-lowest.txt -e '.[test,mol,ot,fast]'
	touch $@

demo: $(READY)
	$(BIN)/epic demo

test: $(READY)
	$(BIN)/python -m pytest -n 2

test-fast: $(READY)
	$(BIN)/python -m pytest -n 2 -m 'not slow'

test-no-numba: $(READY)
	EPIC_NO_NUMBA=1 $(BIN)/python -m pytest -n 2 -m 'not slow' --ignore src/epic/_kernels/assignment.py

test-lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/python -m pytest -n 2 -m 'not slow'

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz.campaign $(N) --workers $(WORKERS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

# A warning is an error. Nothing is fetched: neither here nor when a page is opened, which the last line checks.
docs: $(VENV)/.docs
	rm -rf docs/reference/generated  # pages of names that are gone
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -b html -W --keep-going -E -j 2 docs docs/_build
	$(BIN)/python docs/_ext/check.py docs/_build

bench: $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/harness.py

clean:
	rm -rf $(VENV) $(LOWEST) demo docs/_build docs/gallery docs/reference/generated
