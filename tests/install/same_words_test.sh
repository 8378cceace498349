#!/usr/bin/env bash
# The library from C, C++, Python, Node and Clojure on the same violated histories: the words of the
# program. Usage: same_words_test.sh INSTALLED FOLDER, the folder of install_test.sh and one that is made
# anew. Node needs what tools/wasm_core.sh builds. Ends with 77 (skipped), and says why, where one of
# these or of the languages is not there.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
installed=$(realpath -m "$1")
work=$(realpath -m "$2")
rm -rf "$work"
mkdir -p "$work"
fail() {
  printf 'same_words_test: %s\n' "$1" >&2
  exit 1
}
skip() {
  printf 'same_words_test: skipped: %s\n' "$1"
  exit 77
}
prefix=$installed/prefix
clojure=/usr/share/java/clojure.jar:/usr/share/java/spec.alpha.jar:/usr/share/java/core.specs.alpha.jar
[[ -x $prefix/bin/cupel ]] || skip "$installed is not there; Install.FromTheBuildTree makes it"
[[ -e $source_dir/build/wasm/cupel.wasm ]] || skip "build/wasm is not there; tools/wasm_core.sh makes it"
for program in node npm java; do
  command -v $program >/dev/null || skip "$program is not installed"
done
[[ -e ${clojure%%:*} ]] || skip "Debian's clojure is not installed"

library=$(dirname "$(find "$prefix" -name libcupel.so)")
words=$source_dir/tests/install/words
cc "$words/words.c" -I"$prefix/include" -L"$library" -lcupel -Wl,-rpath,"$library" -o "$work/in_c"
c++ -std=c++20 "$words/words.cpp" -I"$prefix/include" -L"$library" -lcupel -Wl,-rpath,"$library" -o "$work/in_cpp"
"$source_dir/tools/node_package.sh" >/dev/null
cp "$words/words.mjs" "$work/"
cd "$work"
echo '{"name": "words", "private": true}' >package.json
npm install --silent --offline --no-audit --no-fund "$source_dir"/build/node/cupel-*.tgz

# compare FILE LEVEL ANOMALY
compare() {
  local file=$1 level=$2
  "$prefix/bin/cupel" check --json -l "$level" "$file" >program.json || [[ $? -eq 1 ]] || fail "cupel check $file"
  python3 -c 'import json, sys
for anomaly in json.load(sys.stdin)["levels"][0]["anomalies"]: print(anomaly["name"] + ": " + anomaly["explanation"])' \
    <program.json >program
  grep -q "^$3: " program || { cat program; fail "the program does not say $3"; }
  ./in_c "$file" "$level" >c
  ./in_cpp "$file" "$level" >cpp
  PYTHONPATH=$installed/site python3 "$words/words.py" "$file" "$level" >python
  node words.mjs "$file" "$level" >node
  java -cp "$clojure:$source_dir/examples/jepsen" clojure.main "$words/words.clj" "$file" "$level" "$prefix/bin/cupel" >clojure
  for language in c cpp python node clojure; do
    diff program $language || fail "$language says something else of $file"
  done
  echo "== $3, in six ways the same $(wc -w <program) words"
}
compare "$source_dir/tests/install/lost-update.jsonl" snapshot-isolation lost-update
printf '%s\n' '{"type":"ok","process":0,"f":"txn","value":[["r","x",0],["w","y",1]]}' \
  '{"type":"ok","process":1,"f":"txn","value":[["r","y",0],["w","x",1]]}' \
  '{"type":"ok","process":2,"f":"txn","value":[["w","x",0],["w","y",0]]}' >skew.jsonl
compare skew.jsonl serializable write-skew
