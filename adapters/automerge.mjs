// Adapter: Automerge 3. Lists, texts, maps, conflicts as multi-value registers, and counters. A
// change is applied after those that it depends on; until then it waits.
import * as A from "@automerge/automerge";
import { hasContainers } from "./script.mjs";

export const library = "automerge 3.5.0";
export const several = true;
export const survives = [
  "reordering", "duplicates", "loss", "restart", "join", "crash", "clocks", "files", "exchange", "compaction",
];

// What a document begins with, the same change in every replica.
const kBeginnings = { list: () => [], text: () => "", "marked-text": () => "", counter: () => new A.Counter(0), document: () => ({}) };

const change = (doc, edit) => {
  if (doc.root) return void edit(doc.root);
  const before = doc.am;
  doc.am = A.change(before, { time: 0 }, (root) => void edit(root));
  for (const made of A.getChanges(before, doc.am)) doc.changes.push(made);
};
// Many edits in one change.
export const together = (doc, edits) =>
  change(doc, (root) => {
    doc.root = root;
    try {
      edits();
    } finally {
      doc.root = undefined;
    }
  });
const write = (doc, key, value) => change(doc, (root) => (root[key] = value));

// A document: maps, lists and texts, each named by its object id.
const kMakers = { map: () => ({}), list: () => [], text: () => "" };
const at = (root, path) => path.reduce((map, step) => map[step], root);
function shown(map, key) {
  const value = map[key];
  if (typeof value === "number") return value;
  const kind = typeof value === "string" ? "text" : Array.isArray(value) ? "list" : "map";
  const id = kind === "text" ? A.getObjectId(map, key) : A.getObjectId(value);
  return { [kind]: id, value: kind === "map" ? entries(value) : kind === "list" ? elements(value) : value };
}
// Strings in lists are scalars here, so a list has no texts.
function elements(list) {
  return [...list].map((value, at) => (typeof value === "object" ? shown(list, at) : value));
}
function entries(map) {
  return Object.fromEntries(Object.keys(map).map((key) => [key, shown(map, key)]));
}

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
    read: ({ am, root }, key) => (root ?? am)[key],
  },
  // Marks of one name grow at their end.
  "marked-text": {
    type: "marked-text",
    insert: (doc, key, index, range) =>
      change(doc, (root) => A.splice(root, [key], index, 0, range)),
    remove: (doc, key, index, length) =>
      change(doc, (root) => A.splice(root, [key], index, length)),
    mark: (doc, key, start, length, name, value) =>
      change(doc, (root) => {
        const range = { start, end: start + length, expand: name === "bold" ? "after" : "none" };
        if (value === null) A.unmark(root, [key], range, name);
        else A.mark(root, [key], range, name, value);
      }),
    read: ({ am, root }, key) => A.spans(root ?? am, [key]).map(({ value, marks }) => [value, { ...marks }]),
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
  document: {
    type: "remove-wins-map",
    kinds: Object.keys(kMakers),
    elementKinds: ["map", "list"],
    put: (doc, key, path, value) =>
      change(doc, (root) => {
        at(root[key], path.slice(0, -1))[path.at(-1)] = kMakers[value.kind]?.() ?? value;
      }),
    removeKey: (doc, key, path) =>
      change(doc, (root) => {
        delete at(root[key], path.slice(0, -1))[path.at(-1)];
      }),
    insert: (doc, key, path, index, inserted) =>
      change(doc, (root) => {
        if (typeof at(root[key], path) === "string") A.splice(root, [key, ...path], index, 0, inserted);
        else at(root[key], path).insertAt(index, kMakers[inserted.kind]?.() ?? inserted);
      }),
    remove: (doc, key, path, index, length) =>
      change(doc, (root) => {
        if (typeof at(root[key], path) === "string") A.splice(root, [key, ...path], index, length);
        else at(root[key], path).deleteAt(index);
      }),
    read: ({ am }, key) => entries(am[key]),
  },
};

const hex = (number) => number.toString(16).padStart(8, "0");

export function open({ replica, time, keys, objectOf, saved }) {
  const actor = hex(1 + replica) + hex(time);
  if (saved) return { am: A.load(saved, { actor }), changes: [] };
  let am = A.init({ actor: "00" });
  const begun = keys.filter((key) => kBeginnings[objectOf[key]]);
  if (begun.length > 0) {
    am = A.change(am, { time: 0 }, (root) => {
      for (const key of begun) root[key] = kBeginnings[objectOf[key]]();
    });
  }
  return { am: A.clone(am, { actor }), changes: [] };
}

export const sent = (doc) => doc.changes.splice(0);
export function receive(doc, bytes) {
  [doc.am] = A.applyChanges(doc.am, [bytes]);
}
export const save = ({ am }) => A.save(am);
export const compact = save; // it keeps the history, in its compact form
export function merge(doc, saved) {
  doc.am = A.merge(doc.am, A.load(saved));
}
// Automerge's own protocol, a message at a time.
export const exchange = {
  connect: () => ({ state: A.initSyncState() }),
  say({ am }, link) {
    let message;
    [link.state, message] = A.generateSyncMessage(am, link.state);
    return message ? [message] : [];
  },
  hear(doc, link, message) {
    [doc.am, link.state] = A.receiveSyncMessage(doc.am, link.state, message);
  },
};

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
  return [a, b];
}

export const inspect = (bytes) => A.decodeChange(bytes).hash;
export const isApplied = ({ am }, hash) => A.hasHeads(am, [hash]);

// How a script of --reproduce calls the library (docs/reference/crdt-adapters.md#scripts).
export function script({ objectOf, keys }) {
  const of = (key) => objectOf[JSON.parse(key)];
  const at = (key) => `root[${key}]`;
  const change = (d, edit) => `${d} = A.change(${d}, (root) => void ${edit})`;
  const begin = { list: "[]", text: '""', "marked-text": '""', counter: "new A.Counter(0)", document: "{}" };
  const begun = keys.filter((key) => begin[objectOf[key]]);
  const begins = begun.map((key) => `${at(JSON.stringify(key))} = ${begin[objectOf[key]]};`);
  const isText = (key) => of(key) === "text" || of(key) === "marked-text";
  // Of documents: what is at a path, and what is put there.
  const placeOf = (key, path) => [at(key), ...JSON.parse(path).map((step) => `[${JSON.stringify(step)}]`)].join("");
  const makers = { map: "{}", list: "[]", text: '""' };
  const made = (text) => makers[JSON.parse(text).kind] ?? text;
  const splice = (key, path, kind, ...rest) =>
    kind === '"text"' && `A.splice(root, [${[key, ...JSON.parse(path).map((step) => JSON.stringify(step))].join(", ")}], ${rest.join(", ")})`;
  const within = {
    insert: (d, key, path, index, inserted, kind) =>
      change(d, splice(key, path, kind, index, 0, inserted) || `${placeOf(key, path)}.insertAt(${index}, ${made(inserted)})`),
    remove: (d, key, path, index, length, kind) =>
      change(d, splice(key, path, kind, index, length) || `${placeOf(key, path)}.deleteAt(${index})`),
  };
  const orWithin = (name, call) => (d, key, ...values) =>
    (of(key) === "document" ? within[name] : call)(d, key, ...values);
  const reads = {
    conflicts: (d, key) => `Object.values(A.getConflicts(${d}, ${key}) ?? (${key} in ${d} ? [${d}[${key}]] : []))`,
    counter: (d, key) => `${d}[${key}].value`,
    "marked-text": (d, key) => `A.spans(${d}, [${key}]).map(({ value, marks }) => [value, { ...marks }])`,
    document: (d, key, value) => (hasContainers(value) ? `entries(${d}[${key}])` : `${d}[${key}]`),
  };
  return {
    head: [
      'import * as A from "@automerge/automerge";',
      `const base = A.change(A.init({ actor: "00" }), { time: 0 }, (root) => { ${begins.join(" ")} });`,
    ],
    helpers: {
      sync: ["// Until neither has anything to say.", ...sync.toString().replaceAll(".am", "").split("\n")],
      entries: [entries, elements, shown].flatMap((one) => String(one).split("\n")),
    },
    open: ({ replica, time, saved }) => {
      const actor = `{ actor: "${hex(1 + replica) + hex(time)}" }`;
      return saved ? `A.load(${saved}, ${actor})` : `A.clone(base, ${actor})`;
    },
    send: (d, text, m) => [text, ...(m ? [`const ${m} = A.getLastLocalChange(${d})`] : [])],
    receive: (d, m) => `[${d}] = A.applyChanges(${d}, [${m}])`,
    save: (d) => `A.save(${d})`,
    compact: (d) => `A.save(${d})`,
    merge: (d, saved) => `${d} = A.merge(${d}, A.load(${saved}))`,
    sync: (a, b) => `[${a}, ${b}] = sync(${a}, ${b})`,
    exchange: {
      connect: () => "A.initSyncState()",
      say: (d, link, [message]) => [
        ...(message ? [`let ${message.name}`] : []),
        `[${link}${message ? `, ${message.name}` : ""}] = A.generateSyncMessage(${d}, ${link})`,
      ],
      hear: (d, link, { name }) => `[${d}, ${link}] = A.receiveSyncMessage(${d}, ${link}, ${name})`,
    },
    calls: {
      insert: orWithin("insert", (d, key, index, inserted) =>
        change(d, isText(key) ? `A.splice(root, [${key}], ${index}, 0, ${inserted})` : `${at(key)}.insertAt(${index}, ${inserted})`),
      ),
      remove: orWithin("remove", (d, key, index, length) =>
        change(d, isText(key) ? `A.splice(root, [${key}], ${index}, ${length})` : `${at(key)}.deleteAt(${index})`),
      ),
      put: (d, key, path, value) => change(d, `(${placeOf(key, path)} = ${made(value)})`),
      removeKey: (d, key, path) => change(d, `delete ${placeOf(key, path)}`),
      mark: (d, key, start, length, name, value) => {
        const range = `{ start: ${start}, end: ${Number(start) + Number(length)}, expand: "${JSON.parse(name) === "bold" ? "after" : "none"}" }`;
        const [call, ...rest] = value === "null" ? ["unmark", name] : ["mark", name, value];
        return change(d, `A.${call}(root, [${key}], ${range}, ${rest.join(", ")})`);
      },
      write: (d, key, value) => change(d, `(${at(key)} = ${value})`),
      inc: (d, key, amount) => change(d, `${at(key)}.increment(${amount})`),
      dec: (d, key, amount) => change(d, `${at(key)}.decrement(${amount})`),
      read: (d, key, value) => (reads[of(key)] ?? (() => `${d}[${key}]`))(d, key, value),
    },
  };
}
