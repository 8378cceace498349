#!/usr/bin/env bash
# `make demo`: generates a history and checks it, then checks a violation that
# was recorded from a real database. Both answers are shown.
# Usage: tools/demo.sh PATH-TO-CUPEL
set -euo pipefail
cd "$(dirname "$0")/.."
cupel=$1
history=build/demo/history.jsonl
violation=tests/golden/strong-session-snapshot-isolation/violated/polysi-galera.txt

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

mkdir -p build/demo
printf '%s\n' "== A history of a simulated store that gives snapshot isolation, and all levels at once"
show "$cupel" generate --level snapshot-isolation --seed 1 -o "$history"
status=0
show "$cupel" check "$history" || status=$?
if [[ $status -gt 1 ]]; then
  printf 'demo: expected exit code 0 or 1, got %s\n' "$status" >&2
  exit "$status"
fi

printf '\n%s\n' "== A history that Galera produced (found by PolySI, PVLDB 2023): it promises snapshot isolation"
status=0
show "$cupel" check -l strong-session-snapshot-isolation "$violation" || status=$?
if [[ $status -ne 1 ]]; then
  printf 'demo: a violation exits 1, but got %s\n' "$status" >&2
  exit 3
fi
printf '\n%s\n' "The exit code is 1: some level asked for is violated."
