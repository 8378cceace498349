// Adapter: Yjs, a list by YATA (Nicolaescu, Jahns, Derntl, Klamma: Near Real-Time Peer-to-Peer Shared
// Editing on Extensible Data Types, GROUP 2016). Shared arrays, texts and maps; updates in any order, twice, or by a sync of
// state vectors. Yjs promises convergence, not causal order: what waits is known from the
// clocks of the update's structs and deletions (its state vector leaves deletions out).
import * as Y from "yjs";

export const library = "yjs 13.6.33";
export const survives = ["reordering", "duplicates", "loss", "restart", "join", "crash", "clocks"];

export const objects = {
  array: {
    type: "list",
    insert: ({ y }, key, index, element) => y.getArray(key).insert(index, [element]),
    remove: ({ y }, key, index) => y.getArray(key).delete(index),
    read: ({ y }, key) => y.getArray(key).toArray(),
  },
  text: {
    type: "text",
    // Of a range that another replica deleted, Yjs deletes at once what has come, and the rest later.
    survives: ["duplicates", "restart", "join", "crash", "clocks"],
    insert: ({ y }, key, index, range) => y.getText(key).insert(index, range),
    remove: ({ y }, key, index, length) => y.getText(key).delete(index, length),
    read: ({ y }, key) => y.getText(key).toString(),
  },
  map: {
    type: "last-writer-wins-map",
    // Of an update that waits for an earlier one, Yjs deletes at once what it overwrites.
    survives: ["duplicates", "restart", "join", "crash", "clocks"],
    write: ({ y }, key, value) => y.getMap("map").set(key, value),
    read: ({ y }, key) => y.getMap("map").get(key),
  },
};

export function open({ replica, time, saved }) {
  const y = new Y.Doc();
  y.clientID = 1 + replica + 1000 * time; // a new one after each restart, as Yjs does
  const doc = { y, updates: [] };
  if (saved) Y.applyUpdate(y, saved);
  y.on("update", (update, _origin, _doc, transaction) => {
    if (transaction.local) doc.updates.push(update);
  });
  return doc;
}

export const together = ({ y }, edits) => y.transact(edits);
export const sent = (doc) => doc.updates.splice(0);
export const receive = ({ y }, update) => Y.applyUpdate(y, update);
export const save = ({ y }) => Y.encodeStateAsUpdate(y);

export function sync({ y: a }, { y: b }) {
  const [ofA, ofB] = [Y.encodeStateVector(a), Y.encodeStateVector(b)];
  const [toA, toB] = [Y.encodeStateAsUpdate(b, ofA), Y.encodeStateAsUpdate(a, ofB)];
  Y.applyUpdate(a, toA);
  Y.applyUpdate(b, toB);
}

// The first clock of each client after what the update adds and deletes.
export function inspect(update) {
  const { structs, ds } = Y.decodeUpdate(update);
  const ends = structs.map(({ id, length }) => [id.client, id.clock + length]);
  for (const [client, ranges] of ds.clients)
    ends.push(...ranges.map(({ clock, len }) => [client, clock + len]));
  return ends;
}
export const isApplied = ({ y }, ends) =>
  ends.every(([client, end]) => Y.getState(y.store, client) >= end);
