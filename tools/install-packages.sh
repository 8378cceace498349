#!/usr/bin/env bash
# Installs the Debian 12 packages that building and testing cupel needs, and
# only those that are missing. With all of them there it does nothing and needs
# neither root nor network. `make build`, `make test` and `make demo` call it.
# The argument says what for, and a later line includes the earlier ones that it names:
#   demo      compile cupel and cupel-run with SQLite (`make demo`)
#   program   all programs and drivers (`make install`)
#   quick     program, and the quick tests, without servers and a browser (`make quick`)
#   engine, run, mock, crdt   the tests of one product (`make test PRODUCT=…`)
#   test      every test but the long ones (`make test`)
#   check     quick, and the tools of the gates (`make check`)
#   all       test, check, and clang for fuzzing; the default
#   long      all, and the long tests (`make long`)
#   proofs    Coq, alone
set -euo pipefail

mode=${1:-all}
# To compile cupel and cupel-run, with SQLite alone.
packages=(
  build-essential g++ cmake ninja-build ccache git pkg-config mold
  libcli11-dev libfmt-dev libsimdjson-dev nlohmann-json3-dev
  libabsl-dev libzstd-dev zlib1g-dev liblzma-dev libcadical-dev
  libsqlite3-dev
  libfuse3-dev  # disks with faults, for the servers that cupel starts
)
# For the other drivers and programs.
program=(
  libpg-query-dev libgmp-dev  # SQL over the mock store: the parser, decimals
  libpq-dev libssl-dev libmariadb-dev librocksdb-dev libhiredis-dev libcpp-httplib-dev
  libzookeeper-mt-dev libnats-dev
)
# To compile and run tests that need no server.
tests=(
  libgtest-dev libgmock-dev zstd
  python3  # examples/exec_client.py, and the tools of tools/
  libxml2-utils sqlite3  # xmllint and sqlite3 read what `--emit` writes
  codespell  # the test of spelling
)
# For the other quick tests: programs that talk to the mock store's servers, that read manual pages, and that validate JSON.
quick=(postgresql-client mariadb-client curl groff-base python3-jsonschema)
# For `make check`: the gates, and what every test needs of the verifier that is proved (cupel-proved), an OCaml program.
proved=(ocaml-nox)
check=(libbenchmark-dev clang-format clang-tidy "${proved[@]}")
# Database servers, for the tests and `cupel lab`. Those that are installed here are
# kept from starting and from making a database of their own, now and at boot (see
# below); those that were there before are left as they are.
sql_servers=(postgresql mariadb-server mariadb-backup galera-4 iproute2)
servers=(
  "${sql_servers[@]}"
  redis-server etcd-server libzookeeper-java default-jre-headless nats-server patroni python3-etcd
  go-dqlite
  pgbouncer pgpool2  # connection poolers, which the tests put before PostgreSQL
  nftables  # faults of the servers' networks
)
# The recorder clients in Python, Java and Go. An Eclipse compiler is a tenth of a JDK.
go=(golang-go golang-github-lib-pq-dev)
recorders=(python3-psycopg2 ecj libpostgresql-jdbc-java "${go[@]}")
# Object mappers and test frameworks, for PostgreSQL and MariaDB over the mock store.
mappers=(
  python3-psycopg2 python3-mysqldb python3-pymysql python3-django python3-sqlalchemy python3-pytest
  ruby-pg ruby-activerecord ruby-rspec
  php-cli php-pgsql php-doctrine-orm php-symfony-cache
  libpostgresql-jdbc-java default-jre-headless ecj junit5
  "${go[@]}"
)
others=(
  libbenchmark-dev
  zsh fish  # read the completions
  strace  # the files that are opened
  clojure  # the Jepsen checker of examples/jepsen
)
# For fuzzing and `make torture`. Debian's clang only recommends its runtime, without which -fsanitize=fuzzer does
# not link.
fuzzing=(clang libclang-rt-14-dev)
# To prove the verifier again: `install-packages.sh proofs`, and `long`.
proofs=(coq ocaml-nox)
# For the tests of the installation, of WebAssembly, of the site and of shared work, which are long ones.
long=(
  man-db python3-setuptools python3-wheel patchelf mypy lintian mmdebstrap buildah
  emscripten dpkg-dev
  python3-sphinx python3-myst-parser furo
  slurm-wlm munge parallel openmpi-bin libopenmpi-dev python3-kubernetes python3-yaml
)
node=''
case $mode in
  demo) ;;
  program) packages+=("${program[@]}") ;;
  quick) packages+=("${program[@]}" "${tests[@]}" "${quick[@]}") ;;
  engine) packages+=("${tests[@]}") ;;
  run) packages+=("${program[@]}" "${tests[@]}" "${quick[@]}" "${servers[@]}" "${recorders[@]}") node=yes ;;
  mock) packages+=("${program[@]}" "${tests[@]}" "${quick[@]}" "${sql_servers[@]}" "${mappers[@]}") node=yes ;;
  crdt) packages+=("${tests[@]}") node=yes ;;
  check) packages+=("${program[@]}" "${tests[@]}" "${quick[@]}" "${check[@]}") ;;
  test | all | long)
    packages+=("${program[@]}" "${tests[@]}" "${quick[@]}" "${servers[@]}" "${recorders[@]}" "${mappers[@]}" "${others[@]}" "${proved[@]}")
    node=yes
    [[ $mode == test ]] || packages+=("${check[@]}" "${fuzzing[@]}")
    [[ $mode != long ]] || packages+=("${long[@]}" "${proofs[@]}")
    ;;
  proofs) packages=("${proofs[@]}") ;;
  *)
    printf 'install-packages: %s: no such mode. Use %s\n' "$mode" \
      'demo, program, quick, engine, run, mock, crdt, test, check, all, long or proofs' >&2
    exit 3
    ;;
esac

# Node, npm and Chromium come from other places too; any that is on the path will do.
if [[ -n $node ]]; then
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
fi
if [[ $mode =~ ^(test|all|long)$ ]]; then
  # The report's test in a browser (tests/browser) needs no desktop.
  command -v chromium chromium-browser chromium-headless-shell >/dev/null || packages+=(chromium-headless-shell)
fi

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
# The headers of the servers; without them `cupel mock --engine` is left out.
get_headers() {
  [[ ! $mode =~ ^(mock|test|all|long)$ ]] || "$(dirname "$0")/server-headers.sh" ||
    printf 'install-packages: cupel is built without some engines of cupel mock --engine\n' >&2
}
if [[ ${#missing[@]} -eq 0 ]]; then
  get_headers
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

# A Debian package of a server starts it, and PostgreSQL's makes a cluster first. Two
# files prevent that while we install, and are removed however this script ends:
# policy-rc.d, which Debian asks before it starts a service (one that is there already
# is somebody else's choice and stays), and a setting of postgresql-common.
policy=/usr/sbin/policy-rc.d
settings=/etc/postgresql-common/createcluster.d
setting=$settings/cupel-install.conf
made=()
folder_made=
clean_up() {
  [[ ${#made[@]} -eq 0 ]] || "${as_root[@]}" rm -f "${made[@]}"
  # The folders too, if they were made here: they are empty then, unless a package took them.
  [[ -z $folder_made ]] || "${as_root[@]}" rmdir --ignore-fail-on-non-empty -p "$settings" 2>/dev/null || true
}
trap clean_up EXIT
trap 'exit 3' HUP INT TERM
if [[ ! -e $policy ]]; then
  made+=("$policy")
  "${as_root[@]}" tee "$policy" >/dev/null <<'POLICY'
#!/bin/sh
# Made by cupel's tools/install-packages.sh for as long as it runs.
case "$1" in
  postgresql* | mariadb* | mysql* | redis* | etcd* | rsync* | nats* | patroni* | pgbouncer* | pgpool*) exit 101 ;;  # not allowed
esac
exit 0
POLICY
  "${as_root[@]}" chmod 755 "$policy"
fi
if [[ " ${missing[*]} " == *" postgresql "* ]]; then
  made+=("$setting")
  [[ -d $settings ]] || folder_made=yes
  "${as_root[@]}" mkdir -p "$settings"
  echo "create_main_cluster = false" | "${as_root[@]}" tee "$setting" >/dev/null
fi

# `env` because sudo drops the environment.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
"${apt[@]}" update --quiet >&2 ||
  fail "apt-get update failed; is there a network, and does the list of package sources hold Debian 12?"
"${apt[@]}" install --yes --quiet --no-install-recommends "${missing[@]}" >&2 ||
  fail "apt-get could not install: ${missing[*]}"

# Nor at the next boot. postgresql needs no word: without a cluster it starts nothing.
for service in mariadb:mariadb-server redis-server:redis-server etcd:etcd-server patroni:patroni \
  pgbouncer:pgbouncer pgpool2:pgpool2; do
  if [[ " ${missing[*]} " == *" ${service#*:} "* ]]; then
    "${as_root[@]}" /usr/sbin/update-rc.d "${service%:*}" disable >&2 ||
      fail "could not disable the service ${service%:*}, which was just installed; do it by hand: update-rc.d ${service%:*} disable"
  fi
done
if [[ " ${missing[*]} " == *" mariadb-server "* ]] && command -v systemctl >/dev/null; then
  # Its socket would start it at the first connection.
  "${as_root[@]}" systemctl disable --quiet mariadb.socket >&2 ||
    fail "could not disable mariadb.socket, which was just installed; do it by hand: systemctl disable mariadb.socket"
fi
if [[ " ${missing[*]} " == *" nats-server "* ]] && command -v systemctl >/dev/null; then
  # It has no init script, only this.
  "${as_root[@]}" systemctl disable --quiet nats-server.service >&2 ||
    fail "could not disable nats-server, which was just installed; do it by hand: systemctl disable nats-server.service"
fi
get_headers
