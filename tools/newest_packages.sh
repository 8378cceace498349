#!/usr/bin/env bash
# Prints the Debian packages of a folder that are of one build: those of the version of the newest
# cupel_*.deb, where cpack has left several.   newest_packages.sh FOLDER
set -euo pipefail
folder=$1
newest=
for file in "$folder"/cupel_*.deb; do
  [[ -e $file ]] || continue
  version=$(dpkg-deb --field "$file" Version)
  if [[ -z $newest ]] || dpkg --compare-versions "$version" gt "$newest"; then newest=$version; fi
done
[[ -n $newest ]] || {
  printf 'newest_packages: %s holds no cupel_*.deb; make it with: cpack --config build/package/CPackConfig.cmake\n' "$folder" >&2
  exit 3
}
for file in "$folder"/*.deb; do
  if [[ $(dpkg-deb --field "$file" Version) == "$newest" ]]; then printf '%s\n' "$file"; fi
done
