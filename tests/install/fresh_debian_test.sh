#!/usr/bin/env bash
# Each way of installing that docs/how-to/install.md names, each in a root of its own that holds Debian 12 and
# nothing else; then the README's first example, whose output is compared with the README. Libraries
# explain the same history in the README's words. The container has its own test.
#
#   fresh_debian_test.sh [demo|source|packages|library|static|wheel|node]…    without: all
#
# Needs root, mmdebstrap, Debian's packages and what Install.FromTheBuildTree, Install.TheStaticCoreAlone
# and Wasm.NodePackage build. Ends with 77 (skipped), and says why, where one of these is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
ways=("$@")
[[ $# -gt 0 ]] || ways=(demo source packages library static wheel node)
skip() {
  printf 'fresh_debian_test: skipped: %s\n' "$1"
  exit 77
}
fail() {
  printf 'fresh_debian_test: %s\n' "$1" >&2
  exit 1
}

# Mounts are of this process alone, so the folder below can be removed when it has ended.
if [[ -z ${FRESH_DEBIAN_WORK:-} ]]; then
  [[ $(id -u) -eq 0 ]] || skip "only root can make a root"
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
  FRESH_DEBIAN_WORK=$(mktemp -d)
  trap 'rm -rf "$FRESH_DEBIAN_WORK"' EXIT
  export FRESH_DEBIAN_WORK FRESH_DEBIAN_MOUNTS=
  apart=()
  if unshare --mount sh -c 'mount --bind "$1" "$1"' sh "$FRESH_DEBIAN_WORK" 2>/dev/null; then
    apart=(unshare --mount)
    FRESH_DEBIAN_MOUNTS=yes
  fi
  status=0
  "${apart[@]}" "$0" "$@" || status=$?
  exit $status
fi
work=$FRESH_DEBIAN_WORK
source tests/install/readme_example.sh

# given FILE WHAT: the file is there, or WHAT makes it.
given() {
  compgen -G "$1" >/dev/null || skip "$1 is not there; $2 makes it"
}
for way in "${ways[@]}"; do
  case $way in
    demo | source) command -v git >/dev/null || skip "git is not installed" ;;
    packages | library) given 'build/package/packages/cupel_*.deb' Install.FromTheBuildTree ;;
    static) given build/core/cupel-core Install.TheStaticCoreAlone ;;
    wheel) given 'build/python/cupel-*.whl' Install.FromTheBuildTree ;;
    node) given 'build/node/cupel-*.tgz' Wasm.NodePackage ;;
    *) fail "found $way, expected demo, source, packages, library, static, wheel or node" ;;
  esac
done

begun=$SECONDS
say() {
  printf '%4d s  == %s\n' $((SECONDS - begun)) "$1"
}
# quietly COMMAND…: its output only where it fails.
quietly() {
  "$@" >"$work/quiet" 2>&1 || { tail -50 "$work/quiet"; fail "$* failed"; }
}

say "an empty root"
tools/debian_sources.sh >"$work/sources"
quietly mmdebstrap --variant=apt bookworm "$work/empty" - <"$work/sources"
mkdir "$work/archives"

# new_root: a copy of the empty root, as root/, with the history of the README in /work. If it can be
# mounted, what apt gets is kept for the next root.
root() {
  chroot "$work/root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
mounted=()
share() {  # share FOLDER FOLDER_OF_THE_ROOT
  mkdir -p "$work/root$2"
  [[ -n $FRESH_DEBIAN_MOUNTS ]] || return 0
  mount --bind "$1" "$work/root$2"
  mounted+=("$work/root$2")
}
new_root() {
  for folder in "${mounted[@]}"; do umount "$folder"; done
  mounted=()
  rm -rf "$work/root"
  cp -a "$work/empty" "$work/root"
  share "$work/archives" /var/cache/apt/archives
  mkdir -p "$work/root/given" "$work/root/var/cache/apt/archives/partial"
  install -D "$readme_history" "$work/root/work/$readme_history"
  [[ ${1-} == offline ]] || quietly root apt-get -q update
}
get() {
  quietly root apt-get -q install -y --no-install-recommends "$@"
}
# The Debian packages, and the name of one in the root.
give_packages() {
  while IFS= read -r file; do cp "$file" "$work/root/given"; done < <(tools/newest_packages.sh build/package/packages)
}
package() {
  echo "/given/$(basename "$work/root/given/$1"_*.deb)"
}
# The README's first example, by PROGRAM.
first_example() {
  local status=0
  root sh -c 'cd /work && "$@"' sh "$1" check -l "$readme_level" "$readme_history" >"$work/out" 2>&1 || status=$?
  [[ $status -eq 1 ]] || { cat "$work/out"; fail "$1 check ended with $status"; }
  readme_compare "$work/out" || fail "$1 prints another first example than the README"
}
# Its explanation, by a program that uses a library.
explanation() {
  root sh -c 'cd /work && "$@"' sh "$@" "$readme_history" snapshot-isolation >"$work/out" 2>&1 || { cat "$work/out"; fail "$*"; }
  readme_words_compare "$work/out" || fail "$* explains the first example in other words than the README"
}
# A project in C and C++ by find_package, and the same by pkg-config.
outside_project() {
  mkdir "$work/root/outside"
  cp tests/install/words/words.c tests/install/words/words.cpp "$work/root/outside"
  cat >"$work/root/outside/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.16)
project(outside C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(cupel 0.2 REQUIRED)
add_executable(in_c words.c)
target_link_libraries(in_c PRIVATE cupel::cupel)
add_executable(in_cpp words.cpp)
target_link_libraries(in_cpp PRIVATE cupel::cupel)
PROJECT
  quietly root sh -c 'cd /outside && cmake -S . -B build && cmake --build build'
  explanation /outside/build/in_c
  explanation /outside/build/in_cpp
  quietly root sh -c 'cc /outside/words.c $(pkg-config --cflags --libs cupel) -o /outside/by_pkg_config'
  explanation /outside/by_pkg_config
}

# source_root: a root with the source by the name that it has here, and with the cache of the compiler, if that
# can be mounted: what was compiled before is not compiled again.
source_root() {
  new_root
  get make
  mkdir -p "$work/root$PWD"
  git ls-files -z | tar --create --null --ignore-failed-read --files-from=- 2>"$work/tar" | tar --extract -C "$work/root$PWD"
  cached=()
  if command -v ccache >/dev/null; then
    share "$(ccache --get-config cache_dir)" /root/.cache/ccache
    cached=(env CCACHE_MAXSIZE="$(ccache --get-config max_size)")
  fi
}
from_demo() {
  say "from source: make demo"
  source_root
  quietly root "${cached[@]}" make -C "$PWD" demo
  grep -q "The exit code is 1: some level asked for is violated." "$work/quiet" || { cat "$work/quiet"; fail "make demo shows no violation"; }
  first_example "$PWD/build/release/cupel"
}
from_source() {
  say "from source: make install"
  source_root
  quietly root "${cached[@]}" make -C "$PWD" install
  first_example /usr/local/bin/cupel
  [[ -s $work/root/usr/local/share/man/man1/cupel-check.1.gz ]] || fail "make install installs no manual page"
  say "a project outside, with what make install installed"
  outside_project
}

from_packages() {
  local status
  say "the Debian package cupel, by apt"
  new_root
  give_packages
  get "$(package cupel)"
  first_example cupel
  local program
  for program in cupel-run cupel-mock cupel-crdt; do
    [[ ! -e $work/root/usr/libexec/cupel/$program ]] || continue  # apt takes what cupel recommends, unless told not to
    status=0
    root cupel "${program#cupel-}" --help >"$work/out" 2>&1 || status=$?
    [[ $status -eq 3 ]] && grep -q "install the package $program" "$work/out" || { cat "$work/out"; fail "cupel does not name $program"; }
    get "$(package "$program")"
    quietly root cupel "${program#cupel-}" --help
  done
  quietly root cupel run --db sqlite:/tmp/test.db --workload mini --txns 20 -o /tmp/h.jsonl
  local file driver
  for file in "$work"/root/given/cupel-*_all.deb; do
    driver=$(basename "$file")
    driver=${driver%%_*}
    driver=${driver#cupel-}
    root cupel doctor >"$work/doctor" || true
    grep -q "^  $driver  *no" "$work/doctor" || { cat "$work/doctor"; fail "$driver works before cupel-$driver"; }
    get "/given/$(basename "$file")"
    root cupel doctor >"$work/doctor" || true
    grep -q "^  $driver  *yes" "$work/doctor" || { cat "$work/doctor"; fail "cupel-$driver does not bring $driver"; }
    say "cupel-$driver"
  done
  first_example cupel
  compgen -G "$work/root/given/cupel-mpi_*.deb" >/dev/null || { say "cupel-mpi is not built: libopenmpi-dev is not installed"; return; }
  get openmpi-bin "$(package cupel-mpi)"
  # Two processes of this machine alone, without its network and without a shell on others.
  local status=0
  root env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_plm_rsh_agent= \
    OMPI_MCA_btl_vader_single_copy_mechanism=none \
    sh -c 'cd /work && mpirun -n 2 cupel-mpi check -l "$1" "$2"' sh "$readme_level" "$readme_history" >"$work/out" 2>"$work/err" || status=$?
  [[ $status -eq 1 ]] || { cat "$work/out" "$work/err"; fail "cupel-mpi ended with $status"; }
  readme_compare "$work/out" || fail "cupel-mpi prints another first example than the README"
  say "cupel-mpi"
}

from_library() {
  say "the library: libcupel-dev by apt, and a project outside"
  new_root
  give_packages
  get gcc g++ libc6-dev cmake make pkg-config "$(package libcupel0)" "$(package libcupel-dev)"
  outside_project
  cp examples/lost_update.c "$work/root/given"
  quietly root sh -c 'cc /given/lost_update.c $(pkg-config --cflags --libs cupel) -o /given/example'
  local status=0
  root /given/example >"$work/out" 2>&1 || status=$?
  [[ $status -eq 1 ]] && grep -q "^lost-update: " "$work/out" || { cat "$work/out"; fail "examples/lost_update.c ended with $status"; }
}

from_static() {
  say "the static program, alone"
  new_root offline
  objcopy --strip-all build/core/cupel-core "$work/root/usr/bin/cupel-core"
  first_example cupel-core
}

from_wheel() {
  say "the wheel, by pip"
  new_root
  cp "$(ls -t build/python/cupel-*.whl | head -1)" "$work/root/given"
  cp tests/install/words/words.py "$work/root/given"
  get python3-pip
  quietly root sh -c 'pip install --break-system-packages --no-index /given/*.whl'
  explanation python3 /given/words.py
  root sh -c 'cd /work && python3 -c "import sys, cupel; print(cupel.check(sys.argv[1]))" "$1"' sh "$readme_history" >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "cupel.check() from the wheel"; }
  grep -q "violated: snapshot-isolation" "$work/out" || { cat "$work/out"; fail "print(cupel.check()) names no violated level"; }
}

from_node() {
  say "the Node package, by npm"
  new_root
  cp build/node/cupel-*.tgz "$work/root/given"
  get nodejs npm
  mkdir "$work/root/project"
  cp tests/install/words/words.mjs "$work/root/project"
  quietly root sh -c 'cd /project && npm init -y && npm install --offline --no-audit --no-fund /given/cupel-*.tgz'
  explanation node /project/words.mjs
}

for way in "${ways[@]}"; do "from_$way"; done
say "done: ${ways[*]}"
