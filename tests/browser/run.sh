#!/usr/bin/env bash
# A test in a browser: installs playwright-core as locked (npm ci, into the build
# folder) and runs a script of this folder in Debian's chromium.
#
#   run.sh report_test.mjs WORK --cupel BIN [--screenshots DIR]
#
# Exit code 77, which CTest counts as skipped, only where the browser, node or npm
# cannot be had; it says which. CI sets CUPEL_BROWSER=required to make that a failure.
set -euo pipefail

script=$1
work=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  printf 'SKIPPED: %s WAS NOT RUN IN A BROWSER: %s\n' "$script" "$1" >&2
  [[ ${CUPEL_BROWSER:-} == required ]] && exit 1
  exit 77
}

chromium=$(command -v chromium chromium-browser chromium-headless-shell | head -n 1 || true)
[[ -n $chromium ]] || skip "there is no chromium; tools/install-packages.sh installs it"
command -v node >/dev/null || skip "there is no node; tools/install-packages.sh installs it"

mkdir -p "$work"
if ! cmp -s "$here/package-lock.json" "$work/installed-lock.json"; then
  command -v npm >/dev/null || skip "there is no npm; tools/install-packages.sh installs it"
  cp "$here/package.json" "$here/package-lock.json" "$work/"
  # A network that answers nothing would otherwise take longer than the test may.
  (cd "$work" && npm ci --no-audit --no-fund --ignore-scripts --fetch-timeout=60000 \
    --fetch-retries=1 >npm.log 2>&1) ||
    skip "npm ci failed (no network?): $(tail -n 3 "$work/npm.log" | tr '\n' ' ')"
  cp "$here/package-lock.json" "$work/installed-lock.json"
fi

exec node "$here/$script" --work "$work" --chromium "$chromium" "$@"
