#!/usr/bin/env bash
# The step of action.yml, which sets PACKAGE, HISTORIES, LEVELS, SARIF and ARGUMENTS. The exit code is
# that of cupel check: 0 satisfied, 1 violated, 2 unknown, 3 an error.
set -euo pipefail
shopt -s nullglob

fail() {
  echo "::error::cupel: $1"
  exit 3
}

cupel=cupel
if [[ -n $PACKAGE ]]; then
  # shellcheck disable=SC2206  # a pattern
  packages=($PACKAGE)
  [[ ${#packages[@]} -eq 1 && -f ${packages[0]} ]] ||
    fail "package: found ${#packages[@]} files for $PACKAGE, expected one"
  package=$(realpath "${packages[0]}")
  if [[ $package == *.deb ]]; then
    if [[ $(id -u) -eq 0 ]]; then apt=(apt-get); else apt=(sudo apt-get); fi
    "${apt[@]}" install --yes --quiet "$package" || fail "cannot install $package"
  else
    cupel=$package
    chmod +x "$cupel"
  fi
fi
command -v "$cupel" >/dev/null || fail "found no program cupel; name a package"

# Each pattern has to find a file: a history that is not there is not checked.
set -f
# shellcheck disable=SC2206  # words, of which no pattern is expanded yet
patterns=($HISTORIES) arguments=($ARGUMENTS)
set +f
[[ ${#patterns[@]} -gt 0 ]] || fail "histories: found nothing, expected files"
histories=()
for pattern in "${patterns[@]}"; do
  # shellcheck disable=SC2206
  found=($pattern)
  [[ ${#found[@]} -gt 0 && -e ${found[0]} ]] || fail "histories: found no file for $pattern"
  histories+=("${found[@]}")
done
exec "$cupel" check --level "$LEVELS" --emit "github,sarif=$SARIF" "${arguments[@]}" -- "${histories[@]}"
