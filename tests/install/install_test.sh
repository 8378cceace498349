#!/usr/bin/env bash
# Installs the preset `package` into a folder and uses it from outside: a CMake project, pkg-config,
# the manual pages, the Debian packages under lintian, the Python wheel under pytest.
# Usage: install_test.sh FOLDER (made anew)
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
work=$(realpath -m "$1")
rm -rf "$work"
mkdir -p "$work"
fail() {
  printf 'install_test: %s\n' "$1" >&2
  exit 1
}
expect() {  # expect TEXT FILE
  grep -qF -- "$1" "$2" || { cat "$2"; fail "expected \`$1\` in $2"; }
}

cd "$source_dir"
echo "== build"
cmake --preset package --log-level=WARNING >/dev/null
cmake --build --preset package >"$work/build.txt" || { tail -50 "$work/build.txt"; fail "the build"; }
prefix=$work/prefix
cmake --install build/package --prefix "$prefix" >/dev/null

echo "== the program and its pages"
"$prefix/bin/cupel" --version
test -s "$prefix/share/man/man1/cupel-mock-test.1.gz"
python3 -m json.tool "$prefix/share/cupel/output.schema.json" >/dev/null
MANWIDTH=100 man -l "$prefix/share/man/man1/cupel-check.1.gz" >"$work/page"
expect "cupel check [OPTIONS] HISTORY ..." "$work/page"

if [[ -e $prefix/bin/cupel-mpi ]]; then
  man -l "$prefix/share/man/man1/cupel-mpi-check.1.gz" >"$work/page"
  expect "cupel-mpi check [OPTIONS] HISTORY ..." "$work/page"
  test -s "$prefix/share/man/man1/cupel-mpi.1.gz"
else
  echo "cupel-mpi is not built: libopenmpi-dev is not installed"
fi

echo "== verify --proved, by the program that is installed, if OCaml was there"
printf 'w(1,1,0,1)\nr(1,1,1,2)\n' >"$work/fine.txt"
"$prefix/bin/cupel" check --quiet --certificate "$work/fine.json" "$work/fine.txt"
status=0
"$prefix/bin/cupel" verify --proved "$work/fine.txt" "$work/fine.json" >"$work/proved.txt" 2>&1 || status=$?
if [[ -e build/package/cupel-proved ]]; then
  test $status = 0 || { cat "$work/proved.txt"; fail "verify --proved ended with $status"; }
  expect "proved: 8 of 8 answers" "$work/proved.txt"
else
  test $status = 3 || fail "verify --proved ended with $status"
  expect "install cupel where OCaml is" "$work/proved.txt"
fi

echo "== an outside project, by CMake and by pkg-config"
library=$(dirname "$(find "$prefix" -name libcupel.so)")
mkdir "$work/outside"
cp examples/lost_update.c "$work/outside/"
cp tests/install/outside.cpp "$work/outside/"
cat >"$work/outside/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.16)
project(outside C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(cupel 0.2 REQUIRED)
add_executable(in_c lost_update.c)
target_link_libraries(in_c PRIVATE cupel::cupel)
add_executable(in_cpp outside.cpp)
target_link_libraries(in_cpp PRIVATE cupel::cupel)
PROJECT
cmake -S "$work/outside" -B "$work/outside/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/outside/build" >/dev/null
status=0
"$work/outside/build/in_c" >"$work/c.txt" || status=$?
test $status = 1 || fail "the example in C ended with $status"
expect "lost-update: An update was lost. T1 and T2 both read x = 1" "$work/c.txt"
"$work/outside/build/in_cpp" "$work/recorded.jsonl" >"$work/cpp.txt" || fail "the project in C++ failed"
diff <(cat "$work/c.txt") "$work/cpp.txt" || fail "C and C++ say different things"
flags=$(PKG_CONFIG_PATH="$library/pkgconfig" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 pkg-config --cflags --libs cupel)
# shellcheck disable=SC2086
cc examples/lost_update.c $flags -Wl,-rpath,"$library" -o "$work/by_pkg_config"
status=0
"$work/by_pkg_config" >"$work/by_pkg_config.txt" || status=$?
test $status = 1 || fail "the example in C by pkg-config ended with $status"
diff "$work/c.txt" "$work/by_pkg_config.txt" || fail "by pkg-config it says different things"

echo "== what the library gives out"
nm -D --defined-only "$library/libcupel.so" | awk '{print $3}' >"$work/symbols"
expect "cupel_check@@CUPEL_0" "$work/symbols"
if grep -E "absl|simdjson|cupel5(base|check|order)" "$work/symbols" | grep -v "^_ZTI\|^_ZTS\|^_ZTV"; then
  fail "the library gives out what is its own"
fi

echo "== Debian packages"
cpack --config build/package/CPackConfig.cmake >"$work/cpack.txt" 2>&1 || { cat "$work/cpack.txt"; fail "cpack"; }
ls build/package/packages
lintian --fail-on error,warning build/package/packages/*.deb || fail "lintian"

echo "== Python"
tools/python_wheel.sh >"$work/wheel"
python=/usr/bin/python3
mkdir "$work/site"
$python -m zipfile -e "$(tail -1 "$work/wheel")" "$work/site"
mypy --strict --no-warn-return-any --cache-dir="$work/mypy" "$work/site/cupel" || fail "the types"
PYTHONPATH="$work/site" CUPEL_BINARY="$prefix/bin/cupel" $python -m pytest -q -p no:cacheprovider python/tests
echo "== done"
