#!/usr/bin/env bash
# Builds the container image cupel with buildah, from Debian's packages and those of build/package,
# which must be there (cpack --config build/package/CPackConfig.cmake); of several versions, the newest.
# Needs root and mmdebstrap.
# Arguments go to `buildah` before its command: --root FOLDER and others.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() {
  printf 'container: %s\n' "$1" >&2
  exit 3
}
packages=$(tools/newest_packages.sh "$PWD/build/package/packages")
for program in buildah mmdebstrap; do
  command -v $program >/dev/null || fail "$program is not installed; install it with: apt-get install $program"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/packages"
# The program and its drivers; and what the program recommends, to draw pictures and speak TLS.
while IFS= read -r file; do cp "$file" "$work/packages"; done <<<"$packages"
rm -f "$work"/packages/libcupel* "$work"/packages/cupel-mpi_*
dpkg-deb --field "$work"/packages/cupel_*.deb Recommends | tr ',' ' ' >"$work/packages/recommended"
# The archives that this system uses, Debian's own.
tools/debian_sources.sh >"$work/sources"
mmdebstrap --variant=apt --quiet bookworm "$work/root.tar" - <"$work/sources" || fail "no root could be made"
# The RUN is a chroot: no daemon, no network of its own.
buildah "$@" bud --isolation chroot --tag cupel --file packaging/Containerfile "$work"
