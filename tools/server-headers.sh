#!/usr/bin/env bash
# Gets the headers of database servers, which the engines of `cupel mock --engine` include.
#
# postgresql-server-dev-15 and libmariadbd-dev have headers, but install 1 GB: the first depends on LLVM, the second
# has a static library. This script unpacks the two packages and keeps the headers, 15 MB, in /usr/local/include.
# MariaDB has more headers in its source package only. The script takes the source of the installed version, or
# else the newest that there is; the engine says at run time if the server is too different.
#
# About 210 MB are downloaded. Headers that are there are not fetched again, also if the two packages are
# installed. The list of package sources needs no deb-src.
set -euo pipefail

fail() {
  printf 'server-headers: %s\n' "$1" >&2
  exit 3
}
as_root=()
[[ $(id -u) -eq 0 ]] || as_root=(sudo)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need_root() {
  [[ $(id -u) -eq 0 ]] || command -v sudo >/dev/null ||
    fail "writing /usr/local/include needs root or sudo, and this user has neither"
}

# keep FOLDER TARGET: copies the content of FOLDER into TARGET.
keep() {
  "${as_root[@]}" mkdir -p "$2"
  "${as_root[@]}" cp -r "$1/." "$2/"
  "${as_root[@]}" chmod -R a+rX "$2"
}

# from_package PACKAGE FOLDER TARGET FILE: FOLDER of the package, unless FILE is in FOLDER or in TARGET.
from_package() {
  [[ ! -e $2/$4 && ! -e $3/$4 ]] || return 0
  need_root
  mkdir "$work/$1"
  (cd "$work/$1" && apt-get -o APT::Sandbox::User=root --quiet --quiet download "$1" >&2) ||
    fail "apt-get could not download $1; is there a network, and does the list of package sources hold Debian 12?"
  dpkg-deb --extract "$work/$1"/*.deb "$work/$1/files"
  [[ -e $work/$1/files$2/$4 ]] || fail "the package $1 has another layout than expected"
  keep "$work/$1/files$2" "$3"
  rm -r "${work:?}/$1"
}
from_package postgresql-server-dev-15 /usr/include/postgresql/15/server /usr/local/include/postgresql-server-15 postgres.h
from_package libmariadbd-dev /usr/include/mariadb/server /usr/local/include/mariadb-server my_config.h

target=/usr/local/include/mariadb-server-source
[[ ! -e $target/sql/handler.h ]] || exit 0
need_root
mkdir -p "$work/lists/partial"
# The same places that binary packages come from.
apt-get indextargets --format '$(TARGET_OF) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  awk '$2 ~ /debian/ && $4 == "main" {print "deb-src", $2, $3, $4}' | sort -u >"$work/sources.list"
apt=(apt-get -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::State::lists="$work/lists" -o APT::Sandbox::User=root --quiet --quiet)
cd "$work"
"${apt[@]}" update >&2 || fail "apt-get found no source packages; is there a network?"
version=$(dpkg-query --show --showformat='${source:Version}' mariadb-server-core 2>/dev/null || true)
mapfile -t versions < <(apt-cache -o Dir::Etc::sourcelist="$work/sources.list" \
  -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$work/lists" showsrc --only-source mariadb |
  awk '/^Version:/ {print $2}' | sort --version-sort --reverse --unique)
tried=
for candidate in ${version:+"$version"} "${versions[@]}"; do
  [[ $candidate != "$tried" ]] || continue
  tried=$candidate
  "${apt[@]}" source --download-only "mariadb=$candidate" >&2 && break
  printf 'server-headers: the source of mariadb %s is not there; trying another version\n' "$candidate" >&2
done
archive=$(find . -name 'mariadb_*.orig.tar.gz' -print -quit)
[[ -n $archive ]] || fail "apt-get could not get the source package mariadb"

tar --extract --gzip --strip-components=1 --file="$archive" --wildcards \
  '*/include/*.h' '*/include/*.h.in' '*/sql/*.h' '*/wsrep-lib/include/*' '*/wsrep-lib/wsrep-API/*.h'
# What the server's build would make of a template without anything to fill in.
cp include/probes_mysql_nodtrace.h.in include/probes_mysql_nodtrace.h
[[ -e sql/handler.h ]] || fail "the source package has another layout than expected"
for folder in include sql wsrep-lib; do
  keep "$folder" "$target/$folder"
done
