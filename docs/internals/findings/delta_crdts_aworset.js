// delta-crdts 0.10.3, aworset: a remove has no effect at another replica.
const CRDT = require("delta-crdts");
const a = CRDT("aworset")("a"), b = CRDT("aworset")("b");
b.apply(a.add("x"));
b.apply(a.remove("x"));
console.log([...a.value()], [...b.value()]); // [] [ 'x' ]; expected [] []
