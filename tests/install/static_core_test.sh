#!/usr/bin/env bash
# Builds cupel-core and runs each of its commands in a root that holds nothing but it and a history.
# Usage: static_core_test.sh FOLDER (made anew). Needs root; ends with 77 (skipped) without.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(realpath -m "$1")
fail() {
  printf 'static_core_test: %s\n' "$1" >&2
  exit 1
}
[[ $(id -u) -eq 0 ]] || { echo "static_core_test: skipped: only root can change its root"; exit 77; }
rm -rf "$work"
mkdir -p "$work/root"
echo "== build"
tools/static_core.sh >"$work/build.txt" 2>&1 || { tail -50 "$work/build.txt"; fail "the build"; }
objcopy --strip-all build/core/cupel-core "$work/root/cupel-core"
cp tests/install/lost-update.jsonl "$work/root/history.jsonl"

# expect STATUS TEXT ARGUMENTS: how the program ends, and a text that it prints.
expect() {
  local status=0
  chroot "$work/root" /cupel-core "${@:3}" >"$work/out" 2>&1 || status=$?
  [[ $status -eq $1 ]] && { [[ -z $2 ]] || grep -qF -- "$2" "$work/out"; } || { cat "$work/out"; fail "cupel-core ${*:3} ended with $status"; }
}
echo "== each command in an empty root"
expect 0 "cupel " --version
expect 1 "lost-update" check history.jsonl --certificate c.json
expect 0 "" verify history.jsonl c.json
expect 0 "jepsen" stats history.jsonl
expect 0 "" convert history.jsonl -o history.cupel
expect 1 "lost-update" check -l snapshot-isolation --json history.cupel
expect 0 "lost" explain lost-update
expect 0 "" generate --level causal -o generated.jsonl
expect 0 "causal" check -l causal generated.jsonl
expect 0 "satisfied" watch --no-follow -l causal generated.jsonl
expect 1 "" elle --model rw-register --consistency-models snapshot-isolation history.jsonl
expect 0 "strict-serializable" levels
chroot "$work/root" /cupel-core check --json -l causal history.jsonl >"$work/root/results.jsonl"
expect 0 "causal" merge results.jsonl
# Those that it has are those that docs/how-to/install.md lists.
chroot "$work/root" /cupel-core --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' | sort >"$work/commands"
sed -n '/^`cupel-core` has the commands/,/in one file/p' docs/how-to/install.md | grep -o '`[a-z]*`' | tr -d '`' | sort |
  diff "$work/commands" - || fail "docs/how-to/install.md lists other commands than cupel-core has"
expect 1 "lost-update" check --report report history.jsonl
grep -q 'class="arrow' "$work/root/report/counterexample-1.svg" || fail "the picture has no arrows"
expect 3 "run" run
echo "== done"
