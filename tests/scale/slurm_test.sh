#!/usr/bin/env bash
# A campaign with SQLite, PostgreSQL and the mock as an array of 32 shards on a real Slurm of four
# nodes: the merged table equals that of one process, also when a third of the shards are killed
# once and the array is submitted again.
#   slurm_test.sh CUPEL FOLDER
set -euo pipefail
cupel=$(realpath "$1")
work=$2
here=$(cd "$(dirname "$0")" && pwd)
for program in slurmctld slurmd munged sbatch; do
  command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin
  command -v "$program" >/dev/null || { echo "no $program: tools/install-packages.sh long"; exit 77; }
done
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export XDG_STATE_HOME=$work/state TMPDIR=$work
source "$here/slurm.sh"
clean_up() {
  stop_slurm
  "$cupel" lab stop postgres >/dev/null 2>&1 || true
}
trap clean_up EXIT
fail() {
  echo "slurm_test: $1" >&2
  exit 1
}

url=$("$cupel" lab start postgres)
# One session: what is recorded depends on nothing but the seed, so two campaigns have one table.
cat >campaign.json <<JSON
{"databases": [
   {"name": "SQLite"},
   {"name": "PostgreSQL", "url": "$url", "isolations": ["repeatable-read", "serializable"]},
   {"name": "mock", "url": "mock:", "isolations": ["causal", "prefix"]}],
 "workloads": ["mini", "general"], "seeds": 8, "stop": "never",
 "sessions": 1, "txns": 12, "rate": 30, "keys": 5}
JSON
"$cupel" campaign campaign.json -o whole --quiet >/dev/null
start_slurm "$work/slurm" 4

# Every third shard is killed in its first attempt, in the middle of a run.
cat >shard.sh <<SHARD
#!/usr/bin/env bash
#SBATCH --array=1-32
#SBATCH --output=$work/log-%a
id=\$SLURM_ARRAY_TASK_ID
cd "$work"
if ((id % 3 == 0)) && [[ ! -e killed-\$id ]]; then
  "$cupel" campaign campaign.json -o shards --shard auto --quiet &
  cupel=\$!
  for ((i = 0; i < 200; ++i)); do
    compgen -G "shards/*.jsonl" >/dev/null && break
    sleep 0.02
  done
  sleep 0.2
  kill -KILL \$cupel
  wait \$cupel
  [[ \$? == 137 ]] && touch killed-\$id
  exit 1
fi
exec "$cupel" campaign campaign.json -o shards --shard auto --quiet
SHARD
sbatch --quiet shard.sh
await_slurm
killed=$(find . -maxdepth 1 -name 'killed-*' | wc -l)
((killed >= 8)) || fail "only $killed shards were killed in the middle"
"$cupel" merge shards -o partly >partly.md
grep -q "runs are left" partly.md || fail "nothing was left after $killed shards were killed"

sbatch --quiet shard.sh
await_slurm
"$cupel" merge shards >/dev/null
diff whole/summary.md shards/summary.md || fail "the merged table is not that of one process"
[[ $(find shards/runs -name '*.json' | wc -l) == 80 ]] || fail "not every run has its result"
# One process finds everything done.
"$cupel" campaign campaign.json -o shards 2>again >/dev/null
[[ ! -s again ]] || fail "runs were made again: $(cat again)"
diff whole/summary.md shards/summary.md

# srun: its tasks are the shards of a check.
mkdir h
"$cupel" generate --histories 12 --level causal --sessions 4 --txns 20 -o 'h/{seed}.jsonl'
"$cupel" check -l causal h/*.jsonl | sort >all || true
srun --quiet -n 4 "$cupel" check -l causal --shard auto h/*.jsonl | sort >shared || true
diff all shared || fail "srun's tasks did not check every history once"
echo "slurm_test: 80 runs by 32 shards on four nodes, $killed killed once: the same table"
