#!/usr/bin/env bash
# Shards by GNU parallel, by its own number and by its variable.
#   parallel_test.sh CUPEL FOLDER
set -euo pipefail
cupel=$(realpath "$1")
work=$2
command -v parallel >/dev/null || { echo "no parallel: tools/install-packages.sh long"; exit 77; }
rm -rf "$work"
mkdir -p "$work/h"
cd "$work"
export HOME=$work
fail() {
  echo "parallel_test: $1" >&2
  exit 1
}
seq 4 | parallel --will-cite -j2 -n0 "$cupel" generate --histories 30 --level read-atomic --sessions 3 \
  --txns 10 -o 'h/{seed}.jsonl' --shard {#}/4
[[ $(ls h | wc -l) == 30 ]] || fail "found $(ls h | wc -l) histories, expected 30"
"$cupel" check -l causal h/*.jsonl | sort >all || true
seq 7 | parallel --will-cite -j2 -n0 "$cupel" check -l causal --shard auto/7 h/*.jsonl | sort >shared || true
diff all shared || fail "the shards are not the whole"
# Kubernetes gives a pod its number, and nothing more.
for index in 0 1 2; do
  JOB_COMPLETION_INDEX=$index "$cupel" check -l causal --shard auto/3 h/*.jsonl || true
done | sort >pods
diff all pods || fail "the pods are not the whole"
echo "parallel_test: 30 histories by 7 shards: the same lines"
