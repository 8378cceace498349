#!/usr/bin/env bash
# `make bench`: the suite, its plots, and then every benchmark program (bench/…_bench) of
# a build. Each checks its answers before it prints a time.
# Usage: tools/bench.sh BUILD-DIRECTORY [tiny|small|full] [OPTION-OF-THE-SUITE…]
# Results go to build/bench.
set -uo pipefail
shopt -s nullglob
build=$1
size=${2:-small}
suite=$build/bench/suite
if [[ ! -x $suite ]]; then
  printf 'bench: no %s; configure with -DCUPEL_BENCH=ON\n' "$suite" >&2
  exit 3
fi
code=0
printf '== suite, %s\n' "$size"
"$suite" --size "$size" --cupel "$build/cupel" --output build/bench "${@:3}" || code=$?
if [[ $code -eq 3 ]]; then exit 3; fi
if command -v python3 >/dev/null; then
  tools/bench_plots.py "build/bench/$size.jsonl" --output build/bench/plots || code=1
else
  printf 'bench: no plots, for want of python3\n' >&2
fi
for program in "$build"/bench/*_bench; do
  [[ -x $program && -f $program ]] || continue
  printf '\n== %s\n' "$(basename "$program")"
  "$program" || code=1
done
exit $code
