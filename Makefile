# The commands of a day's work; each prints what it runs. `make help` lists them.
# CMake presets do the building (CMakePresets.json); this only names the steps.

JOBS ?= 2
EXCLUDE ?= long
SIZE ?= small
TORTURE_SECONDS ?= 200
FUZZ_SECONDS ?= 60
PREFIX ?= /usr/local
PRODUCT ?=
PACKAGES := all
CUPEL := build/release/cupel
PROGRAMS_OF_engine := cupel
PROGRAMS_OF_run := cupel cupel-run
PROGRAMS_OF_mock := programs
PROGRAMS_OF_crdt := cupel cupel-crdt

.PHONY: help packages install configure tidy-configure build check gates sanitized format-check measure tidy-changed quick test demo bench sanitize fresh findings \
  long site proofs torture fuzz format tidy clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

packages: ## install the Debian packages that are missing
	@tools/install-packages.sh $(PACKAGES)

install: ## build cupel and its library and install them below PREFIX (/usr/local), as root (docs/how-to/install.md)
	@tools/install-packages.sh program
	@echo "== build build/package"
	@cmake --preset package --log-level=WARNING >/dev/null
	@cmake --build --preset package
	@cmake --install build/package --prefix $(PREFIX) >/dev/null
	@if [ -z "$$DESTDIR" ] && [ "$$(id -u)" = 0 ]; then /sbin/ldconfig; fi

# Configuring again costs a second, rebuilds nothing, and sees new test folders.
configure: packages
	@echo "== configure build/release"
	@cmake --preset release --log-level=WARNING >/dev/null

build: configure ## the release build: build/release/cupel
	@echo "== build build/release"
	@cmake --build --preset release

check gates sanitized format-check measure tidy-changed format: PACKAGES := check

check: gates sanitized ## what a change must pass: format, tidy, -Werror, style, quick tests, some of them under asan+ubsan

gates: packages format-check measure tidy-changed build ## the same without the sanitizers
	@echo "== test build/release, label quick"
	@tools/run_tests.py --preset release --label-regex quick -j$(JOBS)

sanitized: packages ## the quick tests of what threads and readers do, under asan+ubsan
	@echo "== configure, build build/sanitized, label quick-sanitized"
	@cmake --preset sanitized --log-level=WARNING >/dev/null
	@cmake --build --preset sanitized
	@tools/run_tests.py --preset sanitized -j$(JOBS)

format-check: packages
	@echo "== clang-format, every file"
	@files=$$(git ls-files '*.cpp' '*.hpp') && test -n "$$files" && clang-format --style=file --dry-run --Werror $$files

measure: packages
	@echo "== functions: length, parameters, nesting; classes: length"
	@tools/measure_functions

# Each file by itself, which is what tidy_changed.py reads; nothing is built there.
tidy-configure: packages
	@cmake --preset debug -B build/tidy -DCUPEL_TESTS=ON -DCUPEL_BENCH=ON --log-level=WARNING >/dev/null

tidy-changed: tidy-configure
	@echo "== clang-tidy, and missing includes, in files that changed"
	@tools/tidy_changed.py build/tidy -j $(JOBS)

quick: ## the quick tests, for a contributor without servers; installs none
	@tools/install-packages.sh quick
	@echo "== configure, build build/release, what the quick tests need"
	@cmake --preset release -DCUPEL_BENCH=OFF --log-level=WARNING >/dev/null
	@cmake --build --preset release --target quick_tests programs
	@tools/run_tests.py --preset release --label-regex quick -j$(JOBS)

test: ## every test but the long ones, of all products or of PRODUCT=engine, run, mock or crdt
	@tools/install-packages.sh $(or $(PRODUCT),test)
	@echo "== configure, build build/release $(PRODUCT)"
	@cmake --preset release $(if $(PRODUCT),-DCUPEL_PRODUCT=$(PRODUCT) -DCUPEL_BENCH=OFF -DCUPEL_EXAMPLES=$(if $(filter mock,$(PRODUCT)),ON,OFF)) --log-level=WARNING >/dev/null
	@cmake --build --preset release $(if $(PRODUCT),--target product_tests $(PROGRAMS_OF_$(PRODUCT)))
	@echo "== test build/release, all labels but $(EXCLUDE)"
	@tools/run_tests.py --preset release --label-exclude '$(EXCLUDE)' -j$(JOBS)

demo: ## build the program alone, run a workload on SQLite and check it, then check a real violation
	@tools/install-packages.sh demo
	@echo "== build $(CUPEL)"
	@cmake --preset program --log-level=WARNING >/dev/null
	@cmake --build --preset program
	@tools/demo.sh $(CUPEL)

bench: build ## the benchmarks, SIZE=tiny, small or full; each checks its answers first
	@tools/bench.sh build/release $(SIZE)

sanitize: packages ## all quick tests, and those of runs, faults and protocols on servers, under every check of asan+ubsan and under tsan
	@for preset in asan-ubsan tsan; do \
	  echo "== configure, build, test build/$$preset, labels quick, quick-sanitized and servers-sanitized" && \
	  cmake --preset $$preset --log-level=WARNING >/dev/null && \
	  cmake --build --preset $$preset --target quick_tests sanitized_server_tests && \
	  tools/run_tests.py --preset $$preset -j$(JOBS) || exit 1; \
	done

findings: build ## the campaigns of tools/findings on test clusters (hours); results in build/findings
	@for file in tools/findings/*.json; do \
	  name=$$(basename $$file .json) && echo "== $$file" && mkdir -p build/findings && \
	  { $(CUPEL) campaign $$file -o build/findings/$$name --jobs $(JOBS) || test $$? -le 2; } || exit 1; \
	done

long: build ## the long tests: 100,000 random histories against exhaustive search
	@tools/install-packages.sh long
	@echo "== test build/release, label long"
	@ctest --preset release --label-regex long -j$(JOBS) --verbose

site: ## the manual as a static site, with a search, the tutorials in front and the playground beside it: build/site
	@tools/install-packages.sh long
	@tools/wasm_core.sh
	@tools/site.py

fresh: ## make demo and make test on a Debian 12 that holds nothing else, as root; packages, megabytes and minutes of each
	@tools/fresh_debian

torture: configure ## bad input, full disks, short memory, kills and strangers, within an hour (docs/internals/reliability.md)
	@echo "== build build/release, what the torture needs"
	@cmake --build --preset release --target programs damaged_files_test
	@echo "== tests/torture"
	@tests/torture/torture.py --cupel $(CUPEL) --work build/torture --seconds $(TORTURE_SECONDS)
	@tests/browser/run.sh hostile_test.mjs build/torture/browser --pages build/torture/outputs/pages
	@echo "== damaged files"
	@ctest --preset release --tests-regex '^DamagedFiles' -j$(JOBS)
	@$(MAKE) --no-print-directory fuzz

fuzz: packages ## every fuzz target with libFuzzer, FUZZ_SECONDS each; build/fuzz has what it finds
	@echo "== fuzz"
	@tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

proofs: ## prove the verifier again with Coq, and extract it (proofs/)
	@tools/install-packages.sh proofs
	@rm -rf build/proofs
	@tools/prove.sh

format: packages ## clang-format every source file
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i --style=file

tidy: tidy-configure ## clang-tidy on all of src/ (slow)
	@tools/tidy_changed.py build/tidy -j $(JOBS) --all

clean: ## remove build/
	rm -rf build
