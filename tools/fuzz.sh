#!/usr/bin/env bash
# Fuzzing: builds every target of fuzz/ with libFuzzer (clang) and runs each for so long.
#
#   tools/fuzz.sh BUILD SECONDS [TARGET…]
#
# What a run finds is added to BUILD/corpus/TARGET and kept for the next one. Inputs that end a target are in
# BUILD/crashes; a crash becomes a file of fuzz/corpus and a test. Exit code 1 if there was one.
set -euo pipefail

build=$1 seconds=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
command -v clang++ >/dev/null || { echo "there is no clang++; tools/install-packages.sh installs it" >&2; exit 3; }
# Files compiled together, and little optimised: the build costs more than a short run.
quick="-O1 -gline-tables-only"
CC=clang CXX=clang++ cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCUPEL_FUZZ=ON \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$quick" -DCMAKE_C_FLAGS_RELWITHDEBINFO="$quick" -DCUPEL_UNITY=ON -DCUPEL_PCH=ON \
  -DCUPEL_TESTS=OFF -DCUPEL_BENCH=OFF -DCUPEL_EXAMPLES=OFF -DCUPEL_ENGINE_PLUGINS=OFF \
  --log-level=WARNING >/dev/null
# The dictionary of a target: fuzz/dictionaries/WORDS.dict. Of the others, nothing says more than their corpus.
words_of() {
  case $1 in
  jepsen | knossos | check) echo edn ;;
  crdt) echo crdt ;;
  verify | crdt_verify) echo certificate ;;
  mock_http) echo http ;;
  mock_* | proxy* | engine_messages) echo sql ;;
  esac
}
targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in "$root"/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi
cmake --build "$build" -j 2 --target "${targets[@]/%/_fuzz}"
mkdir -p "$build/crashes"
crashes=0
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target"
  log=$build/$target.log
  words=$(words_of "$target")
  options=(${words:+-dict="$root/fuzz/dictionaries/$words.dict"})
  if "$build/fuzz/${target}_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/crashes/$target-" "${options[@]}" "$build/corpus/$target" "$root/fuzz/corpus/$target" >"$log" 2>&1; then
    result=ok
  else
    result=CRASH crashes=1
  fi
  printf '%-8s%-18s%14s inputs in %s s\n' "$result" "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds"
done
exit $crashes
