#!/usr/bin/env bash
# Installs the Debian 12 packages that building and testing cupel needs, and
# only those that are missing. With all of them there it does nothing and needs
# neither root nor network. `make build`, `make test` and `make demo` call it.
set -euo pipefail

packages=(
  build-essential g++ cmake ninja-build ccache git pkg-config
  libcli11-dev libfmt-dev libsimdjson-dev nlohmann-json3-dev
  libabsl-dev libzstd-dev libcadical-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  zstd
  # Database clients, for the drivers.
  libsqlite3-dev libpq-dev libmariadb-dev librocksdb-dev libhiredis-dev libcpp-httplib-dev
  # Database servers, for the tests and `cupel lab`; none is started by this.
  postgresql mariadb-server galera-4 redis-server etcd-server
)

fail() {
  printf 'install-packages: %s\n' "$1" >&2
  exit 3
}

command -v dpkg-query >/dev/null ||
  fail "this is not a Debian system (no dpkg-query); install by hand what these hold: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  # A package that was removed but not purged is still known: ask for its state.
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

printf 'install-packages: installing %s\n' "${missing[*]}" >&2
command -v apt-get >/dev/null ||
  fail "apt-get is not there; install by hand: ${missing[*]}"
if [[ $(id -u) -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  fail "installing needs root or sudo, and this user has neither; ask someone who has for: apt-get install ${missing[*]}"
fi

# `env` because sudo drops the environment.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
"${apt[@]}" update --quiet >&2 ||
  fail "apt-get update failed; is there a network, and does the list of package sources hold Debian 12?"
"${apt[@]}" install --yes --quiet --no-install-recommends "${missing[@]}" >&2 ||
  fail "apt-get could not install: ${missing[*]}"
