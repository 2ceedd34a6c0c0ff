# `make` alone lists what there is. Everything runs inside .venv, which `make setup` makes.

.DEFAULT_GOAL := help
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
# Tests wait for servers half of the time: one more than cores keeps these busy.
WORKERS ?= $(shell expr $$(nproc) + 1)
UV_VERSION := 0.13.7

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: setup ## Start Laconic on http://localhost:8000 with SQLite under ./data
	@exec $(BIN)/laconic serve $(ARGS)

.PHONY: setup
setup: ## Make .venv and install what the lock file names
	@tools/setup.sh runtime

.PHONY: setup-dev
setup-dev: ## The same with test tools and real servers (PostgreSQL, Redis)
	@tools/setup.sh dev
	@if [ -f tools/install_servers.sh ]; then sh tools/install_servers.sh; fi

.PHONY: test
test: setup-dev ## Run the test suite on every engine (WORKERS at once; 0 for one after the other)
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)

.PHONY: check
check: setup-dev ## Format, lint, types, import rules: what CI checks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: setup-dev ## Format the code and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: bench
bench: setup-dev ## Measure, beside nginx and a textbook shortener, and write docs/benchmarks.md (15 minutes)
	$(BIN)/python -m bench $(ARGS)

# The one thing that makes a failure come again; printed in the head of the run.
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
# Most of these tests wait for servers to come back: two at a time, a file's tests in one process: quick files, then the longest first.
# Those that tell times go before them, alone. Half an hour is for all; pytest's 5 says that ARGS left nothing of a kind.
FAULT_WORKERS ?= 2
FAULTS = $(BIN)/python -m pytest tests -m "" --until $$end --seed $(SEED) --hypothesis-seed=$(SEED) \
	-o faulthandler_timeout=0

.PHONY: faults
faults: setup-dev ## Kill, stop, cut and fill: the long tests, and docs/promises.md (half an hour)
	@end=$$(($$(date +%s) + 29 * 60)); failed=0; set -x; \
	$(FAULTS) --promises timed $(ARGS) || [ $$? = 5 ] || failed=1; \
	$(FAULTS) --promises untimed --numprocesses $(FAULT_WORKERS) --dist loadfile \
		--no-loadscope-reorder $(ARGS) || [ $$? = 5 ] || failed=1; \
	exit $$failed

COSMIC_RAY := 8.7.0

.PHONY: mutants
mutants: setup-dev ## Break the code that must not break and count what no test notices: docs/mutants.md (half an hour)
	@if [ ! -x .venv-mutants/bin/cosmic-ray ]; then $(BIN)/python -m venv .venv-mutants && \
		.venv-mutants/bin/python -m pip install --quiet cosmic-ray==$(COSMIC_RAY); fi
	$(BIN)/python -m tools.mutants $(ARGS)

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url pyproject.toml --extra postgres --extra redis --extra oidc --extra otel --group build

.PHONY: lock
lock: setup ## Write the lock files anew from pyproject.toml (ARGS=--upgrade for newer versions)
	@$(BIN)/python -m pip install --quiet uv==$(UV_VERSION)
	$(COMPILE) $(ARGS) --output-file requirements.lock
	$(COMPILE) $(ARGS) --group dev --constraint requirements.lock --output-file requirements-dev.lock

.PHONY: clean
clean: ## Remove .venv and caches (never ./data)
	rm -rf .venv .venv.log .venv-mutants .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist build
	find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +
