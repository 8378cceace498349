// Adapter: delta-crdts. Sets, flags, counters, registers and arrays. Its causal context has no
// gaps, so the deltas of a replica must come in their order; they may come again.
//
// A delta is handed over as it is, as in the library's manual, and a message has its number. In the
// library's encoding the deltas of its sets double in size with every exchange.
import { createRequire } from "node:module";
const CRDT = createRequire(import.meta.url)("delta-crdts");

export const library = "delta-crdts 0.10.3";
export const survives = ["duplicates", "clocks"];

// A mutator that takes the value as its last argument, a stamp before it where `stamps` says so.
const call = (method, stamps) => (doc, key, value) => {
  const stamp = stamps ? [++doc.clock * doc.replicas + doc.replica] : [];
  keep(doc, key, doc.parts.get(key)[method](...stamp, ...(value === undefined ? [] : [value])));
};
const kDeltas = []; // of all replicas, by number
const keep = (doc, key, delta) =>
  doc.deltas.push(Buffer.from(String(kDeltas.push([key, doc.clock, delta]) - 1)));
const read = (doc, key) => doc.parts.get(key).value();

const set = (type, crdt, stamps) => ({
  type,
  crdt,
  stamps,
  add: call("add", stamps),
  remove: call("remove", stamps),
  read,
});
const flag = (type, crdt) => ({
  type,
  crdt,
  enable: (doc, key) => call("enable")(doc, key),
  disable: (doc, key) => call("disable")(doc, key),
  read,
});
const counter = (crdt) => ({
  type: "counter",
  crdt,
  byOne: true,
  inc: (doc, key) => call("inc")(doc, key),
  dec: (doc, key) => call("dec")(doc, key),
  read,
});

export const objects = {
  aworset: set("add-wins-set", "aworset"),
  rworset: set("remove-wins-set", "rworset"),
  gset: { type: "grow-only-set", crdt: "gset", add: call("add"), read },
  "2pset": set("two-phase-set", "2pset"),
  rwlwwset: set("last-writer-wins-set", "rwlwwset", true),
  ewflag: flag("enable-wins-flag", "ewflag"),
  // This flag begins on; cupel's begin off, so all replicas know of one disable.
  dwflag: { ...flag("disable-wins-flag", "dwflag"), begin: (part) => part.disable() },
  pncounter: counter("pncounter"),
  ccounter: counter("ccounter"),
  lexcounter: counter("lexcounter"),
  mvreg: { type: "multi-value-register", crdt: "mvreg", write: call("write"), read },
  lwwreg: { type: "last-writer-wins-register", crdt: "lwwreg", stamps: true, write: call("write", true), read },
  rga: {
    type: "list",
    crdt: "rga",
    insert: (doc, key, index, element) => keep(doc, key, doc.parts.get(key).insertAt(index, element)),
    remove: (doc, key, index) => keep(doc, key, doc.parts.get(key).removeAt(index)),
    read,
  },
};

export function open({ replica, replicas, keys, object }) {
  const { crdt, begin } = objects[object];
  const make = CRDT(crdt);
  const parts = new Map(keys.map((key) => [key, make(`replica${replica}`)]));
  if (begin) for (const part of parts.values()) part.apply(begin(make("begin")));
  return { replica, replicas, parts, clock: 0, deltas: [] };
}

export const sent = (doc) => doc.deltas.splice(0);
export function receive(doc, bytes) {
  const [key, clock, delta] = kDeltas[Number(Buffer.from(bytes))];
  doc.clock = Math.max(doc.clock, clock);
  doc.parts.get(key).apply(delta);
}

// How a script of --reproduce calls the library, for one object (docs/reference/crdt-adapters.md#scripts).
export function script({ object, keys }) {
  const { crdt, begin, stamps } = objects[object];
  if (keys.length > 1 || stamps) return undefined;
  const call = (method) => (d, _key, value) => `${d}.${method}(${value ?? ""})`;
  return {
    head: ['import CRDT from "delta-crdts";'],
    open: ({ replica }) => `CRDT("${crdt}")("replica${replica}")`,
    ...(begin && { opened: (d) => `${d}.apply(CRDT("${crdt}")("begin").disable())` }),
    send: (d, text, m) => (m ? `const ${m} = ${text}` : text),
    receive: (d, m) => `${d}.apply(${m})`,
    calls: {
      ...Object.fromEntries(["add", "remove", "enable", "disable", "write"].map((name) => [name, call(name)])),
      ...(crdt === "rga" && { remove: (d, _key, index) => `${d}.removeAt(${index})` }),
      insert: (d, _key, index, element) => `${d}.insertAt(${index}, ${element})`,
      inc: (d) => `${d}.inc()`,
      dec: (d) => `${d}.dec()`,
      read: (d) => `${d}.value()`,
    },
  };
}
