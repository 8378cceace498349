#!/usr/bin/env bash
# The libraries behind the adapters, over networks of random faults, and what cupel says of them.
#
#   run.sh CUPEL CACHE satisfied|violated|reproduced|scripted FAULTS ADAPTER OBJECT…
#
# FAULTS is that of --faults, or `all`. `satisfied`: each seed of 200 operations is. `violated`: one
# of ten seeds is, by its reads or because the library throws. `reproduced`: the same, and the script
# of --reproduce has less than ten lines and shows it. `scripted`: the script has at most ten
# operations, and node prints the wrong value that its last line names. Exit code 77, which CTest counts as
# skipped, only where the libraries cannot be had; it says why. CI sets
# CUPEL_ADAPTERS_TEST=required to make that a failure.
set -euo pipefail

cupel=$(realpath "$1")
export CUPEL_ADAPTER_CACHE=$2
expected=$3
faults=$4
adapter=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)
export CUPEL_ADAPTERS=$here/../../adapters

skip() {
  printf 'SKIPPED: THE ADAPTER %s WAS NOT TESTED: %s\n' "$adapter" "$1" >&2
  [[ ${CUPEL_ADAPTERS_TEST:-} == required ]] && exit 1
  exit 77
}
fail() {
  printf 'FAILED: %s: %s\n%s\n' "$adapter" "$1" "$output" >&2
  exit 1
}

command -v node >/dev/null || skip "there is no node; tools/install-packages.sh installs it"
command -v npm >/dev/null || skip "there is no npm; tools/install-packages.sh installs it"

arguments=()
script=$(mktemp --suffix .mjs)
trap 'rm -f "$script"' EXIT
[[ $expected != reproduced && $expected != scripted ]] || arguments+=(--reproduce "$script")
[[ $faults == all ]] || arguments=(--faults "$faults")
seeds="1 2 3"
[[ $expected == satisfied ]] || seeds="1 2 3 4 5 6 7 8 9 10"

for object in "$@"; do
  found=
  keys=1
  case $object in map | object) keys=4 ;; esac
  for seed in $seeds; do
    code=0
    output=$("$cupel" crdt run --adapter "$adapter:$object" --keys $keys --seed "$seed" --timeout 60s \
      ${arguments[@]+"${arguments[@]}"} 2>&1) || code=$?
    if [[ $code == 3 && $output == *"npm ci"* ]]; then skip "$output"; fi
    if [[ $code == 1 && $expected != satisfied ]]; then
      found=$seed
      break
    fi
    [[ $code == 0 ]] || fail "$object, seed $seed: exit code $code, expected $expected"
  done
  [[ $expected == satisfied || -n $found ]] || fail "$object: no seed of ten is violated"
  if [[ $expected == reproduced ]]; then
    lines=$(grep -cv '^//\|^import\|^$' "$script") || fail "$object: there is no script"
    [[ $lines -lt 10 ]] || fail "$object: the script has $lines lines: $(cat "$script")"
  fi
  if [[ $expected == scripted ]]; then
    [[ $output =~ :\ ([0-9]+)\ operations,\ found && ${BASH_REMATCH[1]} -le 10 ]] ||
      fail "$object: the script has too many operations: $(cat "$script")"
    printed=$(node "$script" | tail -n 1)
    named=$(tail -n 1 "$script" | sed 's/.*; \/\/ //; s/: [a-z-]*$//')
    [[ $printed == "$named" ]] || fail "$object: the script printed $printed: $(cat "$script")"
  fi
  printf '%s:%s is %s%s\n' "$adapter" "$object" "$expected" "${found:+, seed $found}"
done
