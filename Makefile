# `make demo` and `make test` do everything in a fresh clone. Environments are made once and kept by their stamps; the
# versions in constraints/ make a run today and one next year the same.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

VENV := .venv
REFEREES := .venv-referees
EXTRAS := .venv-extras
OLDEST := .venv-oldest
ARROW := .venv-arrow
ARROW_18 := .venv-arrow18
BIN := $(VENV)/bin
# Each worker has a Spark of its own, and takes one file of tests after the other, long ones first.
WORKERS := 2
TESTS := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PIP := -m pip install --quiet --disable-pip-version-check
JAR := .cache/referees/paimon-python-java-bridge-0.9.0.jar

DEMO_STAMP := $(VENV)/.stamp-demo
DEV_STAMP := $(VENV)/.stamp-dev
REFEREES_STAMP := $(REFEREES)/.stamp
CLASSES := .cache/java/spark-classes.jsa
EXTRA_STAMPS := $(patsubst %,$(EXTRAS)/%/.stamp,base arrow spark connect fsspec prometheus openlineage demo)
OLDEST_STAMP := $(OLDEST)/.stamp
ARROW_STAMPS := $(ARROW)/.stamp $(ARROW_18)/.stamp

# The home of a Java 17+; asked for in recipes only, since it may install one.
JAVA = JAVA_HOME="$$(scripts/ensure_java.sh)" && export JAVA_HOME SPARK_LOCAL_IP=127.0.0.1 &&

##@ Use
.PHONY: demo
demo: $(DEMO_STAMP) ## Run the main job on real data: the flights of New York in 2013
	$(JAVA) $(BIN)/python -m lakebed.demo

##@ Check
# Most of what comes before the tests keeps one processor busy: so many steps of it go on at once, too.
.PHONY: test
test: ## Lint, types and all tests
	$(MAKE) --no-print-directory --jobs=$(WORKERS) lint types environments
	$(JAVA) $(TESTS) $(PYTEST)

.PHONY: quick
quick: $(DEV_STAMP) ## The tests that need no Spark, no Java and no referees
	$(TESTS) -m 'not (spark or referee or java or slow)' $(PYTEST)

.PHONY: lint
lint: $(DEV_STAMP) ## Style, format and the contract of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

.PHONY: types
types: $(DEV_STAMP) ## mypy --strict
	$(BIN)/mypy --strict

.PHONY: format
format: $(DEV_STAMP) ## Mend style and format in place
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(DEV_STAMP) $(REFEREES_STAMP) ## Measure against Spark and pypaimon, and write bench/results.md
	$(JAVA) $(BIN)/python -m bench $(BENCH)

##@ Environments
.PHONY: environments
environments: $(DEV_STAMP) $(CLASSES) referees extras arrow $(OLDEST_STAMP) ## All environments that the tests need

.PHONY: referees
referees: $(REFEREES_STAMP) $(JAR) ## pypaimon, pypaimon-rust and the jar of Java Paimon

.PHONY: extras
extras: $(EXTRA_STAMPS) ## What each extra asks for, each alone

.PHONY: arrow
arrow: $(ARROW_STAMPS) ## The oldest and the newest pyarrow, without Spark

$(DEMO_STAMP): pyproject.toml constraints/main.txt | scripts/make_environment.sh
	scripts/make_environment.sh $(VENV)
	$(BIN)/python $(PIP) --constraint constraints/main.txt --editable '.[demo]'
	touch $@

$(DEV_STAMP): pyproject.toml constraints/main.txt | scripts/make_environment.sh
	scripts/make_environment.sh $(VENV)
	$(BIN)/python $(PIP) --constraint constraints/main.txt --upgrade pip
	$(BIN)/python $(PIP) --constraint constraints/main.txt --group dev --editable '.[arrow,spark,connect,fsspec,prometheus,openlineage,demo]'
	touch $@ $(DEMO_STAMP)

$(REFEREES_STAMP): constraints/referees.txt | scripts/make_environment.sh
	scripts/make_environment.sh $(REFEREES)
	$(REFEREES)/bin/python $(PIP) --requirement constraints/referees.txt
	touch $@

$(ARROW_18)/.stamp: VERSION := ==18.1.0
$(ARROW_STAMPS): constraints/arrow.txt constraints/main.txt | scripts/make_environment.sh
	scripts/make_environment.sh $(@D)
	$(@D)/bin/python $(PIP) $(if $(VERSION),,--constraint constraints/main.txt) --requirement constraints/arrow.txt 'pyarrow$(VERSION)'
	touch $@

# The wheel itself is put there by the tests, which see that nothing but what it asks for is there. So each is made anew.
$(EXTRA_STAMPS): $(EXTRAS)/%/.stamp: pyproject.toml constraints/main.txt | scripts/make_environment.sh
	rm -rf $(@D)
	scripts/make_environment.sh $(@D)
	$(@D)/bin/python $(PIP) --no-compile --constraint constraints/main.txt '.$(patsubst [base],,[$*])'
	touch $@

# The oldest versions that pyproject.toml allows, for tests that run from this directory.
$(OLDEST_STAMP): constraints/oldest.txt | scripts/make_environment.sh
	scripts/make_environment.sh $(OLDEST)
	$(OLDEST)/bin/python $(PIP) --no-compile --requirement constraints/oldest.txt
	touch $@

$(JAR): scripts/fetch_java_referee.py | $(REFEREES_STAMP)
	$(REFEREES)/bin/python $< $@

# Where it is absent, or of another Java or PySpark, each Java reads the jars as usual.
$(CLASSES): $(DEV_STAMP) tests/runtime/archive_classes.py
	$(JAVA) $(BIN)/python tests/runtime/archive_classes.py

##@ Tidy
.PHONY: clean
clean: ## Remove what builds, checks and the demo leave behind
	rm -rf build dist demo-warehouse spark-warehouse .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests bench scripts -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove the environments too
	rm -rf $(VENV) $(REFEREES) $(EXTRAS) $(OLDEST) $(ARROW) $(ARROW_18) .cache

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
