// delta-crdts 0.10.3, dwflag: an enable has no effect at another replica.
const CRDT = require("delta-crdts");
const a = CRDT("dwflag")("a"), b = CRDT("dwflag")("b");
b.apply(a.disable());
b.apply(a.enable());
console.log(a.value(), b.value()); // true false; expected true true
