#!/usr/bin/env bash
# Each way of installing in a root that holds Debian 12 and nothing else, then the README's first
# check: the packages by apt, the wheel by pip. Needs root, mmdebstrap and
# Debian's packages. Ends with 77 (skipped), and says why, where one of these is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
skip() {
  printf 'fresh_debian_test: skipped: %s\n' "$1"
  exit 77
}
fail() {
  printf 'fresh_debian_test: %s\n' "$1" >&2
  exit 1
}
[[ $(id -u) -eq 0 ]] || skip "only root can make a root"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
[[ -d build/package/packages ]] || skip "build/package/packages is not there; Install.FromTheBuildTree makes it"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/debian_sources.sh >"$work/sources"
echo "== a root"
mmdebstrap --variant=apt --quiet bookworm "$work/root" - <"$work/sources" || fail "no root could be made"
root() { chroot "$work/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
root apt-get -q update >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt"; }
mkdir "$work/root/given"
cp build/package/packages/*.deb build/python/*.whl examples/lost_update.c "$work/root/given/"
cat tests/install/lost-update.jsonl >"$work/root/given/history.jsonl"
# The history of the README's first example, by the name that it has there.
readme=tests/golden/strong-session-snapshot-isolation/violated/polysi-galera.txt
install -D $readme "$work/root/work/$readme"

expect_violation() {
  local status=0
  root "$@" check -l snapshot-isolation /given/history.jsonl >"$work/out" 2>&1 || status=$?
  [[ $status -eq 1 ]] && grep -q lost-update "$work/out" || { cat "$work/out"; fail "$1 ended with $status"; }
}
echo "== the program by apt"
root sh -c 'apt-get -q install -y --no-install-recommends /given/cupel_*.deb /given/libcupel0_*.deb' >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt"; }
expect_violation cupel
root sh -c "cd /work && cupel check $readme" >"$work/out" 2>&1 || [[ $? -eq 1 ]] || { cat "$work/out"; fail "the first example"; }
# What the README prints, but for the seconds.
sed -n '/^\$ cupel check/,/^```/p' README.md | sed '1d;$d' >"$work/wanted"
diff <(sed -E 's/[0-9]+\.[0-9]+ s/# s/' "$work/wanted") <(sed -E 's/[0-9]+\.[0-9]+ s/# s/' "$work/out") ||
  fail "the README's first example prints something else"
root cupel run --db sqlite:/tmp/test.db --workload mini --txns 20 -o /tmp/h.jsonl >"$work/out" 2>&1 || { cat "$work/out"; fail "cupel run"; }
echo "== a driver by apt"
root cupel doctor >"$work/doctor" || true
grep -q "postgres  *no" "$work/doctor" || { cat "$work/doctor"; fail "libpq is there before cupel-postgres"; }
root sh -c 'apt-get -q install -y --no-install-recommends /given/cupel-postgres_*.deb' >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt"; }
root cupel doctor >"$work/doctor" || true
grep -q "postgres  *yes" "$work/doctor" || { cat "$work/doctor"; fail "cupel-postgres brings no libpq"; }
if compgen -G "$work/root/given/cupel-mpi_*.deb" >/dev/null; then
  echo "== cupel-mpi by apt"
  root sh -c 'apt-get -q install -y --no-install-recommends openmpi-bin /given/cupel-mpi_*.deb' >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt"; }
  # Two processes of this machine alone, without its network and without a shell on others.
  mpirun_two() {
    root OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
      OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_plm_rsh_agent= \
      OMPI_MCA_btl_vader_single_copy_mechanism=none mpirun -n 2 cupel-mpi "$@"
  }
  status=0
  mpirun_two check -l snapshot-isolation /given/history.jsonl >"$work/out" 2>"$work/err" || status=$?
  [[ $status -eq 1 ]] && grep -q lost-update "$work/out" || { cat "$work/out" "$work/err"; fail "cupel-mpi ended with $status"; }
  root cupel check -l snapshot-isolation /given/history.jsonl >"$work/alone" || true
  diff "$work/alone" "$work/out" || fail "cupel-mpi says something else than cupel"
fi
echo "== the library by apt"
root sh -c 'apt-get -q install -y --no-install-recommends gcc libc6-dev pkg-config /given/libcupel-dev_*.deb' >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt"; }
status=0
root sh -c 'cc /given/lost_update.c $(pkg-config --cflags --libs cupel) -o /tmp/c && /tmp/c' >"$work/out" 2>&1 || status=$?
[[ $status -eq 1 ]] && grep -q "^lost-update: " "$work/out" || { cat "$work/out"; fail "the example in C ended with $status"; }
echo "== the wheel by pip"
root sh -c 'apt-get -q install -y --no-install-recommends python3-pip' >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt"; }
root sh -c 'pip install --break-system-packages --no-index /given/*.whl && python3 -c "
import cupel
print(cupel.check(\"/given/history.jsonl\", levels=[\"si\"])[\"snapshot-isolation\"].anomalies[0].name)"' >"$work/out" 2>&1 || { cat "$work/out"; fail "the wheel"; }
grep -qx lost-update "$work/out" || { cat "$work/out"; fail "the wheel finds no lost update"; }
echo "== done"
