#!/usr/bin/env bash
# Builds the container image and runs the README's first example in it, whose output is compared with the
# README; then checks a history of a folder that is given, with a picture drawn. Packages of an older and of
# a newer version in the folder are told apart. Needs root, buildah, mmdebstrap and the packages of Install.FromTheBuildTree; ends with
# 77 (skipped), and says why, where one is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
skip() {
  printf 'container_test: skipped: %s\n' "$1"
  exit 77
}
fail() {
  printf 'container_test: %s\n' "$1" >&2
  exit 1
}
[[ $(id -u) -eq 0 ]] || skip "only root can make a root"
for program in buildah mmdebstrap; do
  command -v $program >/dev/null || skip "$program is not installed"
done
[[ -d build/package/packages ]] || skip "build/package/packages is not there; Install.FromTheBuildTree makes it"

work=$(mktemp -d)
store=(--root "$work/images" --runroot "$work/run" --storage-driver vfs)
trap 'rm -rf "$work"' EXIT
echo "== the newest packages"
mkdir "$work/several"
tools/newest_packages.sh build/package/packages >"$work/newest"
while IFS= read -r file; do ln -s "$PWD/$file" "$work/several/"; done <"$work/newest"
for version in 0.0.9-1 0.10.0~dev-1; do
  mkdir -p "$work/another/DEBIAN"
  printf '%s\n' 'Package: cupel' "Version: $version" 'Architecture: amd64' 'Maintainer: the test <test@example.invalid>' \
    'Description: another version' >"$work/another/DEBIAN/control"
  dpkg-deb --build "$work/another" "$work/several/cupel_${version}_amd64.deb" >/dev/null
  rm -r "$work/another"
  tools/newest_packages.sh "$work/several" | sed 's!.*/!!' >"$work/taken"
  if [[ $version == 0.0* ]]; then wanted=$(sed 's!.*/!!' "$work/newest"); else wanted=cupel_${version}_amd64.deb; fi
  diff "$work/taken" - <<<"$wanted" || fail "beside cupel $version other packages are taken"
done
echo "== build"
tools/container.sh "${store[@]}" >"$work/build.txt" 2>&1 || { tail -30 "$work/build.txt"; fail "the build"; }
container=$(buildah "${store[@]}" from --pull-never cupel)
echo "== check"
mkdir "$work/data"
cp tests/install/lost-update.jsonl "$work/data/history.jsonl"
source tests/install/readme_example.sh
install -D "$readme_history" "$work/data/$readme_history"
status=0
buildah "${store[@]}" run --isolation chroot --volume "$work/data:/data" "$container" -- \
  /usr/bin/cupel check -l "$readme_level" "$readme_history" >"$work/out" 2>"$work/err" || status=$?
[[ $status -eq 1 ]] || { cat "$work/out" "$work/err"; fail "the README's first example ended with $status"; }
readme_compare "$work/out" || { cat "$work/err"; fail "the container prints another first example than the README"; }
status=0
buildah "${store[@]}" run --isolation chroot --volume "$work/data:/data" "$container" -- \
  /usr/bin/cupel check -l snapshot-isolation history.jsonl --report report >"$work/out" 2>&1 || status=$?
[[ $status -eq 1 ]] && grep -q lost-update "$work/out" || { cat "$work/out"; fail "cupel check ended with $status"; }
grep -q "<svg" "$work/data/report/index.html" || fail "the report has no picture"
[[ $(buildah "${store[@]}" inspect --format '{{.OCIv1.Config.Entrypoint}}' "$container") == "[/usr/bin/cupel]" ]] ||
  fail "the container does not begin with cupel"
buildah "${store[@]}" rm --all >/dev/null
echo "== done"
