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

SOURCES := millebornes_env train benchmarks research docs export tests
LONGEST_FILE := 1000 # reconsider at 800; train/selfplay.py is longer, to be read from top to bottom

VENV := .venv
RAY_VENV := .venv-ray
PY := $(VENV)/bin/python
# Extras that fit into one environment (Ray has its own; TextArena is tested by a stand-in).
ALL_EXTRAS := train,data,pictures,study,openspiel
WORKS_WITH := .venv-works-with

# Lanes: `make test` runs the first three. What a lane of its own tests (page, study, ...) is tested by nothing else; page and
# study never share a process, in which Playwright's event loop would break asyncio's.
RULES := tests/rules tests/oracle tests/notation tests/engine/test_*.py tests/golden
CORE := tests/agents tests/arena tests/cli tests/engine/numba tests/envs tests/export tests/games tests/golden tests/hostile \
	tests/laws tests/play/language tests/play/terminal tests/render tests/solving/test_*.py \
	tests/solving/extensive tests/testing tests/test_package.py tests/test_rulings.py
TRAIN_TESTS := tests/train tests/research tests/benchmarks tests/test_docs.py tests/test_notebooks.py tests/test_website.py

# Byte code is kept even if the environment says otherwise: each process would parse and rewrite all tests anew.
TEST := env -u PYTHONDONTWRITEBYTECODE $(PY) -m pytest
TWO_PROCESSES := -n auto --dist worksteal
# What starts browsers, servers and other processes may fail because of them: one more try, which the summary names.
ONE_RETRY := --reruns 1 -rR

.DEFAULT_GOAL := help
.PHONY: help train test test-rules test-core test-train extras test-page test-study test-torchrun test-web test-wheel \
	test-bounds test-openspiel test-ray works-with check format bench bench-training wheel web site research notebook space clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

train: $(VENV)/.installed-train ## train an agent for MINUTES minutes into RUN_DIR (a killed run goes on), then evaluate it
	$(PY) $(TRAIN)
	$(PY) $(EVALUATE)

test: test-rules test-core test-train ## run the tests that every change must pass (the slow ones: PYTEST_FLAGS='-m slow')

test-rules: $(VENV)/.installed-dev ## ... of rulebooks, oracle, notation and engine, in plain Python
	NUMBA_DISABLE_JIT=1 $(TEST) $(TWO_PROCESSES) $(RULES) $(PYTEST_FLAGS)

test-core: $(VENV)/.installed-dev ## ... of environments, agents, laws, arena, solving and commands, compiled
	$(PY) -m tests.fill_cache
	$(TEST) $(TWO_PROCESSES) $(CORE) $(PYTEST_FLAGS)

test-train: $(VENV)/.installed-dev ## ... of trainers, research, notebooks and docs
	$(TEST) $(TWO_PROCESSES) $(TRAIN_TESTS) $(PYTEST_FLAGS)

extras: test-wheel test-page test-study test-web test-openspiel test-torchrun test-bounds site ## all other lanes but test-ray (the longest first)

test-page: $(VENV)/.installed-dev web ## play the page in Chromium
	$(TEST) $(ONE_RETRY) tests/play/page $(PYTEST_FLAGS)

test-study: $(VENV)/.installed-dev ## studies: the server, its WebSockets, its journal
	$(TEST) $(ONE_RETRY) tests/play/study $(PYTEST_FLAGS)

test-torchrun: $(VENV)/.installed-dev ## training by several processes
	$(TEST) $(ONE_RETRY) -m torchrun tests/train $(PYTEST_FLAGS)

test-bounds: $(VENV)/.installed-dev ## the golden games with every index checked
	NUMBA_BOUNDSCHECK=1 $(TEST) $(ONE_RETRY) tests/golden $(PYTEST_FLAGS)

test-web: $(VENV)/.installed-dev web ## replay the golden games in WebAssembly, and compare agents and champions with those of this machine
	$(TEST) $(ONE_RETRY) -m "web and not slow" tests/play/web $(PYTEST_FLAGS)

test-wheel: $(VENV)/.installed-dev ## build the wheel, install it where nothing else is, and test it there
	$(TEST) $(ONE_RETRY) -m "wheel and not slow" tests/export/test_wheel.py $(PYTEST_FLAGS)

test-openspiel: $(VENV)/.installed-dev ## the OpenSpiel game, with OpenSpiel's own tests
	$(TEST) $(ONE_RETRY) -m "openspiel and not slow" tests/solving/openspiel $(PYTEST_FLAGS)

test-ray: $(RAY_VENV)/.installed ## RLlib and clusters, in an environment of their own
	$(RAY_VENV)/bin/python -m pytest -m ray tests/on_ray $(PYTEST_FLAGS)

works-with: $(WORKS_WITH)/.installed ## how soon learners of other libraries beat random, in an environment of their own
	$(WORKS_WITH)/bin/python -m pytest tests/works_with -m "slow or not slow"
	$(WORKS_WITH)/bin/python -m research.measurements.works_with

check: $(VENV)/.installed-dev ## formatting, lint, types, import order, workflows, first words of docstrings, lengths of files
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/zizmor --offline --quiet .github
	@! grep -rnE --include='*.py' '^ *r?"{3}(What|Who|Whose|How|Whether|Where|Which)\b' $(SOURCES) agents || \
		{ echo 'a docstring starts with a verb ("Return True if ...") or a noun'; exit 1; }
	@awk 'FNR == $(LONGEST_FILE) + 1 { print FILENAME ": more than $(LONGEST_FILE) lines"; bad = 1 } END { exit bad }' \
		$$(find $(SOURCES) -name '*.py')

format: $(VENV)/.installed-dev ## format the code and apply the safe fixes of the linter
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

bench: $(VENV)/.installed-bench ## measure the speed beside RLCard, OpenSpiel, Pgx and PettingZoo's classics
	$(PY) $(BENCH)

bench-training: $(VENV)/.installed-train ## measure the speed of training beside MaskablePPO (ten minutes)
	$(PY) $(BENCH_TRAINING)

research: $(VENV)/.installed-dev ## answer all research questions (a night; a killed run goes on)
	$(PY) -m research.all

wheel: $(VENV)/.installed-build ## build into dist/: source distribution, wheel for all platforms, wheel with machine code
	PIP_CONSTRAINT=constraints.txt MILLEBORNES_WHEEL_PLATFORM=any $(PY) -m build --outdir dist
	PIP_CONSTRAINT=constraints.txt $(PY) -m build --wheel --outdir dist

web: $(VENV)/.installed-dev ## build the engine of the page in the browser (WebAssembly), unless it is up to date
	$(PY) -m export.wasm

notebook: $(VENV)/.installed-dev ## run every notebook from top to bottom and keep its outputs
	$(PY) tests/test_notebooks.py

site: web ## build the documentation site into build/site
	$(PY) -m docs.site.stage build/site-pages
	$(PY) -m sphinx -W --keep-going -q -b html build/site-pages build/site
	@echo "wrote build/site/index.html"

space: web ## write the page as a static Space of Hugging Face into space/
	$(PY) -m docs.site.space space

clean: ## remove caches and build outputs (runs/ and .venv stay)
	rm -rf build dist space .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . \( -name .git -o -name '.venv*' -o -name runs \) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## clean, and remove the environments too
	rm -rf $(VENV) $(WORKS_WITH) $(RAY_VENV)

# Python brings an older pip, which does not know dependency groups.
define new_pip
	@$(1)/bin/python -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) --upgrade 'pip>=25.1'
endef

# A stamp inside .venv per set of extras and groups: written only after pip succeeded, out of date when the pins change.
define install
	@echo "installing .[$(1)] into $(VENV) (a few minutes the first time) ..."
	@$(PY) -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) \
		--constraint constraints.txt --editable '.[$(1)]' $(2) \
		|| { echo "The install failed, see above. Run the same make command again to go on." >&2; exit 1; }
	@touch $@
endef

$(VENV)/.installed-train: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train)

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,$(ALL_EXTRAS),--group dev)
	@touch $(VENV)/.installed-train

$(VENV)/.installed-bench: $(VENV)/.created pyproject.toml constraints.txt
	$(call install,train,--group bench)
	@touch $(VENV)/.installed-train

# A wheel needs its build backend alone, which pip fetches into an environment of its own.
$(VENV)/.installed-build: $(VENV)/.created constraints.txt
	@$(PY) -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) --constraint constraints.txt build
	@touch $@

$(WORKS_WITH)/.installed: pyproject.toml research/measurements/works_with/constraints.txt
	$(PYTHON) -m venv $(WORKS_WITH)
	$(call new_pip,$(WORKS_WITH))
	$(WORKS_WITH)/bin/python -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) \
		--constraint research/measurements/works_with/constraints.txt --editable '.[train]' --group works-with --group test
	@touch $@

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) found: install Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V 2>&1)." >&2; \
		echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: install its venv module (Debian: python3-venv)." >&2; exit 1; }
	@echo "creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	$(call new_pip,$(VENV))
	@touch $@

# Ray pins gymnasium to another release than the one that the rest is tested with.
$(RAY_VENV)/.installed: pyproject.toml constraints-ray.txt
	@echo "installing .[ray] into $(RAY_VENV) (a few minutes) ..."
	@test -x $(RAY_VENV)/bin/python || $(PYTHON) -m venv $(RAY_VENV)
	$(call new_pip,$(RAY_VENV))
	@$(RAY_VENV)/bin/python -m pip install --quiet --no-input --disable-pip-version-check $(PIP_FLAGS) \
		--constraint constraints-ray.txt --editable '.[ray]' --group test \
		|| { echo "The install failed, see above. Run the same make command again to go on." >&2; exit 1; }
	@touch $@
