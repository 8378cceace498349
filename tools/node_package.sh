#!/usr/bin/env bash
# Packs node/ with the core of build/wasm (tools/wasm_core.sh) as build/node/cupel-VERSION.tgz, which
# `npm install FILE` takes. Asks no registry.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -e build/wasm/cupel.wasm ]] || {
  printf 'node_package: build/wasm/cupel.wasm is not there; tools/wasm_core.sh builds it\n' >&2
  exit 3
}
rm -rf build/node
mkdir -p build/node/package
cp node/*.mjs node/*.ts node/package.json node/README.md LICENSE build/wasm/cupel.mjs build/wasm/cupel.wasm build/node/package/
cd build/node
npm pack --silent --offline ./package
