# One place for every command. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Tests start hundreds of nodes: without compiled modules each would compile the whole product anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= $(shell scripts/find_python)
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements/dev.lock
INSTALLED := $(VENV)/.installed.lock
CHROMIUM := /usr/bin/chromium-headless-shell
PYTHON_FOLDERS := $(wildcard groupcore server pipeline tests bench scripts)
PIPELINE_LOCK := requirements/pipeline.lock
PIPELINE_INSTALLED := $(VENV)/.pipeline.lock
SUPPLY_VENV := .venv-supply
SUPPLY_INSTALLED := $(SUPPLY_VENV)/.installed.lock
PIP_COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header \
	--no-emit-options --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --annotation-style=line

# Tests of real sockets, processes and pages, which wait a lot: two files at a time, in this order. The long ones are
# first, and those that share a browser and a cluster stand together.
REAL_TESTS := tests/bench tests/test_wheel.py tests/end_to_end tests/server tests/groupcore/aio tests/groupcore/blocks \
	tests/groupcore/web tests/robust

# What computes gives way to the real tests: on a slow machine it stands still for many minutes, and hangs only behind that.
PATIENT := -o faulthandler_timeout=3600

# Of the core's tests those that simulate, the longer half.
SIMULATED := tests/groupcore/sim tests/groupcore/sequencing
# These have more to play than `make test` has the time for (docs/proof.md).
THOROUGH_TESTS := \
	$(addprefix tests/groupcore/sim/rows/test_rows_,halves.py membership.py state_transfer.py)

# What `make quick` leaves to `make test`: tests of real sockets, simulations, and the games of the page's model.
QUICK_LEAVES_OUT := $(filter tests/groupcore/%,$(REAL_TESTS)) tests/groupcore/sim
PAGE_GAMES := disturbed,fuzz,history,planted,power,rounds

PLAN_TEST := tests/end_to_end/test_plan_in_effect.py

SEEDS ?= 200
BENCH ?= all

WEBUI_SOURCES := $(shell find webui -path webui/node_modules -prune -o -path webui/dist -prune \
	-o -type f -print 2>/dev/null)
WEBUI_INSTALLED := webui/node_modules/.installed
WEBUI_BUILT := webui/dist/index.html

.PHONY: help
help: ## print this list
	@echo "make TARGET, where TARGET is one of:"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '  %-16s %s\n' $$name "$$text"; done

.PHONY: setup
setup: $(INSTALLED) $(WEBUI_BUILT) ## virtual environment, locked packages, page build

.PHONY: chromium
chromium: ## the browser that the browser tests drive (Debian's package of its headless shell)
	@scripts/install_chromium $(CHROMIUM)

.PHONY: check
check: check-rules check-types check-page ## format, lint, strict types, import contracts, tidy rules

.PHONY: check-rules
check-rules: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q tests/test_tidy.py

.PHONY: check-types
check-types: $(INSTALLED) $(PIPELINE_INSTALLED)
	$(BIN)/mypy $(PYTHON_FOLDERS)

.PHONY: check-page
check-page: $(WEBUI_BUILT)
	cd webui && npm run --silent check

# What one runs between two edits: nothing that starts a node, a browser or Spark, and of what takes long nothing.
.PHONY: quick
quick: setup pipeline ## checks, unit tests and 100 schedules: 2 to 4 minutes on two cores
	@$(MAKE) -j 2 --output-sync=target quick-core check quick-page quick-schedules

.PHONY: quick-core
quick-core: $(INSTALLED)
	$(BIN)/python -m pytest -q -m "not slow" tests/groupcore tests/scripts $(QUICK_LEAVES_OUT:%=--ignore=%)

.PHONY: quick-page
quick-page: setup
	cd webui && npx vitest run --exclude "tests/document/{$(PAGE_GAMES)}.test.ts"

.PHONY: quick-schedules
quick-schedules: $(INSTALLED)
	$(BIN)/python -m groupcore.sim --profile all --schedules 100 --seed $${SEED:-1}

# First what is said in a minute. What only computes, types, the core's tests, the schedules and the Spark jobs', judges nothing
# by the clock: it takes what the real tests leave, and waits whenever one of these wants a core. So a third real test at a time
# would end nothing sooner, and each would have less of the cores than people's machines give it. A stage that fails ends
# `make test`, those beside it first.
.PHONY: test
test: ## check and all tests, those in a browser included
	@$(MAKE) -j 4 --output-sync=target chromium check-rules check-page test-page pipeline
	@$(MAKE) -j 3 test-real test-beside

.PHONY: test-page
test-page: setup
	cd webui && npm run --silent test

# Two processes that share nothing, each with its tests: both would read all tests if they shared them, and tell a third
# one of each.
.PHONY: test-core
test-core: test-simulated test-rest

.PHONY: test-simulated
test-simulated: $(INSTALLED)
	$(BIN)/python -m pytest $(PATIENT) $(SIMULATED)

.PHONY: test-rest
test-rest: $(INSTALLED)
	$(BIN)/python -m pytest $(PATIENT) tests --ignore=tests/test_tidy.py --ignore=tests/pipeline $(SIMULATED:%=--ignore=%) \
		$(REAL_TESTS:%=--ignore=%)

.PHONY: test-real
test-real: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(REAL_TESTS) --ignore=$(PLAN_TEST)

# One Java machine, in one process and one session: most of the time it plans on one core alone.
.PHONY: test-pipeline
test-pipeline: pipeline
	$(BIN)/python -m pytest $(PATIENT) -m "not cluster" tests/pipeline

# Two of them at a time beside the real ones, of all these jobs, so that both cores are busy to the end. Each is said
# in one piece when it is done, not between the lines of the real tests.
.PHONY: test-beside
test-beside:
	+@nice -n 19 $(MAKE) --output-sync=recurse check-types test-pipeline test-core test-schedules test-rounds

# What is always the same, so that a commit is not judged by its luck: of new schedules some 1 in 700 finds something,
# of new games 1 in 150. `make schedules` and `make rounds` play new ones; what they find is kept (docs/proof.md).
.PHONY: test-rounds
test-rounds:
	@$(MAKE) rounds ROUNDS=2000 SECOND=

# The first of those that `make schedules` plays: they take half a second each, and the tests have 25 minutes.
.PHONY: test-schedules
test-schedules: $(INSTALLED)
	$(BIN)/python -m groupcore.sim --profile all --schedules 600 --seed 1

.PHONY: schedules
schedules: $(INSTALLED) ## 1,500 simulated schedules that are always the same, 1,500 new ones for each commit (or of SECOND=seed), and the tests of which make test plays a part
	$(BIN)/python -m groupcore.sim --profile all --schedules 1500 --seed 1
	$(BIN)/python -m groupcore.sim --profile all --schedules 1500 --seed $${SECOND:-$$(scripts/print_seed)}
	THOROUGH=1 $(BIN)/python -m pytest -q $(THOROUGH_TESTS)

.PHONY: pipeline
pipeline: $(INSTALLED) $(PIPELINE_INSTALLED) ## install the Spark jobs (half a gigabyte): python -m pipeline --help

.PHONY: pipeline-cluster
pipeline-cluster: pipeline ## the Spark jobs on a standalone cluster: a master and two workers on the loopback interface
	$(BIN)/python -m pytest -m cluster tests/pipeline

.PHONY: run
run: setup ## three nodes and the page; honours PORT_BASE and DATA_DIR
	@exec $(BIN)/python -m server.supervise

.PHONY: sim
sim: setup ## simulate SEEDS=200 fault schedules from seed SEED=1
	@$(BIN)/python -m groupcore.sim --profile all --schedules $(SEEDS) --seed $${SEED:-1} \
		--probes $${LEDGER:+--ledger "$$LEDGER" --commit "$$(git rev-parse --short HEAD)"}

.PHONY: plants
plants: setup ## plant each known bug and see that the simulator catches it
	@$(BIN)/python scripts/run_plants.py

# Network namespaces need root; without them it says why and fails.
.PHONY: robust
robust: setup ## real nodes in network namespaces, with cuts, loss, kills, stops, full and failing disks, judged like simulated ones: MINUTES=5 of SEED=1
	@$(BIN)/python -m tests.robust.run --minutes $${MINUTES:-5} --nodes $${NODES:-3} --seed $${SEED:-1}

# The first run records which test runs which line, some ten minutes of CPU; a run that was broken off goes on.
.PHONY: mutants
mutants: setup ## single edits of the protocol that a test or schedule must find: MUTANTS=300 of SEED=1; 1 if one survives unexplained
	@nice -n 10 $(BIN)/python -m scripts.run_mutants --mutants $${MUTANTS:-300} --seed $${SEED:-1} --budget $${BUDGET:-40}

.PHONY: explore
explore: setup ## every behaviour of very small clusters; SCOPE=NAME for one
	@$(BIN)/python -m groupcore.sim.explore --scope $${SCOPE:-all}

.PHONY: walks
walks: setup ## random walks of groups in which a node hears late of the order: WALKS=10000 of SEED=1
	@$(BIN)/python -m groupcore.sim.explore --walks $${WALKS:-10000} --seed $${SEED:-1}

.PHONY: bench
bench: setup ## measure; BENCH=NAME for one figure
	@$(BIN)/python scripts/run_benches.py $(BENCH)

.PHONY: migrations
migrations: setup ## a group migrates MIGRATIONS=10000 times under load: nothing lost, nothing doubled
	MIGRATIONS=$${MIGRATIONS:-10000} $(BIN)/python -m pytest -q tests/groupcore/aio/test_migrations.py

.PHONY: typists
typists: setup ## random people on pages of a simulated cluster: GAMES=100 games from SEED=1, of TURNS=60
	cd webui && GAMES=$${GAMES:-100} SEED=$${SEED:-1} TURNS=$${TURNS:-60} npx vitest run tests/document/fuzz.test.ts

# By itself: three nodes, a browser and Spark at once want the machine, and it is the load on that which is measured.
.PHONY: plan-end-to-end
plan-end-to-end: setup pipeline chromium ## a plan out of a skewed load, approved in a browser, measured with five nodes; TYPED=150 seconds each, 0: little, three
	PLAN_PHASE_S=$${TYPED:-150} $(BIN)/python -m pytest -q -s -o faulthandler_timeout=900 $(PLAN_TEST)

# Most of what a round makes is thrown away behind it: a nursery of 64 MB has it die young.
.PHONY: rounds
rounds: setup ## three pages do ten things each at once and must agree behind it: ROUNDS=20000, half from SEED=1, half new for each commit (or of SECOND=seed)
	@cd webui && ROUNDS=$${ROUNDS:-20000} SEED=$${SEED:-1} SECOND=$${SECOND-$$(../scripts/print_seed)} \
		npx vitest run tests/document/rounds.test.ts --execArgv=--max-semi-space-size=64

.PHONY: disturbed
disturbed: setup ## tokens typed while people are offline, split, join, move, cut, undo and are cut off: GAMES=2000 games from SEED=1
	@cd webui && GAMES=$${GAMES:-2000} SEED=$${SEED:-1} \
		npx vitest run tests/document/disturbed.test.ts --execArgv=--max-semi-space-size=64

.PHONY: game
game: setup chromium ## four browsers on three nodes type tokens, offline and on, nodes are killed: GAMES=20 from SEED=1; 1 unless all stand once
	@$(BIN)/python -m tests.end_to_end.token_game --games $${GAMES:-20} --seed $${SEED:-1}

.PHONY: history
history: setup ## one document, OPERATIONS=100000 operations by ten people: the same for all, no letter lost
	cd webui && HISTORY=$${OPERATIONS:-100000} SEED=$${SEED:-1} \
		npx vitest run tests/document/history.test.ts --execArgv=--max-semi-space-size=64

.PHONY: fuzz-api
fuzz-api: setup ## ask the HTTP API EXAMPLES=200 of everything its description allows and forbids, from SEED=1
	API_PHASES=examples,coverage,fuzzing,stateful API_EXAMPLES=$${EXAMPLES:-200} API_LIMIT_S=3600 \
		$(BIN)/python -m pytest -q -s tests/server/accounts/test_described_api.py

# In CI each decoder gets a few hundred mutations.
.PHONY: fuzz-decoders
fuzz-decoders: setup ## every decoder, and what is done with its values: MUTATIONS=50000 for each, from SEED=1
	DECODER_MUTATIONS=$${MUTATIONS:-50000} DECODER_SEED=$${SEED:-1} \
		$(BIN)/python -m pytest -q -o faulthandler_timeout=0 tests/groupcore/decoders

.PHONY: coverage
coverage: setup ## branch coverage of groupcore by its own tests
	$(BIN)/coverage run --source=groupcore -m pytest -q tests/groupcore
	$(BIN)/coverage report

.PHONY: lock
lock: $(INSTALLED) ## resolve pyproject.toml anew into requirements/dev.lock
	$(BIN)/python scripts/print_requirements.py | $(PIP_COMPILE) --upgrade --output-file=$(LOCK) -

.PHONY: lock-pipeline
lock-pipeline: $(INSTALLED) ## the same for the Spark jobs, beside the versions of requirements/dev.lock
	$(BIN)/python scripts/print_requirements.py pipeline | $(PIP_COMPILE) --upgrade \
		--constraint=$(LOCK) --output-file=$(PIPELINE_LOCK) -
	$(BIN)/python scripts/print_requirements.py java | $(PIP_COMPILE) --upgrade --output-file=requirements/java.lock -

.PHONY: lock-supply
lock-supply: $(INSTALLED) ## the same for the tools of `make sbom` and `make advisories`
	$(BIN)/python scripts/print_requirements.py supply | $(PIP_COMPILE) --upgrade \
		--output-file=requirements/supply.lock -

# The same locks give the same bytes, but for the time in the page's.
.PHONY: sbom
sbom: setup $(SUPPLY_INSTALLED) ## what runs, as CycloneDX: dist/sbom/server.json, pipeline.json and page.json
	@mkdir -p dist/sbom
	$(BIN)/python -m scripts.print_shipped | $(SUPPLY_VENV)/bin/cyclonedx-py requirements --output-reproducible \
		--pyproject pyproject.toml --output-file dist/sbom/server.json -
	$(SUPPLY_VENV)/bin/cyclonedx-py requirements --output-reproducible --output-file dist/sbom/pipeline.json \
		$(PIPELINE_LOCK)
	cd webui && npm sbom --sbom-format cyclonedx --omit dev --package-lock-only >../dist/sbom/page.json

.PHONY: advisories
advisories: $(SUPPLY_INSTALLED) ## known advisories of all locked packages: 1 if there is one, 3 where not all could be checked
	@$(PYTHON) scripts/check_advisories.py $(SUPPLY_VENV)/bin/pip-audit

.PHONY: clean
clean: ## remove everything that the other targets made
	rm -rf $(VENV) $(SUPPLY_VENV) webui/node_modules webui/dist .data build dist *.egg-info htmlcov .coverage \
		.hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find $(PYTHON_FOLDERS) -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamp is a copy of the lock, so an environment that already holds the locked packages is
# kept even if the lock is newer by date, as it is after a checkout.
$(INSTALLED): $(LOCK) scripts/install_packages
	@scripts/install_packages $(PYTHON) $(VENV) $(LOCK) $@

$(SUPPLY_INSTALLED): requirements/supply.lock scripts/install_packages
	@scripts/install_packages $(PYTHON) $(SUPPLY_VENV) requirements/supply.lock $@

# The server's packages and the jobs' share the environment; the stamp of these is behind that of those. Of the jobs' most
# modules are never imported: those that are compile themselves then, the others not at all.
$(PIPELINE_INSTALLED): $(PIPELINE_LOCK) requirements/java.lock scripts/install_packages scripts/install_java | $(INSTALLED)
	@scripts/install_packages $(PYTHON) $(VENV) $(PIPELINE_LOCK) $@ --no-compile
	@scripts/install_java $(VENV) requirements/java.lock

$(WEBUI_INSTALLED): webui/package.json webui/package-lock.json
	@scripts/require_node
	cd webui && npm ci --no-audit --no-fund
	@touch $@

$(WEBUI_BUILT): $(WEBUI_INSTALLED) $(WEBUI_SOURCES)
	cd webui && npm run --silent build
	@touch $@
