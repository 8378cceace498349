#!/usr/bin/env bash
# examples/github-action/check.sh on two histories: exit codes, the summary, the SARIF file, errors.
#
#   github_action_test.sh SOURCE CUPEL
set -euo pipefail

check=$1/examples/github-action/check.sh cupel=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'w(1,1,0,1)\nr(1,1,1,2)\n' >fine.txt
printf 'r(1,0,0,1)\nw(1,1,0,1)\nr(1,0,1,2)\nw(1,2,1,2)\n' >lost.txt

# expect CODE HISTORIES [PACKAGE]
expect() {
  local code=0
  PACKAGE=${3-$cupel} HISTORIES=$2 LEVELS=snapshot-isolation SARIF=out.sarif ARGUMENTS=--threads=1 \
    GITHUB_STEP_SUMMARY=summary.md bash "$check" >output 2>&1 || code=$?
  if [[ $code -ne $1 ]]; then
    echo "$2: exit code $code, expected $1"
    cat output
    exit 1
  fi
}

expect 0 fine.txt
expect 1 '*.txt'
grep -q '"version": "2.1.0"' out.sarif
grep -q lost-update out.sarif
grep -q '^::error file=lost.txt' output
grep -q lost-update summary.md
expect 3 'none*.txt'
grep -q '^::error::cupel: histories: found no file' output
expect 3 $'*.txt\nnone*.txt'
grep -q '^::error::cupel: histories: found no file for none\*.txt' output
expect 3 'fine.txt none.txt'
grep -q '^::error::cupel: histories: found no file for none.txt' output
expect 3 ' '
grep -q '^::error::cupel: histories: found nothing, expected files' output
expect 0 $'fine.txt\nfi*.txt'
expect 3 fine.txt 'none*.deb'
grep -q '^::error::cupel: package: found 0 files' output
