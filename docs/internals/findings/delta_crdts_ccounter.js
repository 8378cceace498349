// delta-crdts 0.10.3, ccounter: a replica whose own part is below zero forgets it.
const CRDT = require("delta-crdts");
const a = CRDT("ccounter")("a");
a.dec();
a.inc();
console.log(a.value()); // 1; expected 0
