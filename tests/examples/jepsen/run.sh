#!/bin/sh
# The tests of examples/jepsen with Debian's Clojure, without and with the protocol of Jepsen.
#
#   run.sh SOURCE CUPEL
#
# Exits with 77 if there is no Clojure.
set -eu

source=$1 cupel=$2
here=$source/tests/examples/jepsen
clojure=/usr/share/java/clojure.jar:/usr/share/java/spec.alpha.jar:/usr/share/java/core.specs.alpha.jar
if ! command -v java >/dev/null || ! [ -e /usr/share/java/clojure.jar ]; then
  echo "no java or no /usr/share/java/clojure.jar (Debian's clojure)"
  exit 77
fi
java -cp "$clojure:$source/examples/jepsen" clojure.main "$here/checker_test.clj" plain "$cupel"
java -cp "$clojure:$source/examples/jepsen:$here" clojure.main "$here/checker_test.clj" jepsen "$cupel"
