#!/usr/bin/env bash
# Builds the playground and tests it in Debian's chromium. Usage: playground_test.sh WORK.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
"$source/tools/playground.py" -o "$1/index.html"
exec "$source/tests/browser/run.sh" playground_test.mjs "$1/browser" --page "$1/index.html"
