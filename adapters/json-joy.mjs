// Adapter: json-joy. Arrays, strings and objects of a JSON document. A patch must come after those
// that its sender had seen; it may come again.
import { createRequire } from "node:module";
import { hasContainers } from "./script.mjs";
const require = createRequire(import.meta.url);
const { Model } = require("json-joy/lib/json-crdt/index.js");
const { Patch, s } = require("json-joy/lib/json-crdt-patch/index.js");

export const library = "json-joy 17.67.0";
export const several = true;
export const survives = ["duplicates", "restart", "join", "crash", "clocks"];

const kBeginnings = { array: () => s.arr([]), string: () => s.str(""), document: () => s.obj({}) };
const kFirstSession = 0x10000; // those below are reserved

// A document: objects, arrays and strings in an object, each named by the id of its node.
const kMakers = { map: () => s.obj({}), list: () => s.arr([]), text: () => s.str("") };
function idOf({ id }) {
  return `${id.sid}.${id.time}`;
}
function shown(node) {
  switch (node.name()) {
    case "obj":
      return { map: idOf(node), value: entries(node) };
    case "arr":
      return { list: idOf(node), value: elements(node) };
    case "str":
      return { text: idOf(node), value: node.view() };
    default:
      return node.view();
  }
}
function elements(node) {
  const all = [];
  node.children((child) => void all.push(shown(child)));
  return all;
}
// A removed key is one without a value.
function entries(node) {
  const all = {};
  node.nodes((child, key) => {
    if (child.view() !== undefined) all[key] = shown(child);
  });
  return all;
}

export const objects = {
  array: {
    type: "list",
    insert: ({ model }, key, index, element) =>
      model.api.arr([key]).ins(index, [s.con(element)]),
    remove: ({ model }, key, index) => model.api.arr([key]).del(index, 1),
    read: ({ model }, key) => model.api.arr([key]).view(),
  },
  string: {
    type: "text",
    insert: ({ model }, key, index, range) => model.api.str([key]).ins(index, range),
    remove: ({ model }, key, index, length) => model.api.str([key]).del(index, length),
    read: ({ model }, key) => model.api.str([key]).view(),
  },
  object: {
    type: "last-writer-wins-map",
    write: ({ model }, key, value) => model.api.obj([]).set({ [key]: s.con(value) }),
    read: ({ model }, key) => model.api.obj([]).view()[key],
  },
  document: {
    type: "map",
    kinds: Object.keys(kMakers),
    elementKinds: Object.keys(kMakers),
    put: ({ model }, key, path, value) =>
      model.api
        .obj([key, ...path.slice(0, -1)])
        .set({ [path.at(-1)]: kMakers[value.kind]?.() ?? s.con(value) }),
    removeKey: ({ model }, key, path) =>
      model.api.obj([key, ...path.slice(0, -1)]).del([path.at(-1)]),
    insert: ({ model }, key, path, index, inserted) => {
      const api = model.api.in([key, ...path]);
      if (api.node.name() === "str") api.asStr().ins(index, inserted);
      else api.asArr().ins(index, [kMakers[inserted.kind]?.() ?? s.con(inserted)]);
    },
    remove: ({ model }, key, path, index, length) => {
      const api = model.api.in([key, ...path]);
      (api.node.name() === "str" ? api.asStr() : api.asArr()).del(index, length);
    },
    read: ({ model }, key) => entries(model.api.obj([key]).node),
  },
};

export function open({ replica, time, keys, objectOf, saved }) {
  const session = kFirstSession + 1 + replica + 1000 * time;
  if (saved) return { model: Model.load(saved, session) };
  const begun = keys.filter((key) => kBeginnings[objectOf[key]]);
  const root = s.obj(Object.fromEntries(begun.map((key) => [key, kBeginnings[objectOf[key]]()])));
  return { model: Model.create(undefined, session).setSchema(root) };
}

export function sent({ model }) {
  const patch = model.api.flush();
  return patch && patch.ops.length > 0 ? [patch.toBinary()] : [];
}

export const receive = ({ model }, bytes) => model.applyPatch(Patch.fromBinary(bytes));
export const save = ({ model }) => model.toBinary();

// How a script of --reproduce calls the library (docs/reference/crdt-adapters.md#scripts).
export function script({ objectOf, keys }) {
  const of = (key) => objectOf[JSON.parse(key)];
  const begin = { array: "s.arr([])", string: 's.str("")', document: "s.obj({})" };
  const begun = keys.filter((key) => begin[objectOf[key]]);
  const root = begun.map((key) => `${JSON.stringify(key)}: ${begin[objectOf[key]]}`).join(", ");
  const part = (d, key) => `${d}.api.${of(key) === "array" ? "arr" : "str"}([${key}])`;
  // Of documents: the container at a path, and what is put into it.
  const at = (d, key, steps, kind) =>
    `${d}.api.${kind}([${[key, ...steps.map((step) => JSON.stringify(step))].join(", ")}])`;
  const kinds = { '"text"': "str", '"list"': "arr" };
  const makers = { map: "s.obj({})", list: "s.arr([])", text: 's.str("")' };
  const made = (text) => makers[JSON.parse(text).kind] ?? `s.con(${text})`;
  const place = (d, key, path, call) => {
    const steps = JSON.parse(path);
    return `${at(d, key, steps.slice(0, -1), "obj")}.${call(JSON.stringify(steps.at(-1)))}`;
  };
  const within = {
    insert: (d, key, path, index, inserted, kind) =>
      `${at(d, key, JSON.parse(path), kinds[kind])}.ins(${index}, ${kind === '"text"' ? inserted : `[${made(inserted)}]`})`,
    remove: (d, key, path, index, length, kind) =>
      `${at(d, key, JSON.parse(path), kinds[kind])}.del(${index}, ${length})`,
  };
  const orWithin = (name, call) => (d, key, ...values) =>
    (of(key) === "document" ? within[name] : call)(d, key, ...values);
  const reads = {
    object: (d, key) => `${d}.api.obj([]).view()[${key}]`,
    document: (d, key, value) =>
      hasContainers(value) ? `entries(${d}.api.obj([${key}]).node)` : `${d}.api.obj([${key}]).view()`,
  };
  return {
    head: [
      'import { createRequire } from "node:module";',
      "const require = createRequire(import.meta.url);",
      'const { Model } = require("json-joy/lib/json-crdt/index.js");',
      'const { Patch, s } = require("json-joy/lib/json-crdt-patch/index.js");',
    ],
    helpers: { entries: [entries, shown, elements, idOf].flatMap((one) => String(one).split("\n")) },
    open: ({ replica, time, saved }) => {
      const session = kFirstSession + 1 + replica + 1000 * time;
      return saved
        ? `Model.load(${saved}, ${session})`
        : `Model.create(undefined, ${session}).setSchema(s.obj({ ${root} }))`;
    },
    opened: (d) => `${d}.api.flush()`,
    send: (d, text, m) => [text, m ? `const ${m} = ${d}.api.flush().toBinary()` : `${d}.api.flush()`],
    receive: (d, m) => `${d}.applyPatch(Patch.fromBinary(${m}))`,
    save: (d) => `${d}.toBinary()`,
    calls: {
      insert: orWithin(
        "insert",
        (d, key, index, inserted) =>
          `${part(d, key)}.ins(${index}, ${of(key) === "array" ? `[s.con(${inserted})]` : inserted})`,
      ),
      remove: orWithin("remove", (d, key, index, length = 1) => `${part(d, key)}.del(${index}, ${length})`),
      put: (d, key, path, value) => place(d, key, path, (name) => `set({ ${name}: ${made(value)} })`),
      removeKey: (d, key, path) => place(d, key, path, (name) => `del([${name}])`),
      write: (d, key, value) => `${d}.api.obj([]).set({ [${key}]: s.con(${value}) })`,
      read: (d, key, value) => (reads[of(key)] ?? (() => `${part(d, key)}.view()`))(d, key, value),
    },
  };
}
