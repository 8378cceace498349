#!/usr/bin/env bash
# Builds build/core/cupel-core: check, watch, verify, convert, stats, generate, merge, elle, explain and
# levels as one static program, for any Linux of this processor. Debian has no archives of fmt and simdjson: a file of
# each is taken from Debian's source packages of the installed versions, and kept in
# build/static-sources.
set -euo pipefail
cd "$(dirname "$0")/.."
sources=build/static-sources

mkdir -p "$sources"
tools/debian_source_packages.sh build/debian-sources simdjson fmtlib
cp -u build/debian-sources/simdjson/singleheader/simdjson.cpp build/debian-sources/fmtlib/src/format.cc "$sources/"
cmake --preset core --log-level=WARNING >/dev/null
cmake --build --preset core
