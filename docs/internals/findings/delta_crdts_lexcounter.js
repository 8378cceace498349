// delta-crdts 0.10.3, lexcounter: the second update of a replica throws.
const CRDT = require("delta-crdts");
const a = CRDT("lexcounter")("a");
a.inc();
a.inc(); // TypeError: join is not a function; expected 2
console.log(a.value());
