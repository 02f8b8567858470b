# Needs GNU make and python3 >= 3.11 with venv and pip; everything else goes into .venv. `make help` lists the targets.

# What can be set from outside, for example `make train RUN_DIR=runs/second MINUTES=30`.
PYTHON ?= python3
PIP_FLAGS ?=
PYTEST_FLAGS ?=
RUN_DIR ?= runs/first
MINUTES ?= 5

# The commands behind the targets, run with the interpreter of .venv.
TRAIN := -m train.selfplay --run-dir $(RUN_DIR) --minutes $(MINUTES) --resume
EVALUATE := -m millebornes_env evaluate --run-dir $(RUN_DIR)
BENCH := -m benchmarks.throughput
BENCH_TRAINING := -m benchmarks.training

SOURCES := millebornes_env train benchmarks research docs export website tests
LONGEST_FILE := 500

VENV := .venv
RAY_VENV := .venv-ray
PY := $(VENV)/bin/python
COMMA := ,
WORKS_WITH := .venv-works-with

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help train test check format bench bench-training page-test works-with wheel wheel-test web web-test site python-versions \
	test-ray test-openspiel research notebook clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

train: $(VENV)/.installed-train ## train an agent for MINUTES minutes into RUN_DIR (a killed run goes on), then evaluate it
	$(PY) $(TRAIN)
	$(PY) $(EVALUATE)

# Files go to the processes in the order that tests/conftest.py gives them. Byte code is kept even if the environment
# says otherwise: both processes would parse and rewrite all tests anew each time.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.installed-dev ## run the tests (the slow ones: make test PYTEST_FLAGS='-m slow')
	$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder $(PYTEST_FLAGS)

check: $(VENV)/.installed-dev ## formatting, lint, types, import order and lengths of files
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	@awk 'FNR == $(LONGEST_FILE) + 1 { print FILENAME ": more than $(LONGEST_FILE) lines"; bad = 1 } END { exit bad }' \
		$$(find $(SOURCES) -name '*.py')

format: $(VENV)/.installed-dev ## format the code and apply the safe fixes of the linter
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

bench: $(VENV)/.installed-bench ## measure the speed beside RLCard, OpenSpiel, Pgx and PettingZoo's classics
	$(PY) $(BENCH)

bench-training: $(VENV)/.installed-train ## measure the speed of training beside MaskablePPO (ten minutes)
	$(PY) $(BENCH_TRAINING)

page-test: $(VENV)/.installed-browser ## play the page in Chromium
	$(PY) -m pytest tests/page

research: $(VENV)/.installed-research ## answer all research questions (a night; a killed run goes on)
	$(PY) -m research.all

works-with: $(WORKS_WITH)/.installed ## how soon learners of other libraries beat random, in an environment of their own
	$(WORKS_WITH)/bin/python -m pytest tests/works_with -m "slow or not slow"
	$(WORKS_WITH)/bin/python -m benchmarks.works_with

wheel: $(VENV)/.installed-dev ## build the wheel, with machine code, and the source distribution into dist/
	PIP_CONSTRAINT=constraints.txt $(PY) -m build --outdir dist

web: $(VENV)/.installed-web ## build the engine of the page in the browser (WebAssembly), unless it is up to date
	$(PY) -m export.wasm

web-test: web ## replay the golden games in WebAssembly, and compare agents and champions with those of this machine
	$(PY) -m pytest -m "web and not slow" tests/web

wheel-test: $(VENV)/.installed-dev ## build the wheel, install it where nothing else is, and test it there
	$(PY) -m pytest -m wheel tests/compile/test_wheel.py

python-versions: $(VENV)/.installed-dev ## run tests with each Python and with the lowest libraries (docs/python_versions.md)
	$(PY) -m tests.compile.python_versions --docs

test-ray: $(RAY_VENV)/.installed ## run the tests of RLlib and of clusters, in an environment of their own
	$(RAY_VENV)/bin/python -m pytest -m ray tests/on_ray $(PYTEST_FLAGS)

test-openspiel: $(VENV)/.installed-openspiel ## run the tests of the OpenSpiel game, and OpenSpiel's own on it
	$(PY) -m pytest -m "openspiel and not slow" tests/openspiel $(PYTEST_FLAGS)

notebook: $(VENV)/.installed-dev ## run every notebook from top to bottom and keep its outputs
	$(PY) tests/test_notebooks.py

site: $(VENV)/.installed-site ## build the documentation site into build/site
	$(PY) -m export.wasm
	$(PY) -m website.stage build/site-pages
	$(PY) -m sphinx -W --keep-going -q -b html build/site-pages build/site
	@echo "wrote build/site/index.html"

clean: ## remove caches and build outputs (runs/ and .venv stay)
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . \( -name .git -o -name '.venv*' -o -name runs \) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## clean, and remove the environments too
	rm -rf $(VENV) $(WORKS_WITH) $(RAY_VENV)

# A stamp inside .venv per set of extras: written only after pip succeeded, out of date when the pins change.
define install
	@echo "installing .[$(1)] into $(VENV) (a few minutes the first time) ..."
	@$(PY) -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) \
		--constraint constraints.txt --editable '.[$(1)]' \
		|| { echo "The install failed, see above. Run the same make command again to go on." >&2; exit 1; }
	@touch $@
endef

$(VENV)/.installed-train: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train)

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)dev)
	@touch $(VENV)/.installed-train

$(VENV)/.installed-browser: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)dev$(COMMA)browser)
	@touch $(VENV)/.installed-train $(VENV)/.installed-dev

$(VENV)/.installed-web: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)dev$(COMMA)wheel)
	@touch $(VENV)/.installed-train $(VENV)/.installed-dev

$(VENV)/.installed-bench: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)bench)
	@touch $(VENV)/.installed-train

$(VENV)/.installed-openspiel: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)dev$(COMMA)openspiel)
	@touch $(VENV)/.installed-train $(VENV)/.installed-dev

$(VENV)/.installed-research: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)research$(COMMA)openspiel)
	@touch $(VENV)/.installed-train

$(WORKS_WITH)/.installed: pyproject.toml benchmarks/works_with/constraints.txt
	$(PYTHON) -m venv $(WORKS_WITH)
	$(WORKS_WITH)/bin/python -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) \
		--constraint benchmarks/works_with/constraints.txt --editable '.[works-with]' pytest hypothesis
	@touch $@

$(VENV)/.installed-site: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train$(COMMA)dev$(COMMA)wheel$(COMMA)site)
	@touch $(VENV)/.installed-train $(VENV)/.installed-dev

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) found: install Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V 2>&1)." >&2; \
		echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: install its venv module (Debian: python3-venv)." >&2; exit 1; }
	@echo "creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# Ray pins gymnasium to another release than the one that the rest is tested with.
$(RAY_VENV)/.installed: pyproject.toml constraints-ray.txt
	@echo "installing .[ray] into $(RAY_VENV) (a few minutes) ..."
	@test -x $(RAY_VENV)/bin/python || $(PYTHON) -m venv $(RAY_VENV)
	@$(RAY_VENV)/bin/python -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) \
		--constraint constraints-ray.txt --editable '.[ray]' pytest hypothesis \
		|| { echo "The install failed, see above. Run the same make command again to go on." >&2; exit 1; }
	@touch $@
