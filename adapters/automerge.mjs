// Adapter: Automerge 3. Lists, texts, maps, conflicts as multi-value registers, and counters. A
// change is applied after those that it depends on; until then it waits.
import * as A from "@automerge/automerge";

export const library = "automerge 3.5.0";
export const survives = ["reordering", "duplicates", "loss", "restart", "join", "crash", "clocks"];

// What a document begins with, the same change in every replica.
const kBeginnings = { list: () => [], text: () => "", counter: () => new A.Counter(0) };

const change = (doc, edit) => {
  const before = doc.am;
  doc.am = A.change(before, { time: 0 }, (root) => void edit(root));
  doc.changes.push(...A.getChanges(before, doc.am));
};
const write = (doc, key, value) => change(doc, (root) => (root[key] = value));

export const objects = {
  list: {
    type: "list",
    insert: (doc, key, index, element) => change(doc, (root) => root[key].insertAt(index, element)),
    remove: (doc, key, index) => change(doc, (root) => root[key].deleteAt(index)),
    read: ({ am }, key) => am[key],
  },
  text: {
    type: "text",
    insert: (doc, key, index, range) =>
      change(doc, (root) => A.splice(root, [key], index, 0, range)),
    remove: (doc, key, index, length) =>
      change(doc, (root) => A.splice(root, [key], index, length)),
    read: ({ am }, key) => am[key],
  },
  map: { type: "last-writer-wins-map", write, read: ({ am }, key) => am[key] },
  conflicts: {
    type: "multi-value-register",
    write,
    read: ({ am }, key) =>
      Object.values(A.getConflicts(am, key) ?? (key in am ? { only: am[key] } : {})),
  },
  counter: {
    type: "counter",
    inc: (doc, key, amount) => change(doc, (root) => root[key].increment(amount)),
    dec: (doc, key, amount) => change(doc, (root) => root[key].decrement(amount)),
    read: ({ am }, key) => am[key].value,
  },
};

const hex = (number) => number.toString(16).padStart(8, "0");

export function open({ replica, time, keys, object, saved }) {
  const actor = hex(1 + replica) + hex(time);
  if (saved) return { am: A.load(saved, { actor }), changes: [] };
  let am = A.init({ actor: "00" });
  if (kBeginnings[object]) {
    am = A.change(am, { time: 0 }, (root) => {
      for (const key of keys) root[key] = kBeginnings[object]();
    });
  }
  return { am: A.clone(am, { actor }), changes: [] };
}

export const sent = (doc) => doc.changes.splice(0);
export function receive(doc, bytes) {
  [doc.am] = A.applyChanges(doc.am, [bytes]);
}
export const save = ({ am }) => A.save(am);

// Automerge's own protocol, until neither has anything to say.
export function sync(a, b) {
  let ofA = A.initSyncState();
  let ofB = A.initSyncState();
  for (let message = true; message; ) {
    [ofA, message] = A.generateSyncMessage(a.am, ofA);
    if (message) [b.am, ofB] = A.receiveSyncMessage(b.am, ofB, message);
    let reply;
    [ofB, reply] = A.generateSyncMessage(b.am, ofB);
    if (reply) [a.am, ofA] = A.receiveSyncMessage(a.am, ofA, reply);
    message = message || reply;
  }
}

export const inspect = (bytes) => A.decodeChange(bytes).hash;
export const isApplied = ({ am }, hash) => A.hasHeads(am, [hash]);
