#!/usr/bin/env bash
# Installs the npm packages of package.json, as locked, into WORK/node_modules; does nothing if they
# are there.
#
#   install.sh WORK
set -euo pipefail

work=$1
here=$(cd "$(dirname "$0")" && pwd)
if cmp -s "$here/package-lock.json" "$work/installed-lock.json"; then
  exit 0
fi
mkdir -p "$work"
cp "$here/package.json" "$here/package-lock.json" "$work/"
cd "$work"
npm ci --no-audit --no-fund --ignore-scripts
cp "$here/package-lock.json" "$work/installed-lock.json"
