# The whole task file: `make test`, `make lint`, `make docs`, `make bench`, `make fuzz` (FOR=seconds each).
VENV ?= .venv
BIN := $(VENV)/bin

$(VENV)/ready: pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q torch==2.13.0
	$(BIN)/pip install -q -e . --group dev
	touch $@

test: $(VENV)/ready
	$(BIN)/pytest
lint: $(VENV)/ready
	$(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/mypy
docs: $(VENV)/ready
	$(BIN)/python docs/generate.py
bench: $(VENV)/ready
	$(BIN)/python benchmarks/load.py
fuzz: $(VENV)/ready
	$(BIN)/pip install -q atheris
	set -e; for t in file pickle json salvage; do $(BIN)/python tests/fuzz/atheris_decoders.py $$t $(or $(FOR),300); done
.PHONY: test lint docs bench fuzz
