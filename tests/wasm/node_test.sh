#!/usr/bin/env bash
# Packs the Node package, installs it without network and runs its tests, which compare it with the
# program. Usage: node_test.sh CUPEL WORK (made anew).
set -euo pipefail
cupel=$(realpath "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$2"
mkdir -p "$2/test"
cd "$2"
"$source/tools/node_package.sh"
echo '{"name": "cupel-test", "private": true}' >package.json
npm install --silent --offline --no-audit --no-fund "$source"/build/node/cupel-*.tgz
cp "$source/node/test/cupel.test.mjs" test/
CUPEL_BINARY=$cupel CUPEL_SOURCE=$source node --test test
