#!/usr/bin/env bash
# Gets the headers of MariaDB's server that storage engines include, for the engine of
# `cupel mock --engine mariadb`. Debian has them in the source package only. The source of the
# installed version is taken, or else of the newest one that there is; the engine says at run time if
# the server is too different. About 110 MB are downloaded; 10 MB stay in /usr/local/include.
# With the headers there it does nothing. The list of package sources needs no deb-src.
set -euo pipefail

target=/usr/local/include/mariadb-server-source
[[ ! -e $target/sql/handler.h ]] || exit 0

fail() {
  printf 'mariadb-headers: %s\n' "$1" >&2
  exit 3
}
if [[ $(id -u) -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  fail "writing $target needs root or sudo, and this user has neither"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
  printf 'mariadb-headers: the source of %s is not to be had\n' "$candidate" >&2
done
archive=$(find . -name 'mariadb_*.orig.tar.gz' -print -quit)
[[ -n $archive ]] || fail "apt-get could not get the source package mariadb"

tar --extract --gzip --strip-components=1 --file="$archive" --wildcards \
  '*/include/*.h' '*/include/*.h.in' '*/sql/*.h' '*/wsrep-lib/include/*' '*/wsrep-lib/wsrep-API/*.h'
# What the server's build would make of a template without anything to fill in.
cp include/probes_mysql_nodtrace.h.in include/probes_mysql_nodtrace.h
[[ -e sql/handler.h ]] || fail "the source package has another layout than expected"
"${as_root[@]}" mkdir -p "$target"
"${as_root[@]}" cp -r include sql wsrep-lib "$target/"
"${as_root[@]}" chmod -R a+rX "$target"
