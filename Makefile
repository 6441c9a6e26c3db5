# Two commands on a fresh machine with nothing but Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

.PHONY: demo test lint types layers unit soak bench docs clean

demo: $(VENV)/core.stamp
	$(BIN)/sharp demo

test: lint types layers unit

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

layers: $(VENV)/dev.stamp
	$(BIN)/lint-imports

# One worker a core; a file stays on one worker so that its compiled kernels and fixtures are shared.
unit: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not soak"

soak: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile -m soak --timeout 7200

# Offline; a warning is an error. The pages are then in site/index.html.
docs: $(VENV)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/dev.stamp
	$(BIN)/sharp bench

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sharpstream needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)

# The stamps make a second call quick: pip runs again only when pyproject.toml changes.
$(VENV)/core.stamp: pyproject.toml | $(BIN)/python
	$(PIP) install -q -e .
	@touch $@

# torch goes first, by the pin that pyproject.toml holds, so that no other package's range can pick another build.
$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	$(PIP) install -q "$$(sed -n 's/^torch = \["\(.*\)"\]/\1/p' pyproject.toml)"
	$(PIP) install -q -e ".[dev]"
	@touch $@ $(VENV)/core.stamp

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
