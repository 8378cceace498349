(ns jepsen.checker
  "The protocol of Jepsen alone: examples/jepsen must find and implement it.")

(defprotocol Checker
  (check [checker test history opts]))
