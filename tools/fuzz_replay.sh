#!/usr/bin/env bash
# Every fuzz target of a build without libFuzzer, for so many seconds each, two at a time: its corpus and mutations
# of it. With a sanitized build this is what fits into .ci/run, where a build with libFuzzer does not (docs/internals/reliability.md).
#
#   tools/fuzz_replay.sh BUILD SECONDS
#
# Exit code 1 if an input ended a target: it is in the output, in base64, and the seed before it repeats the run.
set -euo pipefail

build=$1 seconds=$2
export ASAN_OPTIONS=handle_sigill=1  # undefined behaviour ends a target of the gate's build with a trap: then with the stack
corpus=$(cd "$(dirname "$0")/.." && pwd)/fuzz/corpus
shopt -s nullglob
replays=("$build"/fuzz/*_fuzz_replay)
if ((${#replays[@]} == 0)); then
  echo "$build/fuzz has no replay; build the target sanitized_tests first" >&2
  exit 3
fi
one() {
  local name
  name=$(basename "$1" _fuzz_replay)
  local out
  if out=$("$1" "$2/$name" "$3" 2>&1); then
    printf 'ok      %-18s%s\n' "$name" "$(tail -n 1 <<<"$out")"
  else
    printf 'CRASH   %-18s%s\n' "$name" "$out"
    return 1
  fi
}
export -f one
printf '%s\0' "${replays[@]}" | xargs -0 -P 2 -I {} bash -c 'one "$@"' _ {} "$corpus" "$seconds" || exit 1
