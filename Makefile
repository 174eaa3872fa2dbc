# Every target sets up .venv first (only when a lock or pyproject.toml changed): nothing to install by hand before.
# test, lint and bench add Spark and what mining is judged by, more than a gigabyte; check does without.
#   make check   the whole catalogue against the built-in reference, with an HTML report
#   make test    the tests that need no network service, JVM server or container
#   make soak    what takes hours: whole catalogues on every release, long fuzzes, 100 kills; before a release
#   make compatibility   checks every NameServer that Apache published, and writes docs/compatibility.md
#   make site    the documentation as pages that open from disk: out/site/index.html
#   make measures   what the cases are worth: every mutant, coverage, values, drawn faults
#   make lint | selftest | live | bench | docs | lock | dist

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
SPARK  := $(VENV)/.spark
# A file at a time, in order: the long ones come first, so that the short ones fill up the end. One worker more
# than processors, because many tests wait for a server.
SPREAD = -n $$(( $$($(BIN)/python -c 'import os; print(min(os.cpu_count() or 1, 4))') + 1 )) --dist loadfile --no-loadscope-reorder

.PHONY: check test lint lint-types lint-code lint-words selftest measures live soak compatibility bench docs site lock dist publish clean
.DELETE_ON_ERROR:
# Tests start the command hundreds of times; without bytecode on disk each start compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

check: $(READY)
	$(BIN)/rmq-harness check builtin: --report html,json,junit --out out/check/nameserver
	$(BIN)/rmq-harness check builtin: --role broker --report html,json,junit --out out/check/broker

test: $(SPARK)
	$(BIN)/python -m pytest tests -m "not live and not soak" $(SPREAD) --durations 25

VALID := $(BIN)/check-jsonschema --builtin-schema vendor.github
lint: lint-types lint-code lint-words
lint-types: $(SPARK)
	$(BIN)/mypy
lint-code: $(SPARK)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(VALID)-workflows .github/workflows/*.yml ci/github/rmq-harness.yml
	$(VALID)-actions action.yml
	$(VALID)-issue-forms .github/ISSUE_TEMPLATE/[0-9]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci ci/gitlab/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
lint-words: $(SPARK)
	$(BIN)/rmq-harness docs --check
	$(BIN)/codespell
	$(BIN)/python ci/prose.py

selftest: $(READY)
	$(BIN)/rmq-harness selftest
	$(BIN)/rmq-harness selftest --role broker

# What the cases are worth: every mutant, code that no case runs, values that no case sends, faults drawn by a seed.
EXPLAINED = --explained tests/quality/explained
FAULTS = 20
measures: selftest
	$(BIN)/rmq-harness selftest --coverage $(EXPLAINED)/not_run.yaml
	$(BIN)/rmq-harness selftest --values $(EXPLAINED)/values_nameserver.yaml
	$(BIN)/rmq-harness selftest --values --role broker $(EXPLAINED)/values_broker.yaml
	$(BIN)/rmq-harness selftest --generated $(FAULTS) --seed 7 $(EXPLAINED)/survivors_nameserver.yaml
	$(BIN)/rmq-harness selftest --generated $(FAULTS) --seed 7 --role broker $(EXPLAINED)/survivors_broker.yaml

live: $(SPARK)
	$(BIN)/python -m pytest tests/live -m "live and not soak" -n 2 --dist loadgroup --durations 15

# Needs what `make live` needs, and the images of `ci/image/build.sh 4.9.8 5.3.3`.
soak: $(SPARK)
	RMQ_KILLS=100 $(BIN)/python -m pytest tests/durability
	$(BIN)/rmq-harness selftest --replies --role broker
	$(BIN)/rmq-harness fuzz builtin: --kind all --max-time 10m --out out/soak/nameserver
	$(BIN)/rmq-harness fuzz builtin: --kind all --role broker --max-time 10m --out out/soak/broker
	RMQ_REQUIRE_LIVE=1 $(BIN)/python -m pytest tests -m soak --durations 0

# Needs Java, Maven, libfaketime and Cargo, and an hour; a target whose record in out/matrix is complete is not
# checked again. The Rust NameServer is another project's, fetched by name and version.
compatibility: $(READY)
	cargo install -q rocketmq-namesrv --version 1.0.0 --locked --root out/rust
	PATH="$$PWD/out/rust/bin:$$PATH" $(BIN)/rmq-harness matrix 'apache:4.3.0..?warp=60' \
	  'Rust 1.0.0=exec:env HOME={dir} rocketmq-namesrv-rust --rocketmqHome {dir} --listenPort {port} --bindAddress 127.0.0.1 --kvConfigPath {dir}/kv.json?warp=60' \
	  --out out/matrix --markdown docs/compatibility.md

bench: $(SPARK)
	$(BIN)/python -m bench

# The documentation site, from docs/ and specs/rendered as they are; it opens from disk: out/site/index.html.
SOURCE := out/site-source
site: $(SPARK)
	rm -rf $(SOURCE) out/site
	mkdir -p $(SOURCE)/specs
	ln -s ../../docs $(foreach page,README ARCHITECTURE CONTRIBUTING CHANGELOG SECURITY,../../$(page).md) $(SOURCE)
	ln -s ../../ci/site/site.css ../../ci/site/iframe-worker.js $(SOURCE)
	ln -s ../../../specs/rendered $(SOURCE)/specs/rendered
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --config-file ci/site/mkdocs.yml

docs: $(READY)
	$(BIN)/rmq-harness docs

# Rewrites the locks; they hold names, versions and hashes, and name no host.
UV_COMPILE = $(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade
lock: $(READY)
	$(BIN)/python -m pip install -q uv
	$(UV_COMPILE) --extra allure --extra control --extra docker --extra fast --extra pcap --group dev -o requirements.lock
	$(UV_COMPILE) --extra spark --group oracles --group clients --group site -c requirements.lock -o requirements-extras.lock

# Wheel and source archive of a release, in dist/. TAG, if given, must be that of the version.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	@test -z "$(TAG)" || ls "dist/rmq_harness-$(TAG:v%=%).tar.gz" >/dev/null || { \
	  echo "The tag is $(TAG), and dist/ has another version: correct pyproject.toml or the tag."; exit 3; }

# In a workflow that the registry trusts: it needs no token.
publish: $(READY)
	$(BIN)/python -m pip install -q uv
	$(BIN)/uv publish --trusted-publishing always dist/*

clean:
	rm -rf $(VENV) out dist build .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "rmq-harness needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || echo missing)."; \
	  echo "Install one and name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "This Python cannot make virtual environments (module ensurepip or venv is missing)."; \
	  echo "On Debian or Ubuntu: apt-get install python3-venv"; exit 3; }
	@echo "setting up $(VENV) (once; again only when the lock changes) …"
	@rm -f $@
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --no-compile --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(SPARK): $(READY) requirements-extras.lock
	@echo "adding Spark to $(VENV) (once; more than a gigabyte) …"
	@rm -f $@
	@$(BIN)/python -m pip install -q --no-compile --disable-pip-version-check --require-hashes -r requirements-extras.lock
	@touch $@
