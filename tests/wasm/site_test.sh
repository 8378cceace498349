#!/usr/bin/env bash
# Builds the site, whose links tools/site.py checks, and opens it in Debian's chromium.
# Usage: site_test.sh WORK.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
"$source/tools/site.py" -o "$1/site"
exec "$source/tests/browser/run.sh" site_test.mjs "$1/browser" --site "$1/site"
