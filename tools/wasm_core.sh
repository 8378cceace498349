#!/usr/bin/env bash
# Builds build/wasm/cupel.wasm and cupel.mjs, the core for Node and the browser, with Debian's
# emscripten. The libraries are compiled from Debian's source packages, which it unpacks into
# build/debian-sources.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v emcc >/dev/null || {
  printf 'wasm_core: there is no emcc; the package emscripten has it (tools/install-packages.sh long)\n' >&2
  exit 3
}
tools/debian_source_packages.sh build/debian-sources \
  simdjson fmtlib abseil nlohmann-json3 libzstd zlib xz-utils cadical
cmake --preset wasm --log-level=WARNING >/dev/null
cmake --build --preset wasm
