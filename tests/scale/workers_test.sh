#!/usr/bin/env bash
# Four workers load one PostgreSQL at the same time, and their histories become one: by the clock
# that they share, and measured, where each seems to be of a machine of its own.
#   workers_test.sh CUPEL FOLDER
set -euo pipefail
cupel=$(realpath "$1")
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export XDG_STATE_HOME=$work/state TMPDIR=$work
trap '"$cupel" lab stop postgres >/dev/null 2>&1 || true' EXIT
fail() {
  echo "workers_test: $1" >&2
  exit 1
}
url=$("$cupel" lab start postgres)
load() { # ISOLATION NAME
  local args=(run --db "$url" --isolation "$1" --tables "$2" --sessions 16 --txns 150 --keys 20)
  "$cupel" "${args[@]}" --make-tables
  local worker pids=()
  for worker in 1 2 3 4; do
    "$cupel" "${args[@]}" --shard $worker/4 -o "$2-$worker.jsonl" >"$2-$worker.txt" &
    pids+=($!)
  done
  for worker in "${pids[@]}"; do wait "$worker" || fail "a worker failed"; done
  "$cupel" "${args[@]}" --drop-tables
}
load serializable ser
"$cupel" merge ser-?.jsonl -o ser.cupel
"$cupel" check -l strict-serializable ser.cupel || fail "one clock: not strictly serializable"
# The times of each as if its machine had started at another moment.
for worker in 1 2 3 4; do
  sed "s/\"clock\",\"[^ ]* /\"clock\",\"machine-$worker /" ser-$worker.jsonl >apart-$worker.jsonl
done
"$cupel" merge apart-?.jsonl -o apart.cupel 2>clocks
[[ $(grep -c "known to" clocks) == 3 ]] || fail "the clocks were not measured: $(cat clocks)"
"$cupel" check -l strict-serializable,strong-snapshot-isolation apart.cupel ||
  fail "measured clocks: accused"
"$cupel" merge apart-1.jsonl apart-2.jsonl apart-4.jsonl -o no.cupel 2>missing && fail "a worker was missing"
grep -q "sessions 8 to 11 nowhere" missing || fail "$(cat missing)"
# A weaker level is seen through to: many lost updates, none of them within one worker alone needed.
load read-committed rc
"$cupel" merge rc-?.jsonl -o rc.cupel
"$cupel" check -l snapshot-isolation rc.cupel >violated && fail "read committed passed as snapshot isolation"
"$cupel" check -l read-committed rc.cupel || fail "not read committed"
cat clocks
echo "workers_test: 2,400 transactions of four workers, twice, as one history"
