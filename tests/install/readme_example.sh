# The README's first example, for the tests of the ways of installing: sourced by bash, in the folder of
# the source.

# The history, by the name that it has there, and the level that it is checked at.
readme_history=tests/golden/strong-session-snapshot-isolation/violated/polysi-galera.txt
readme_level=snapshot-isolation

# readme_compare FILE: a program printed what the README prints, but for the seconds.
readme_compare() {
  local without_seconds='s/[0-9]+\.[0-9]+ s/# s/'
  diff <(sed -n '/^\$ cupel check/,/^```/p' README.md | sed '1d;$d' | sed -E "$without_seconds") \
    <(sed -E "$without_seconds" "$1")
}

# readme_words_compare FILE: a library's "NAME: EXPLANATION" has the words of the README.
readme_words_compare() {
  diff <(sed -n '/^\$ cupel check/,/^```/p' README.md | sed -n '/^  lost-update (G-single): /,/a contradiction!$/p' |
           sed 's/ (G-single)//; s/^ *//' | tr -s ' ') <(sed 's/^ *//' "$1" | tr -s ' ')
}
