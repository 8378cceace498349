#!/usr/bin/env bash
# Builds build/core/cupel-core: check, verify, convert, stats, explain and generate as one static
# program, for any Linux of this processor. Debian has no archives of fmt and simdjson: a file of
# each is taken from Debian's source packages of the installed versions, and kept in
# build/static-sources.
set -euo pipefail
cd "$(dirname "$0")/.."
sources=build/static-sources

fail() {
  printf 'static_core: %s\n' "$1" >&2
  exit 3
}

# get PACKAGE ARCHIVE-MEMBER FILE: of the source package whose development files are installed.
get() {
  [[ -e $sources/$3 ]] && return
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # Lists of sources beside those of the system, which stay as they are.
  mkdir -p "$work/lists/partial" "$work/parts"
  tools/debian_sources.sh source >"$work/sources"
  case $(head -n 1 "$work/sources") in
    deb-src*) mv "$work/sources" "$work/parts/debian.list" ;;
    *) mv "$work/sources" "$work/parts/debian.sources" ;;
  esac
  local apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts" -o Dir::State::lists="$work/lists")
  "${apt[@]}" update >&2 || fail "the lists of source packages cannot be had"
  (cd "$work" && "${apt[@]}" source --download-only "$1" >&2) || fail "the source package $1 cannot be had"
  tar --extract --to-stdout --wildcards --file="$(ls "$work"/*.orig.tar.*)" "$2" >"$sources/$3.new"
  [[ -s $sources/$3.new ]] || fail "the source package $1 holds no $2"
  mv "$sources/$3.new" "$sources/$3"
  rm -rf "$work"
}

mkdir -p "$sources"
get simdjson '*/singleheader/simdjson.cpp' simdjson.cpp
get fmtlib '*/src/format.cc' format.cc
cmake --preset core --log-level=WARNING >/dev/null
cmake --build --preset core
