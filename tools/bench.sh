#!/usr/bin/env bash
# `make bench`: runs every benchmark program (bench/…_bench) of a build. Each
# checks its answers before it prints a time.
# Usage: tools/bench.sh BUILD-DIRECTORY
set -euo pipefail
shopt -s nullglob
found=0
for program in "$1"/bench/*_bench; do
  [[ -x $program && -f $program ]] || continue
  found=1
  printf '\n== %s\n' "$(basename "$program")"
  "$program"
done
if [[ $found -eq 0 ]]; then
  printf 'bench: no program in %s/bench; configure with -DCUPEL_BENCH=ON\n' "$1" >&2
  exit 3
fi
