#!/usr/bin/env bash
# Checks proofs/: `tools/prove.sh digest` compares the digest of the proofs with the one that
# was taken when the program was extracted, which needs nothing. `tools/prove.sh` proves with Coq,
# in build/proofs, what is not proved there already, looks at what each theorem rests on, extracts
# the program and compares it with the one checked in. `tools/prove.sh extract` writes it and the
# digest anew. `make proofs` begins with an empty build/proofs.
#
# A file is proved already if its stamp in build/proofs is the digest of its text and of all
# before it. The stamp is written after Coq has ended, so an interrupted run leaves none.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-prove}
files=(History Levels Order Ladder Witness Weak Extend Clauses Derivation Format Verify Text
  Replicated ReplicatedCheck ReplicatedFormat)
extractions=(Extract ReplicatedExtract)
programs=(verifier.ml verifier.mli replicated.ml replicated.mli)
extracted=proofs/extracted

fail() {
  printf 'prove: %s\n' "$1" >&2
  exit 1
}
# The text of proofs/NAME, which is kept as it is or, where it was generated and is large, compressed.
text_of() {
  if [[ -e proofs/$1.xz ]]; then
    python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' "proofs/$1.xz"
  else
    cat "proofs/$1"
  fi
}
names_of() {  # names_of FOLDER: its proofs, sorted, without .xz
  (cd proofs && export LC_ALL=C && for file in "$1"/*.v "$1"/*.v.xz; do printf '%s\n' "${file%.xz}"; done | sort)
}
digest() {
  for name in $(names_of .) $(names_of findings) $(cd proofs && LC_ALL=C && echo extracted/*.ml extracted/*.mli); do
    printf '%s  %s\n' "$(text_of "$name" | sha256sum | cut -d' ' -f1)" "$name"
  done | sha256sum | cut -d' ' -f1
}

if [[ $mode == digest ]]; then
  [[ $(digest) == $(cat $extracted/DIGEST) ]] ||
    fail "the proofs are not those of $extracted/DIGEST; run tools/prove.sh extract"
  exit 0
fi
command -v coqc >/dev/null || fail "coqc is not there; install coq (Debian)"
findings=($(names_of findings))
leaves=(Examples "${findings[@]%.v}")
for file in $(names_of .); do
  name=$(basename "$file" .v)
  [[ " ${files[*]} Examples ${extractions[*]} " == *" $name "* ]] ||
    fail "$file is proved by nobody; name it in tools/prove.sh"
done
tools/coq_assumptions.py search proofs/*.v{,.xz} proofs/findings/*.v{,.xz} ||
  fail "found what is not proved, or what changes what is proved (above)"

build=build/proofs
mkdir -p $build/findings
prove() {  # prove FILE BEFORE: BEFORE is the digest of all that it needs
  local file=$1 stamp
  stamp=$(printf '%s %s' "$2" "$(text_of "$file.v" | sha256sum)" | sha256sum | cut -d' ' -f1)
  if [[ ! -e $build/$file.vo || $(cat $build/$file.stamp 2>/dev/null) != "$stamp" ]]; then
    printf 'prove: %s.v\n' "$file"
    rm -f $build/$file.stamp
    text_of "$file.v" >"$build/$file.v"
    (cd $build && coqc -q -Q . Cupel "$file.v")
    printf '%s\n' "$stamp" >$build/$file.stamp
  fi
  proved=$stamp
}
proved=$(coqc --version)
for file in "${files[@]}"; do prove "$file" "$proved"; done
core=$proved
for file in "${leaves[@]}"; do prove "$file" "$core"; done

printf 'prove: what the theorems rest on\n'
tools/coq_assumptions.py write "${files[@]}" "${leaves[@]}" >$build/Assumptions.v
(cd $build && coqc -q -Q . Cupel Assumptions.v >assumptions.txt)
tools/coq_assumptions.py check $build/Assumptions.v $build/assumptions.txt ||
  fail "a theorem rests on something (above) that is none of Coq's native integers"
for file in "${extractions[@]}"; do
  cp proofs/$file.v $build/
  (cd $build && coqc -q -Q . Cupel -w -extraction-opaque-accessed $file.v)
done
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
