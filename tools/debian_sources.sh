#!/usr/bin/env bash
# Prints the sources of apt that this system has of Debian itself, for roots that tests and
# containers make. Argument: `source` for source packages.
set -euo pipefail
kind=deb
[[ ${1:-} != source ]] || kind=deb-src
if [[ -e /etc/apt/sources.list.d/debian.sources ]]; then
  sed "s/^Types:.*/Types: $kind/" /etc/apt/sources.list.d/debian.sources
else
  sed -n "s/^deb \(.*debian.*\)/$kind \1/p" /etc/apt/sources.list
fi
