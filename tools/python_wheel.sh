#!/usr/bin/env bash
# Builds the Python wheel, without network: python/ with libcupel.so of build/package, which must be
# built (cmake --build --preset package), and the libraries that a system without compilers lacks. The
# wheel goes to build/python. Needs patchelf.
set -euo pipefail
cd "$(dirname "$0")/.."
library=build/package/libcupel.so
[[ -e $library ]] || {
  printf 'python_wheel: %s is not there; build it with: cmake --preset package && cmake --build --preset package\n' "$library" >&2
  exit 3
}
command -v patchelf >/dev/null || {
  printf 'python_wheel: patchelf is not installed; install it with: apt-get install patchelf\n' >&2
  exit 3
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r python/. "$work"
objcopy --strip-unneeded "$(realpath "$library")" "$work/cupel/libcupel.so"
patchelf --set-rpath '$ORIGIN' "$work/cupel/libcupel.so"
# Every Debian has the others, and other Linux systems too.
ldd "$library" | awk '$1 ~ /^lib(fmt|simdjson|absl_)/ { print $3 }' >"$work/needed"
while IFS= read -r file; do
  cp -L "$file" "$work/cupel/"
  patchelf --set-rpath '$ORIGIN' "$work/cupel/$(basename "$file")"
  package=$(dpkg-query --search "$(realpath "$file")" | sed 's/:.*//')
  cp "/usr/share/doc/$package/copyright" "$work/cupel/$package.copyright"
done <"$work/needed"
mkdir -p build/python
(cd "$work" && /usr/bin/python3 setup.py --quiet bdist_wheel --dist-dir wheels)
mv "$work"/wheels/*.whl build/python/
ls build/python/*.whl
