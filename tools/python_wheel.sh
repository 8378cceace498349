#!/usr/bin/env bash
# Builds the Python wheel, without network: python/ with libcupel.so of build/package, which must be
# built (cmake --build --preset package). The wheel goes to build/python.
set -euo pipefail
cd "$(dirname "$0")/.."
library=build/package/libcupel.so
[[ -e $library ]] || {
  printf 'python_wheel: %s is not there; build it with: cmake --preset package && cmake --build --preset package\n' "$library" >&2
  exit 3
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r python/. "$work"
objcopy --strip-unneeded "$(realpath "$library")" "$work/cupel/libcupel.so"
mkdir -p build/python
(cd "$work" && /usr/bin/python3 setup.py --quiet bdist_wheel --dist-dir wheels)
mv "$work"/wheels/*.whl build/python/
ls build/python/*.whl
