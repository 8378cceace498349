#!/usr/bin/env bash
# `make demo`: runs a workload on the embedded default, SQLite, and checks what its
# clients saw; then checks a violation that was recorded from a real database.
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
printf '%s\n' "== A workload on SQLite, recorded and checked at every level"
status=0
show "$cupel" run --sessions 10 --txns 200 --seed 1 --overwrite -o "$history" || status=$?
if [[ $status -ne 0 ]]; then
  printf 'demo: SQLite is serializable, so exit code 0 was expected, not %s\n' "$status" >&2
  exit 3
fi

printf '\n%s\n' "== A history that Galera produced (found by PolySI, PVLDB 2023): it claimed snapshot isolation"
status=0
show "$cupel" check -l strong-session-snapshot-isolation "$violation" || status=$?
if [[ $status -ne 1 ]]; then
  printf 'demo: a violation exits 1, but got %s\n' "$status" >&2
  exit 3
fi
printf '\n%s\n' "The exit code is 1: some level asked for is violated."
