#!/usr/bin/env bash
# Checks proofs/: `tools/prove.sh digest` compares the digest of the proofs with the one that
# the extracted program was made from, which needs nothing. `tools/prove.sh` proves everything
# again with Coq in build/proofs, looks at what the theorems rest on, extracts the program and
# compares it with the one checked in. `tools/prove.sh extract` writes it and the digest anew.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-prove}
files=(History Levels Order Ladder Witness Weak Extend Clauses Derivation Format Verify Text
  Replicated ReplicatedCheck ReplicatedFormat)
programs=(verifier.ml verifier.mli replicated.ml replicated.mli)
extracted=proofs/extracted

fail() {
  printf 'prove: %s\n' "$1" >&2
  exit 1
}
digest() {
  (cd proofs && cat "${files[@]/%/.v}" Extract.v ReplicatedExtract.v "${programs[@]/#/extracted/}" | sha256sum | cut -d' ' -f1)
}

if [[ $mode == digest ]]; then
  [[ $(digest) == $(cat $extracted/DIGEST) ]] ||
    fail "the proofs are not those of $extracted/DIGEST; run tools/prove.sh extract"
  exit 0
fi
command -v coqc >/dev/null || fail "coqc is not there; install coq (Debian)"
if grep -nE '^[^(]*\b(Admitted|admit|Axiom|Parameter|Conjecture)\b' proofs/*.v | grep -v '"'; then
  fail "found what is not proved (above)"
fi

build=build/proofs
mkdir -p $build/findings
cp proofs/*.v $build/
cp proofs/findings/*.v $build/findings/
cd $build
findings=(findings/*.v)
for file in "${files[@]}" Examples "${findings[@]%.v}"; do
  # Only what changed, and all that comes after it.
  if [[ -e $file.vo && $file.vo -nt ../../proofs/$file.v && -z ${again:-} ]]; then continue; fi
  again=yes
  printf 'prove: %s.v\n' "$file"
  coqc -q -Q . Cupel "$file.v"
done
printf 'prove: what the theorems rest on\n'
coqc -q -Q . Cupel Assumptions.v >assumptions.txt
if grep -E '^[A-Za-z0-9_.]+ *(:|$)' assumptions.txt | grep -vE '^(Axioms:|(PrimInt63|Uint63)\.)'; then
  fail "a theorem rests on an axiom (above) that is none of native integers"
fi
for file in Extract ReplicatedExtract; do
  coqc -q -Q . Cupel -w -extraction-opaque-accessed $file.v
done
cd ../..
if [[ $mode == extract ]]; then
  cp "${programs[@]/#/$build/}" $extracted/
  digest >$extracted/DIGEST
fi
for program in "${programs[@]}"; do
  cmp -s $build/$program $extracted/$program ||
    fail "the program that Coq extracts is not $extracted/$program; run tools/prove.sh extract"
done
tools/prove.sh digest
printf 'prove: every theorem holds\n'
