// automerge 2.1.7 (issue 870): two documents with the same changes show different values of a key.
import { next as A } from "@automerge/automerge";
let [a, b, c] = ["01", "02", "03"].map((actor) => A.init({ actor }));
c = A.change(c, (doc) => void (doc.x = 110));
b = A.change(b, (doc) => void (doc.x = 112));
b = A.change(b, (doc) => void (doc.x = 113));
a = A.merge(A.merge(a, b), c);
c = A.merge(c, b);
console.log(a.x, c.x, A.load(A.save(c)).x); // 113 110 113; expected 113 113 113
