# make demo   the main job on the built-in graph
# make test   everything: lint, types, layers, tests
# make bench  speed and memory
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: setup demo test bench picture world clean

setup: $(VENV)/.ready

demo: setup
	$(BIN)/assent demo --out .demo

test: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/lint-imports
	$(BIN)/pytest -q -n 2

bench: $(VENV)/.ready-dev
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/building.py

# the picture in README.md
picture: setup
	$(BIN)/python docs/picture.py

# rebuilds the world graph from its sources
world: $(VENV)/.ready-dev
	$(BIN)/python -m assent.datasets.worldmaking

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(PIP) --editable '.[dev,world]'
	touch $@

clean:
	rm -rf $(VENV) .demo
