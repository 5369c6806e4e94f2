# make demo   the main job on the built-in graph
# make test   everything: lint, types, layers, tests
# make docs   the documentation as pages, in site/
# make bench  speed and memory
# make fuzz MINUTES=5   mutated inputs of every kind
# make chaos KILLS=60   kills, full disks, two commands at once
# make dist   sdist and wheel in dist/, checked: metadata, a clean environment, the demo in it
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

MINUTES ?= 5
KILLS ?= 60

.PHONY: setup demo test docs dist browser java bench fuzz chaos pictures world clean

setup: $(VENV)/.ready

demo: setup
	$(BIN)/assent demo --out .demo

test: $(VENV)/.ready-dev browser java
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src tools
	$(BIN)/lint-imports
	$(BIN)/pytest -q -n 2 --dist loadfile

# Built from docs/ and the docstrings, without the network; a broken link ends it.
docs: $(VENV)/.ready-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "documentation: site/index.html"

# What others install, tried as they do: away from this folder, in an environment of its own.
dist: setup
	$(PIP) --editable '.[dist]'
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/try_wheel.py dist/*.whl

# The pages are looked at in a real browser. Where there is none and none can be installed, those
# tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || (test "$$(id -u)" = 0 && apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends chromium) >/dev/null 2>&1 || true

# Spark runs on Java. Where there is none and none can be installed, its tests are skipped and say so.
java:
	@command -v java >/dev/null || (test "$$(id -u)" = 0 && apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends default-jre-headless) >/dev/null 2>&1 || true

bench: $(VENV)/.ready-dev .venv-bench/.ready
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/building.py
	$(BIN)/python benchmarks/building.py engines 100000 1000000 10000000
	$(BIN)/python benchmarks/stepping.py
	$(BIN)/python benchmarks/threads.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/evaluating.py
	$(BIN)/python benchmarks/completing.py
	$(BIN)/python benchmarks/evaluating_pykeen.py

# Scratch goes to a temporary folder; a finding names its seed and number, which make it again.
fuzz: $(VENV)/.ready-dev
	PYTHONPATH=tools $(BIN)/python -m campaign.fuzz --minutes $(MINUTES)

chaos: $(VENV)/.ready-dev
	PYTHONPATH=tools $(BIN)/python -m campaign.chaos --kills $(KILLS)

# the pictures of the pages in docs/
pictures: $(VENV)/.ready-dev demo
	$(BIN)/python docs/pictures.py

# rebuilds the world graph from its sources
world: $(VENV)/.ready-dev
	cd tools && ../$(BIN)/python -m world

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
		"assent needs Python 3.11 or later, and $(PYTHON) is not: make PYTHON=python3.12 ..." \
		>&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(PIP) --editable '.[dev,docs,world]'
	touch $@

# PyKEEN, to compare with; in an environment of its own, so that neither bends the other
.venv-bench/.ready:
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet torch==2.13.0 pykeen==1.11.1
	touch $@

clean:
	rm -rf $(VENV) .venv-bench .demo site dist
