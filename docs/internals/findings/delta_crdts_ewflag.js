// delta-crdts 0.10.3, ewflag: a disable has no effect at another replica.
const CRDT = require("delta-crdts");
const a = CRDT("ewflag")("a"), b = CRDT("ewflag")("b");
b.apply(a.enable());
b.apply(a.disable());
console.log(a.value(), b.value()); // false true; expected false false
