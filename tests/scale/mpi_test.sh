#!/usr/bin/env bash
# One history over MPI: the same verdicts, explanations and certificate as by one process.
#   mpi_test.sh CUPEL CUPEL_MPI FOLDER
set -euo pipefail
cupel=$(realpath "$1")
mpi=$(realpath "$2")
work=$3
command -v mpirun >/dev/null || { echo "no mpirun: tools/install-packages.sh long"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export TMPDIR=$work OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_plm_rsh_agent= OMPI_MCA_btl_vader_single_copy_mechanism=none
fail() {
  echo "mpi_test: $1" >&2
  exit 1
}
generate() { "$cupel" generate --sessions 20 --txns 400 --keys 200 "$@"; }
generate --level serializable -o satisfied.jsonl
generate --level read-atomic -o read-atomic.jsonl
generate --level read-committed -o read-committed.jsonl
generate --level causal --inject thin-air-read -o thin-air.jsonl
generate --level strict-serializable --ops 1 -o objects.jsonl
generate --level prefix --ops 1 -o stale.jsonl
generate --level causal --shape list-append -o lists.jsonl
for history in *.jsonl; do
  levels=read-committed,read-atomic,causal
  [[ $history != objects.jsonl && $history != stale.jsonl ]] || levels=$levels,linearizable
  for level in ${levels//,/ }; do
    "$cupel" check --shrink-time 0 --no-history-analysis -l $level --certificate alone.json $history >alone.txt && code=0 || code=$?
    for ranks in 1 2 4 8; do
      mpirun -n $ranks "$mpi" check --shrink-time 0 --no-history-analysis -l $level --certificate mpi.json \
        $history >mpi.txt && own=0 || own=$?
      [[ $own == "$code" ]] || fail "$history at $level by $ranks: exit code $own, expected $code"
      cmp alone.json mpi.json || fail "$history at $level by $ranks: another certificate"
      diff alone.txt mpi.txt || fail "$history at $level by $ranks: another text"
    done
    [[ $code == 2 ]] || "$cupel" verify $history mpi.json >/dev/null || fail "$history at $level: not proven"
  done
done
# The ladder, several histories, and mistakes.
"$cupel" check --json --shrink-time 0 --no-history-analysis *.jsonl >alone.json || true
mpirun -n 4 "$mpi" check --json --shrink-time 0 --no-history-analysis *.jsonl >mpi.json || true
strip() { sed -E 's/"(seconds|cpu_seconds)":[0-9.e+-]+/"\1":0/g' "$1"; }
diff <(strip alone.json | sed -E 's/"stages":\[[^]]*\]//') <(strip mpi.json | sed -E 's/"stages":\[[^]]*\]//') ||
  fail "the ladders differ"
timeout 60 mpirun -n 3 "$mpi" check none.jsonl 2>/dev/null && fail "a file that is not there passed" || true
timeout 60 mpirun -n 3 "$mpi" check --levle si satisfied.jsonl 2>/dev/null && fail "a mistake passed" || true
timeout 60 mpirun -n 3 "$mpi" explain lost-update >/dev/null || fail "another command hangs"
timeout 60 mpirun -n 3 "$mpi" check --timeout 0 -l causal satisfied.jsonl >/dev/null && fail "no time, but a verdict" || true
echo "mpi_test: seven histories by 1, 2, 4 and 8 processes: the same certificates"
