#!/usr/bin/env bash
# Unpacks Debian's source packages, with Debian's patches, of the versions that this system installs:
# for what is compiled for another machine, or as an archive that Debian does not have.
#   debian_source_packages.sh FOLDER PACKAGE…    each into FOLDER/PACKAGE; what is there already stays
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift

fail() {
  printf 'debian_source_packages: %s\n' "$1" >&2
  exit 3
}

missing=()
for package in "$@"; do
  [[ -e $folder/$package ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0
command -v dpkg-source >/dev/null || fail "there is no dpkg-source; the package dpkg-dev has it"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Lists of sources beside those of the system, which stay as they are.
mkdir -p "$work/lists/partial" "$work/parts" "$work/unpacked" "$folder"
"$tools/debian_sources.sh" source >"$work/sources"
case $(head -n 1 "$work/sources") in
  deb-src*) mv "$work/sources" "$work/parts/debian.list" ;;
  *) mv "$work/sources" "$work/parts/debian.sources" ;;
esac
apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts" -o Dir::State::lists="$work/lists")
"${apt[@]}" update >&2 || fail "the lists of source packages cannot be had"
for package in "${missing[@]}"; do
  (cd "$work/unpacked" && "${apt[@]}" source --download-only "$package" >&2) ||
    fail "the source package $package cannot be had"
  dpkg-source --no-check --extract "$work/unpacked"/*.dsc "$work/$package" >&2 ||
    fail "the source package $package cannot be unpacked"
  rm -f "$work/unpacked"/*
  rm -rf "$folder/$package.new"
  mv "$work/$package" "$folder/$package.new"
  mv "$folder/$package.new" "$folder/$package"
done
