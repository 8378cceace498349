// automerge 3.5.0: a document shows a removed value, until it is saved and loaded.
import * as A from "@automerge/automerge";
let a = A.from({ b: 41, c: 42 }, { actor: "01" });
let b = A.clone(a, { actor: "02" });
let c = A.from({ c: 62 }, { actor: "03" });
a = A.change(a, (doc) => void delete doc.c);
b = A.merge(b, A.merge(a, c));
console.log(b.c, A.load(A.save(b)).c); // 42 62; expected 62 62
