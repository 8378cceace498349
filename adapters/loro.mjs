// Adapter: Loro (Fugue). Lists, movable lists, texts, maps, trees and counters. An update waits
// until those that it depends on have come.
import {
  LoroCounter,
  LoroDoc,
  LoroList,
  LoroMap,
  LoroText,
  VersionVector,
  decodeImportBlobMeta,
} from "loro-crdt";
import { hasContainers } from "./script.mjs";

export const library = "loro 1.17.1";
export const several = true;
export const survives = [
  "reordering", "duplicates", "loss", "restart", "join", "crash", "clocks", "files", "exchange", "compaction",
];

const sequence = (container, type = "list") => ({
  type,
  insert: (doc, key, index, elements) => container(doc.loro, key).insert(index, elements),
  remove: (doc, key, index, length = 1) => container(doc.loro, key).delete(index, length),
  read: (doc, key) => container(doc.loro, key).toJSON(),
});

// A document: containers in a map, each named by its id.
const kMakers = {
  map: () => new LoroMap(),
  list: () => new LoroList(),
  text: () => new LoroText(),
  counter: () => new LoroCounter(),
};
const at = ({ loro }, key, path) => path.reduce((map, step) => map.get(step), loro.getMap(key));
function shown(value) {
  switch (value?.kind?.()) {
    case "Map":
      return { map: value.id, value: entries(value) };
    case "List":
      return { list: value.id, value: value.toArray().map(shown) };
    case "Text":
      return { text: value.id, value: value.toString() };
    case "Counter":
      return { counter: value.id, value: value.value };
    default:
      return value;
  }
}
function entries(map) {
  return Object.fromEntries(map.entries().map(([key, value]) => [key, shown(value)]));
}

const kStyles = { bold: { expand: "after" }, color: { expand: "none" } };
const runs = (delta) => delta.map(({ insert, attributes }) => [insert, attributes ?? {}]);

export const objects = {
  list: sequence((loro, key) => loro.getList(key)),
  text: sequence((loro, key) => loro.getText(key), "text"),
  // Marks of the names in kStyles, of which one grows at its end.
  "marked-text": {
    ...sequence((loro, key) => loro.getText(key), "marked-text"),
    mark: ({ loro }, key, start, length, name, value) => {
      const range = { start, end: start + length };
      if (value === null) loro.getText(key).unmark(range, name);
      else loro.getText(key).mark(range, name, value);
    },
    read: ({ loro }, key) => runs(loro.getText(key).toDelta()),
  },
  // move() takes the index that the element has afterwards.
  "movable-list": {
    ...sequence((loro, key) => loro.getMovableList(key), "movable-list"),
    move: (doc, key, from, to) => doc.loro.getMovableList(key).move(from, to),
  },
  map: {
    type: "last-writer-wins-map",
    write: ({ loro }, key, value) => loro.getMap("map").set(key, value),
    read: ({ loro }, key) => loro.getMap("map").get(key),
  },
  document: {
    type: "map",
    kinds: Object.keys(kMakers),
    elementKinds: Object.keys(kMakers),
    put: (doc, key, path, value) => {
      const map = at(doc, key, path.slice(0, -1));
      if (kMakers[value.kind]) map.setContainer(path.at(-1), kMakers[value.kind]());
      else map.set(path.at(-1), value);
    },
    removeKey: (doc, key, path) => at(doc, key, path.slice(0, -1)).delete(path.at(-1)),
    add: (doc, key, path, amount) => at(doc, key, path).increment(amount),
    insert: (doc, key, path, index, inserted) => {
      const make = kMakers[inserted.kind];
      if (make) at(doc, key, path).insertContainer(index, make());
      else at(doc, key, path).insert(index, inserted);
    },
    remove: (doc, key, path, index, length) => at(doc, key, path).delete(index, length),
    read: ({ loro }, key) => entries(loro.getMap(key)),
  },
  // A node is named by its id, which Loro makes.
  tree: {
    type: "tree",
    create: ({ loro }, key, parent) => loro.getTree(key).createNode(parent ?? undefined).id,
    move: ({ loro }, key, node, parent) => loro.getTree(key).move(node, parent ?? undefined),
    remove: ({ loro }, key, node) => loro.getTree(key).delete(node),
    read: ({ loro }, key) => {
      const nodes = loro.getTree(key).getNodes({ withDeleted: false });
      return nodes.map((node) => [node.id, node.parent()?.id ?? null]);
    },
  },
  counter: {
    type: "counter",
    inc: ({ loro }, key, amount) => loro.getCounter(key).increment(amount),
    dec: ({ loro }, key, amount) => loro.getCounter(key).decrement(amount),
    read: ({ loro }, key) => loro.getCounter(key).value,
  },
};

export function open({ replica, time, saved }) {
  const loro = new LoroDoc();
  loro.setPeerId(BigInt(1 + replica + 1000 * time));
  loro.configTextStyle(kStyles);
  if (saved) loro.import(saved);
  return { loro, version: loro.version() };
}

export function sent(doc) {
  const { loro } = doc;
  loro.commit();
  const own = loro.peerIdStr;
  const before = doc.version.get(own) ?? 0;
  const after = loro.version().get(own) ?? 0;
  doc.version = loro.version();
  if (after === before) return [];
  const spans = [{ id: { peer: own, counter: before }, len: after - before }];
  return [loro.export({ mode: "updates-in-range", spans })];
}

export const receive = ({ loro }, bytes) => void loro.import(bytes);
export const save = ({ loro }) => loro.export({ mode: "snapshot" });
export const merge = ({ loro }, saved) => void loro.import(saved);
export const compact = ({ loro }) => loro.export({ mode: "shallow-snapshot", frontiers: loro.frontiers() });
// A version vector, and the updates from there on.
const [kVersion, kUpdates] = [0, 1];
// Not by the arguments of a call, of which there may be about 100,000.
function framed(what, bytes) {
  const message = new Uint8Array(1 + bytes.length);
  message[0] = what;
  message.set(bytes, 1);
  return message;
}
export const exchange = {
  connect: () => ({ hasBegun: false, answers: [] }),
  say({ loro }, link) {
    const said = link.answers.splice(0);
    if (!link.hasBegun) said.push(framed(kVersion, loro.version().encode()));
    link.hasBegun = true;
    return said;
  },
  hear({ loro }, link, message) {
    const bytes = message.slice(1);
    if (message[0] === kUpdates) return void loro.import(bytes);
    const from = VersionVector.decode(bytes);
    link.answers.push(framed(kUpdates, loro.export({ mode: "update", from })));
  },
};

export function sync({ loro: a }, { loro: b }) {
  const toA = b.export({ mode: "update", from: a.version() });
  const toB = a.export({ mode: "update", from: b.version() });
  a.import(toA);
  b.import(toB);
}

export const inspect = (bytes) => [
  ...decodeImportBlobMeta(bytes, false).partialEndVersionVector.toJSON(),
];
export const isApplied = ({ loro }, ends) => {
  const version = loro.version();
  return ends.every(([peer, end]) => (version.get(peer) ?? 0) >= end);
};

// How a script of --reproduce calls the library (docs/reference/crdt-adapters.md#scripts).
export function script({ objectOf }) {
  const kinds = Object.values(objectOf);
  const of = (key) => objectOf[JSON.parse(key)];
  const names = {
    list: "List",
    text: "Text",
    "marked-text": "Text",
    "movable-list": "MovableList",
    tree: "Tree",
    counter: "Counter",
    document: "Map",
  };
  const part = (d, key) => (of(key) === "map" ? `${d}.getMap("map")` : `${d}.get${names[of(key)]}(${key})`);
  const reads = {
    map: (it, key) => `${it}.get(${key})`,
    tree: (it) => `${it}.getNodes({ withDeleted: false }).map((node) => [node.id, node.parent()?.id ?? null])`,
    counter: (it) => `${it}.value`,
    "marked-text": (it) => `${it}.toDelta().map(({ insert, attributes }) => [insert, attributes ?? {}])`,
    document: (it, key, value) =>
      hasContainers(value) ? `entries(${it})` : `Object.fromEntries(${it}.entries())`,
  };
  // Of documents: the container at a path, and what is put into it.
  const at = (d, key, path) => [part(d, key), ...path.map((step) => `get(${JSON.stringify(step)})`)].join(".");
  const makers = { map: "new LoroMap()", list: "new LoroList()", text: "new LoroText()", counter: "new LoroCounter()" };
  const put = (call, end, text) => {
    const maker = makers[JSON.parse(text).kind];
    return maker ? `${call}Container(${end}, ${maker})` : `${call}(${end}, ${text})`;
  };
  const place = (d, key, path, call) => {
    const steps = JSON.parse(path);
    return `${at(d, key, steps.slice(0, -1))}.${call(JSON.stringify(steps.at(-1)))}`;
  };
  const within = {
    insert: (d, key, path, index, inserted) => `${at(d, key, JSON.parse(path))}.${put("insert", index, inserted)}`,
    remove: (d, key, path, index, length) => `${at(d, key, JSON.parse(path))}.delete(${index}, ${length})`,
  };
  const orWithin = (name, call) => (d, key, ...values) =>
    (of(key) === "document" ? within[name] : call)(d, key, ...values);
  const mark = (d, key, start, length, name, value) => {
    const range = `{ start: ${start}, end: ${Number(start) + Number(length)} }`;
    return `${part(d, key)}.${value === "null" ? `unmark(${range}, ${name})` : `mark(${range}, ${name}, ${value})`}`;
  };
  const imported = kinds.includes("document") ? "LoroCounter, LoroDoc, LoroList, LoroMap, LoroText" : "LoroDoc";
  const above = (parent) => (parent === "null" ? "undefined" : parent);
  return {
    head: [`import { ${imported} } from "loro-crdt";`],
    helpers: {
      open: [
        "function open(peer, saved) {",
        "  const doc = new LoroDoc();",
        "  doc.setPeerId(peer);",
        ...(kinds.includes("marked-text") ? [`  doc.configTextStyle(${JSON.stringify(kStyles)});`] : []),
        "  if (saved) doc.import(saved);",
        "  return doc;",
        "}",
      ],
      update: [
        "function update(doc, edit) {",
        "  const before = doc.version();",
        "  edit();",
        "  doc.commit();",
        '  return doc.export({ mode: "update", from: before });',
        "}",
      ],
      entries: [entries, shown].flatMap((one) => String(one).split("\n")),
    },
    open: ({ replica, time, saved }) => `open(${1 + replica + 1000 * time}n${saved ? `, ${saved}` : ""})`,
    send: (d, text, m) => `${m ? `const ${m} = ` : ""}update(${d}, () => ${text})`,
    receive: (d, m) => `${d}.import(${m})`,
    save: (d) => `${d}.export({ mode: "snapshot" })`,
    compact: (d) => `${d}.export({ mode: "shallow-snapshot", frontiers: ${d}.frontiers() })`,
    merge: (d, saved) => `${d}.import(${saved})`,
    sync: (a, b) => [
      `${a}.import(${b}.export({ mode: "update", from: ${a}.version() }))`,
      `${b}.import(${a}.export({ mode: "update", from: ${b}.version() }))`,
    ],
    exchange: {
      say: (d, _link, said, heard) =>
        said.map(({ name, bytes: [what] }) =>
          what === kVersion
            ? `const ${name} = ${d}.version()`
            : `const ${name} = ${d}.export({ mode: "update", from: ${heard.name} })`,
        ),
      hear: (d, _link, { name, bytes: [what] }) => (what === kUpdates ? `${d}.import(${name})` : []),
    },
    calls: {
      insert: orWithin("insert", (d, key, index, inserted) => `${part(d, key)}.insert(${index}, ${inserted})`),
      remove: orWithin("remove", (d, key, index, length = 1) =>
        of(key) === "tree" ? `${part(d, key)}.delete(${index})` : `${part(d, key)}.delete(${index}, ${length})`,
      ),
      put: (d, key, path, value) => place(d, key, path, (name) => put("set", name, value)),
      removeKey: (d, key, path) => place(d, key, path, (name) => `delete(${name})`),
      add: (d, key, path, amount) => `${at(d, key, JSON.parse(path))}.increment(${amount})`,
      mark,
      write: (d, key, value) => `${part(d, key)}.set(${key}, ${value})`,
      create: (d, key, parent) => `${part(d, key)}.createNode(${above(parent)})`,
      move: (d, key, node, to) => `${part(d, key)}.move(${node}, ${above(to)})`, // or from one index to another
      inc: (d, key, amount) => `${part(d, key)}.increment(${amount})`,
      dec: (d, key, amount) => `${part(d, key)}.decrement(${amount})`,
      read: (d, key, value) => (reads[of(key)] ?? ((it) => `${it}.toJSON()`))(part(d, key), key, value),
    },
  };
}
