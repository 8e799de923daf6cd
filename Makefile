# litepress: what people do here. `make` alone prints this list.

CARGO ?= cargo
PYTHON ?= python3
ROWS ?=
SCALE ?= small
ONLY ?=
ARCH ?=
REPEAT ?=
VENV = $(CURDIR)/target/python-venv
CLUSTER = $(CURDIR)/target/cluster-venv
DOCS = $(CURDIR)/target/docs-venv
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check
ENGINES = pyspark==4.3.0 'ray[data]==2.60.0' 'dask[dataframe,distributed]==2026.8.0' pyarrow pandas pytest s3fs 'moto[server]'

.PHONY: help build install install-c install-adbc install-extension dist test-dist demo test test-python test-cluster race crash powercut faults random schedules miri sanitize lazyfs soak fuzz audit fetch lint test-bench bench figures docs clean tools

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: PROFILE ?= release
build: ## build the program: target/release/litepress
	$(CARGO) build --profile $(PROFILE) --locked -p litepress-cli

# `man` looks beside the folders of programs: for ~/.cargo/bin in ~/.cargo/share/man.
install: PREFIX ?= $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)
install: ## install the program for you, and its manual pages
	$(CARGO) install --locked --path crates/cli --root $(PREFIX)
	$(PREFIX)/bin/litepress man $(PREFIX)/share/man/man1

install-c: PREFIX ?= /usr/local
install-c: ## install the C library liblitepress, its header, and files for pkg-config and CMake
	$(CARGO) build --release --locked -p litepress-c
	crates/c/install.sh target/release $(PREFIX)

install-adbc: PREFIX ?= /usr/local
install-adbc: MANIFESTS ?= $(if $(filter 0,$(shell id -u)),/etc/adbc/drivers,$(HOME)/.config/adbc/drivers)
install-adbc: ## install the ADBC driver and its manifest, so that driver managers find "litepress"
	$(CARGO) build --release --locked -p litepress-adbc
	crates/adbc/install.sh target/release $(PREFIX) $(MANIFESTS)

dist: ## make what a release needs in target/dist: programs, wheels, packages, checksums; ARCH=aarch64, ONLY=program,wheels
	$(PYTHON) dist/build.py $(ARCH:%=--arch %) $(ONLY:%=--only %)

test-dist: ## install and use what `make dist` made, in folders without Rust; as root, in file systems of their own
	$(PYTHON) dist/check.py

install-extension: PREFIX ?= /usr/local
install-extension: ## install litepress.so, the extension of SQLite, and its header
	$(CARGO) build --release --locked -p litepress-extension
	mkdir -p $(PREFIX)/lib $(PREFIX)/include
	install -m 755 target/release/liblitepress_extension.so $(PREFIX)/lib/litepress.so
	install -m 644 crates/extension/include/litepress_extension.h $(PREFIX)/include/

demo: build ## print the challenge's table, ROWS=100m (or 1b), and look at it
	$(if $(filter dev,$(PROFILE)),LITEPRESS_BENCH_UNOPTIMIZED=1) python3 bench/demo.py --rows $(or $(ROWS),100m)

test: tools ## pass all tests; builds no competitor
	$(PYTHON) tests/run.py
	@# Tests of benchmarks mostly wait for a browser: they run beside those in Python.
	@export LITEPRESS_BENCH_UNOPTIMIZED=1; \
	$(PYTHON) -m unittest discover -s bench -p '*_test.py' > target/bench-tests.txt 2>&1 & benches=$$!; \
	$(MAKE) test-python; python=$$?; \
	wait $$benches; benches=$$?; cat target/bench-tests.txt; exit $$((python | benches))

test-bench: tools ## run every benchmark once with few rows: builds all competitors
	cd bench && LITEPRESS_BENCH_UNOPTIMIZED=1 python3 -m unittest smoke_tests

# Tests compile the package with the dev profile, like the tests in Rust: it takes a quarter of the time and checks more.
test test-python test-cluster test-bench: export MATURIN_PEP517_ARGS = --profile dev

# Installs the package in a new environment, like a user, and runs its tests, stub and examples.
test-python: tools
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP_INSTALL) './python[test]'
	$(VENV)/bin/python -m pytest -n auto -c python/pyproject.toml python/tests python/examples
	$(VENV)/bin/python -m mypy.stubtest litepress --allowlist python/stubtest.txt
	$(VENV)/bin/python -m mypy --config-file python/pyproject.toml python/examples
	$(VENV)/bin/python -m pyright --pythonpath $(VENV)/bin/python python/examples

test-cluster: tools ## run the tests with Spark, Ray, Dask and an S3 store, in an environment of their own: needs Java 17
	@java -version 2>&1 | grep -q 'version "\(1[7-9]\|2[0-9]\)' || { echo "SKIPPED: make test-cluster needs Java 17 or later"; exit 0; }; set -ex; \
	$(PYTHON) -m venv $(CLUSTER); \
	$(CLUSTER)/bin/python $(PIP_INSTALL) $(ENGINES) ./python; \
	$(CLUSTER)/bin/python -m pytest -c python/tests_cluster/pytest.ini python/tests_cluster

# The tests install what they lack. Done before, it takes the network's time while the processors compile.
fetch: tools ## install the packages of test-python, test-cluster and docs; needs Python 3.11
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -c 'import tomllib; print(*tomllib.load(open("python/pyproject.toml", "rb"))["project"]["optional-dependencies"]["test"], sep="\n")' > $(VENV)/test.txt
	$(VENV)/bin/python $(PIP_INSTALL) -r $(VENV)/test.txt
	$(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/python $(PIP_INSTALL) $(ENGINES)
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP_INSTALL) -r docs/site/requirements.txt

crash: ## kill programs that change databases at random moments: RUNS=1000 kills, over all operations and journal modes
	LITEPRESS_KILLS=$(or $(RUNS),1000) $(CARGO) test --locked -p litepress-cli --test program -- killed_at_any_moment --nocapture
	$(CARGO) test --locked -p litepress-conformance --test conformance -- --ignored real_rows_cross

faults: ## fail every call of the program in turn: system calls, allocations, threads; ONLY='compact Rename' for some of them
	LITEPRESS_FAULTS=1 LITEPRESS_FAULTS_ONLY='$(ONLY)' $(CARGO) test --locked -p litepress-cli --test faults -- --nocapture

lazyfs: build ## cut the power under changes of databases on LazyFS, which loses what was not synced: ROUNDS=100, needs lazyfs on the PATH
	$(PYTHON) tests/lazyfs.py target/release/litepress --rounds $(or $(ROUNDS),100)

random: ## fill tables of random schemas, index and copy them, and compare all with SQLite: TABLES=1000
	LITEPRESS_TABLES=$(or $(TABLES),1000) $(CARGO) test --locked -p litepress-conformance --test conformance random_tables -- --nocapture

schedules: ## run the engine's threads in chosen schedules (shuttle): TIMES=20 as many as by default
	RUSTFLAGS='--cfg shuttle' LITEPRESS_SCHEDULES=$(or $(TIMES),1) $(CARGO) test --locked --target-dir target/schedules -p litepress-engine --lib schedules

miri: ## interpret the tests of the file format, which finds undefined behaviour (nightly)
	rustup component add --toolchain nightly miri rust-src
	PROPTEST_CASES=4 MIRIFLAGS='-Zmiri-disable-isolation' $(CARGO) +nightly miri test --locked --target-dir target/miri -p litepress-format -p litepress-fts5 -p litepress-rtree --lib

# The standard library and SQLite are compiled with the sanitizer, too: without, it would not see their locks and their memory.
# SQLite has two constants of one name in one file, which AddressSanitizer takes for a violation of C's rule of one definition. For
# ThreadSanitizer, see tests/thread_sanitizer.txt.
SANITIZED = $(CARGO) +nightly test --locked -Zbuild-std --target $(shell rustc -vV | sed -n 's/host: //p') --lib
sanitize: export ASAN_OPTIONS = detect_odr_violation=0
sanitize: export TSAN_OPTIONS = suppressions=$(CURDIR)/tests/thread_sanitizer.txt
sanitize: ## run tests under ThreadSanitizer and AddressSanitizer (nightly)
	rustup component add --toolchain nightly rust-src
	for sanitizer in thread address; do \
		CFLAGS="-fsanitize=$$sanitizer" RUSTFLAGS="-Zsanitizer=$$sanitizer" RUSTDOCFLAGS="-Zsanitizer=$$sanitizer" \
		$(SANITIZED) --target-dir target/$$sanitizer-sanitizer $(addprefix -p litepress-,format fts5 rtree rows scan check engine) || exit 1; \
	done

soak: build ## change databases for HOURS=6 beside readers and writers: memory, files and sizes must stay; with FOLDER, go on after a stop
	$(PYTHON) tests/soak.py target/release/litepress --hours $(or $(HOURS),6) $(if $(FOLDER),--folder $(FOLDER))

audit: ## hold Cargo.lock against licences, sources, duplicates (deny.toml) and, if their database can be had, advisories
	@command -v cargo-deny >/dev/null || { echo "SKIPPED: make audit needs cargo-deny (cargo install --locked cargo-deny)"; exit 0; }; \
	set -e; cargo-deny --locked check --hide-inclusion-graph bans licenses sources; \
	cargo-deny --locked fetch db 2>/dev/null || { echo "SKIPPED: the advisories could not be fetched: nothing is said of known faults"; exit 0; }; \
	cargo-deny --locked check --hide-inclusion-graph advisories

fuzz: ## give readers and check mutated files: RUNS=100 times as many as the tests do; HOURS=1 with coverage (nightly, cargo-fuzz)
ifdef HOURS
	fuzz/run $(HOURS) $(TARGETS)
else
	LITEPRESS_FUZZ=$(or $(RUNS),100) $(CARGO) test --locked -p litepress-load -p litepress-check --lib fuzzing
endif

powercut: ## replay power cuts and fail every call during changes of databases, STATES=16 for each write or sync
	LITEPRESS_STATES=$(or $(STATES),16) $(CARGO) test --locked -p litepress-conformance --test laboratory -- --nocapture

race: ## replace a database under eight clients for an hour, SECONDS=1800 for each journal mode; change one for two minutes
	$(CARGO) run --locked -p litepress-conformance --bin race -- hammer $(or $(HAMMER_SECONDS),60)
	$(CARGO) run --locked -p litepress-conformance --bin race -- $(or $(SECONDS),1800)

lint: ## formatting, plain English, clippy and documentation, warnings are errors
	python3 -m unittest discover --quiet -s .ci -p '*_test.py'
	.ci/plain_english.py
	$(CARGO) fmt --all --check
	cd bench && $(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	cd bench && $(CARGO) clippy --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

bench: ## measure every way to fill SQLite and report in target/suite/benchmarks.html, SCALE=small (or full), ONLY=ruby, ROWS=, REPEAT=
	python3 bench/suite --scale $(SCALE) $(ONLY:%=--only %) $(ROWS:%=--rows %) $(REPEAT:%=--repeat %)

figures: ## measure litepress against its own targets, SCALE=small (or full: an hour, 60 GB of disk)
	$(CARGO) build --release --locked -p litepress-cli
	cd bench && $(CARGO) build --release --locked
ifeq ($(SCALE),full)
	python3 bench/press.py --rows 1b --insert-rows 100m --repeat 3
	python3 bench/sorted.py --rows 10m --spill-rows 100m --keyed-rows 20m --repeat 2 --billion
	python3 bench/objects.py --rows 10m --repeat 2
	python3 bench/load.py --rows 10m --scale 1 --repeat 3 --large
	python3 bench/existing.py --rows 100m --new 10m --repeat 2
	python3 bench/gen.py --shop 1 --tpch 10 --rows 10m --repeat 2
	python3 bench/python.py --rows 10m --tuples 5m --repeat 3
	python3 bench/adbc.py --rows 10m --repeat 3
	python3 bench/fts.py --bytes 1b --repeat 3
	python3 bench/geo.py --rows 2m --repeat 3
	python3 bench/mbtiles.py --tiles 200k --repeat 3
	python3 bench/jobs.py --rows 4m --repeat 3 --write
	python3 bench/cells.py
else
	python3 bench/press.py --rows 100m --insert-rows 10m --repeat 3
	python3 bench/sorted.py --rows 1m --spill-rows 10m --keyed-rows 1m --repeat 3
	python3 bench/objects.py --rows 1m --repeat 3
	python3 bench/load.py --rows 1m --scale 0.1 --repeat 3
	python3 bench/existing.py --rows 10m --new 2500k --repeat 3
	python3 bench/gen.py --shop 0.2 --tpch 0.1 --rows 1m --repeat 3
	python3 bench/python.py --rows 1m --tuples 500k --repeat 3
	python3 bench/adbc.py --rows 1m --repeat 3
	python3 bench/fts.py --bytes 200m --repeat 3
	python3 bench/geo.py --rows 200k --repeat 3
	python3 bench/mbtiles.py --tiles 50k --repeat 3
	python3 bench/jobs.py --rows 400k --repeat 3
endif

# Material for MkDocs is a minute less than building a generator in Rust, and searches without a server.
docs: tools ## build the docs site in target/docs, and check every link of it
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP_INSTALL) -r docs/site/requirements.txt
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --quiet --strict
	$(PYTHON) docs/site/links.py target/docs

clean: ## remove what was built
	$(CARGO) clean

# Installs the older SQLite of Debian for the conformance tests. Tests that need it print a message and pass without it.
tools:
	@command -v sqlite3 >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq sqlite3; } \
		|| echo "sqlite3 is not installed: tests against an old SQLite will be skipped"
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-venv; } \
		|| { echo "Python cannot make environments: install python3-venv"; exit 1; }
