# The commands of a day's work; each prints what it runs. `make help` lists them.
# CMake presets do the building (CMakePresets.json); this only names the steps.

JOBS ?= 2
SIZE ?= small
CUPEL := build/release/cupel

.PHONY: help install configure build test demo bench sanitize long format tidy clean

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

install: ## install the Debian packages that are missing
	@tools/install-packages.sh

# Configuring again costs a second, rebuilds nothing, and sees new test folders.
configure: install
	@echo "== configure build/release"
	@cmake --preset release --log-level=WARNING >/dev/null

build: configure ## the release build: build/release/cupel
	@echo "== build build/release"
	@cmake --build --preset release

test: build ## every test but the long ones
	@echo "== test build/release, all labels but long"
	@ctest --preset release --label-exclude long -j$(JOBS)

demo: configure ## run a workload on SQLite and check it, then check a real violation
	@echo "== build $(CUPEL)"
	@cmake --build --preset release --target cupel
	@tools/demo.sh $(CUPEL)

bench: build ## the benchmarks, SIZE=tiny, small or full; each checks its answers first
	@tools/bench.sh build/release $(SIZE)

sanitize: install ## the quick tests under asan+ubsan and under tsan
	@for preset in asan-ubsan tsan; do \
	  echo "== configure, build, test build/$$preset, label quick" && \
	  cmake --preset $$preset --log-level=WARNING >/dev/null && \
	  cmake --build --preset $$preset && \
	  ctest --preset $$preset -j$(JOBS) || exit 1; \
	done

long: build ## the long tests: 100,000 random histories against exhaustive search
	@echo "== test build/release, label long"
	@ctest --preset release --label-regex long -j$(JOBS) --verbose

format: ## clang-format every source file
	@command -v clang-format >/dev/null || { echo "make format: install clang-format first" >&2; exit 3; }
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i --style=file

tidy: configure ## clang-tidy on src/ (slow)
	@command -v clang-tidy >/dev/null || { echo "make tidy: install clang-tidy first" >&2; exit 3; }
	@git ls-files 'src/*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy -p build/release --quiet

clean: ## remove build/
	rm -rf build
