// Adapter: Yjs, a list by YATA (Nicolaescu, Jahns, Derntl, Klamma: Near Real-Time Peer-to-Peer Shared
// Editing on Extensible Data Types, GROUP 2016). Shared arrays, texts and maps; updates in any order, twice, or by a sync of
// state vectors. Yjs promises convergence, not causal order: what waits is known from the
// clocks of the update's structs and deletions (its state vector leaves deletions out).
import * as Y from "yjs";
import { hasContainers } from "./script.mjs";

export const library = "yjs 13.6.33";
export const several = true;
export const survives = [
  "reordering", "duplicates", "loss", "restart", "join", "crash", "clocks", "files", "exchange", "compaction",
];

// A document: maps, arrays and texts in a map. A container is named by the id of its item.
const kMakers = { map: () => new Y.Map(), list: () => new Y.Array(), text: () => new Y.Text() };
const at = ({ y }, key, path) => path.reduce((type, step) => type.get(step), y.getMap(key));
function idOf({ _item: { id } }) {
  return `${id.client}.${id.clock}`;
}
function shown(value) {
  if (value instanceof Y.Map) return { map: idOf(value), value: entries(value) };
  if (value instanceof Y.Array) return { list: idOf(value), value: value.toArray().map(shown) };
  if (value instanceof Y.Text) return { text: idOf(value), value: value.toString() };
  return value;
}
function entries(map) {
  return Object.fromEntries([...map.entries()].map(([key, value]) => [key, shown(value)]));
}

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
    survives: ["duplicates", "restart", "join", "crash", "clocks", "files", "exchange", "compaction"],
    insert: ({ y }, key, index, range) => y.getText(key).insert(index, range),
    remove: ({ y }, key, index, length) => y.getText(key).delete(index, length),
    read: ({ y }, key) => y.getText(key).toString(),
  },
  map: {
    type: "last-writer-wins-map",
    // Of an update that waits for an earlier one, Yjs deletes at once what it overwrites.
    survives: ["duplicates", "restart", "join", "crash", "clocks", "files", "exchange", "compaction"],
    write: ({ y }, key, value) => y.getMap("map").set(key, value),
    read: ({ y }, key) => y.getMap("map").get(key),
  },
  document: {
    type: "map",
    survives: ["duplicates", "restart", "join", "crash", "clocks"], // as for maps and texts
    kinds: Object.keys(kMakers),
    elementKinds: Object.keys(kMakers),
    put: (doc, key, path, value) =>
      at(doc, key, path.slice(0, -1)).set(path.at(-1), kMakers[value.kind]?.() ?? value),
    removeKey: (doc, key, path) => at(doc, key, path.slice(0, -1)).delete(path.at(-1)),
    insert: (doc, key, path, index, inserted) => {
      const type = at(doc, key, path);
      type.insert(index, type instanceof Y.Text ? inserted : [kMakers[inserted.kind]?.() ?? inserted]);
    },
    remove: (doc, key, path, index, length) => at(doc, key, path).delete(index, length),
    read: ({ y }, key) => entries(y.getMap(key)),
  },
};

export function open({ replica, time, saved }) {
  const y = new Y.Doc({ gc: replica % 2 === 0 }); // both kinds work together
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
export const merge = ({ y }, saved) => Y.applyUpdate(y, saved);
// Its garbage collection leaves of deleted content only how much it was.
export function compact({ y }) {
  const collected = new Y.Doc();
  Y.applyUpdate(collected, Y.encodeStateAsUpdate(y));
  return Y.encodeStateAsUpdate(collected);
}
// The sync protocol of y-protocols: a state vector, and the answer to it, with the deletions.
const [kStep1, kStep2] = [0, 1];
// Not by the arguments of a call, of which there may be about 100,000.
function framed(step, bytes) {
  const message = new Uint8Array(1 + bytes.length);
  message[0] = step;
  message.set(bytes, 1);
  return message;
}
export const exchange = {
  connect: () => ({ hasBegun: false, answers: [] }),
  say({ y }, link) {
    const steps = link.answers.splice(0);
    if (!link.hasBegun) steps.push(framed(kStep1, Y.encodeStateVector(y)));
    link.hasBegun = true;
    return steps;
  },
  hear({ y }, link, message) {
    const bytes = message.subarray(1);
    if (message[0] === kStep2) Y.applyUpdate(y, bytes);
    else link.answers.push(framed(kStep2, Y.encodeStateAsUpdate(y, bytes)));
  },
  carriesState: ([step]) => step === kStep2,
};

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
    for (const { clock, len } of ranges) ends.push([client, clock + len]);
  return ends;
}
export const isApplied = ({ y }, ends) =>
  ends.every(([client, end]) => Y.getState(y.store, client) >= end);

// How a script of --reproduce calls the library (docs/reference/crdt-adapters.md#scripts).
export function script({ objectOf }) {
  const of = (key) => objectOf[JSON.parse(key)];
  const part = (d, key) =>
    of(key) === "map" ? `${d}.getMap("map")` : `${d}.get${of(key) === "array" ? "Array" : "Text"}(${key})`;
  const reads = { array: "toArray()", text: "toString()" };
  // Of documents: the container at a path, and what is put into it.
  const at = (d, key, path) => [`${d}.getMap(${key})`, ...path.map((step) => `get(${JSON.stringify(step)})`)].join(".");
  const makers = { map: "new Y.Map()", list: "new Y.Array()", text: "new Y.Text()" };
  const made = (text) => makers[JSON.parse(text).kind] ?? text;
  const place = (d, key, path, call) => {
    const steps = JSON.parse(path);
    return `${at(d, key, steps.slice(0, -1))}.${call(JSON.stringify(steps.at(-1)))}`;
  };
  const within = {
    insert: (d, key, path, index, inserted, kind) =>
      `${at(d, key, JSON.parse(path))}.insert(${index}, ${kind === '"text"' ? inserted : `[${made(inserted)}]`})`,
    remove: (d, key, path, index, length) => `${at(d, key, JSON.parse(path))}.delete(${index}, ${length})`,
    read: (d, key, value) => (hasContainers(value) ? `entries(${d}.getMap(${key}))` : `${d}.getMap(${key}).toJSON()`),
  };
  const orWithin = (name, call) => (d, key, ...values) =>
    (of(key) === "document" ? within[name] : call)(d, key, ...values);
  return {
    head: ['import * as Y from "yjs";'],
    helpers: {
      update: [
        "function update(doc, edit) {",
        "  const updates = [];",
        '  doc.once("update", (update) => updates.push(update));',
        "  edit();",
        "  return updates[0];",
        "}",
      ],
      entries: [entries, shown, idOf].flatMap((one) => String(one).split("\n")),
    },
    open: ({ replica, time }) =>
      `Object.assign(new Y.Doc({ gc: ${replica % 2 === 0} }), { clientID: ${1 + replica + 1000 * time} })`,
    load: (d, saved) => `Y.applyUpdate(${d}, ${saved})`,
    send: (d, text, m) => (m ? `const ${m} = update(${d}, () => ${text})` : text),
    receive: (d, m) => `Y.applyUpdate(${d}, ${m})`,
    save: (d) => `Y.encodeStateAsUpdate(${d})`,
    merge: (d, saved) => `Y.applyUpdate(${d}, ${saved})`,
    compact: (d) => `Y.encodeStateAsUpdate(${d})`,
    sync: (a, b) => [
      `Y.applyUpdate(${a}, Y.encodeStateAsUpdate(${b}, Y.encodeStateVector(${a})))`,
      `Y.applyUpdate(${b}, Y.encodeStateAsUpdate(${a}, Y.encodeStateVector(${b})))`,
    ],
    exchange: {
      say: (d, _link, said, heard) =>
        said.map(({ name, bytes: [step] }) =>
          step === kStep1
            ? `const ${name} = Y.encodeStateVector(${d})`
            : `const ${name} = Y.encodeStateAsUpdate(${d}, ${heard.name})`,
        ),
      hear: (d, _link, { name, bytes: [step] }) => (step === kStep2 ? `Y.applyUpdate(${d}, ${name})` : []),
    },
    calls: {
      insert: orWithin(
        "insert",
        (d, key, index, inserted) =>
          `${part(d, key)}.insert(${index}, ${of(key) === "array" ? `[${inserted}]` : inserted})`,
      ),
      remove: orWithin("remove", (d, key, index, length = 1) => `${part(d, key)}.delete(${index}, ${length})`),
      put: (d, key, path, value) => place(d, key, path, (name) => `set(${name}, ${made(value)})`),
      removeKey: (d, key, path) => place(d, key, path, (name) => `delete(${name})`),
      write: (d, key, value) => `${part(d, key)}.set(${key}, ${value})`,
      read: orWithin("read", (d, key) => `${part(d, key)}.${reads[of(key)] ?? `get(${key})`}`),
    },
  };
}
