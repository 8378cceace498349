// Template: an adapter of a set that only grows. Copy it, import your library, and run
//
//   cupel crdt run --adapter ./my-library.mjs --type grow-only-set
//
// docs/reference/crdt-adapters.md says what each function is given and returns.

export const library = "template 1.0";

// cupel leaves out what the library does not promise to survive: reordering, duplicates, loss, restart, join.
export const survives = ["reordering", "duplicates", "restart", "join", "crash", "clocks"];

// The objects that it offers. Their functions depend on the type.
export const objects = {
  set: {
    type: "grow-only-set",
    add(doc, key, value) {
      doc.sets[key].add(value);
      doc.messages.push(encode([key, value]));
    },
    read: (doc, key) => doc.sets[key],
  },
};

// A replica's document. `keys` are its objects; `saved` is what save() returned, or nothing.
export function open({ keys, saved }) {
  const stored = saved ? decode(saved) : {};
  const sets = keys.map((key) => [key, new Set(stored[key])]);
  return { sets: Object.fromEntries(sets), messages: [] };
}
export const save = ({ sets }) =>
  encode(Object.fromEntries(Object.entries(sets).map(([key, set]) => [key, [...set]])));

// The messages since the last call, as bytes; and one that has come.
export const sent = (doc) => doc.messages.splice(0);
export const receive = (doc, bytes) => doc.sets[decode(bytes)[0]].add(decode(bytes)[1]);

const encode = (json) => Buffer.from(JSON.stringify(json));
const decode = (bytes) => JSON.parse(Buffer.from(bytes).toString());
