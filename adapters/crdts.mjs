// Adapter: crdts (of OrbitDB). Counters and sets; a message is the whole state, as JSON.
import { GCounter, GSet, LWWSet, ORSet, PNCounter, TwoPSet } from "crdts";

export const library = "crdts 0.2.0";
export const messages = "states";
export const survives = [
  "reordering", "duplicates", "loss", "restart", "join", "crash", "clocks", "files",
];

function change(doc, key, edit) {
  edit(doc.parts.get(key));
  doc.states.push(save(doc));
  return true;
}
// Above all stamps that the replica has seen, and no other's.
const kMostTimes = 1000; // that a replica is opened
const stamp = (doc) => (++doc.clock * doc.replicas + doc.replica) * kMostTimes + doc.time;

const set = (type, make, tag) => ({
  type,
  make: () => new make(),
  from: (json) => make.from(json),
  add: (doc, key, value) => change(doc, key, (part) => part.add(value, tag && stamp(doc))),
  // The library forgets the remove of an element that it does not know.
  remove: (doc, key, value) =>
    doc.parts.get(key).has(value) &&
    change(doc, key, (part) => part.remove(value, tag && stamp(doc))),
  read: (doc, key) => doc.parts.get(key).values(),
});
const counter = (make) => ({
  type: "counter",
  make: (id) => new make(id),
  from: (json) => make.from(json),
  inc: (doc, key, amount) => change(doc, key, (part) => part.increment(amount)),
  dec: (doc, key, amount) => change(doc, key, (part) => part.decrement(amount)),
  read: (doc, key) => doc.parts.get(key).value,
});

export const objects = {
  "or-set": set("add-wins-set", ORSet, true),
  "g-set": set("grow-only-set", GSet, false),
  "2p-set": set("two-phase-set", TwoPSet, false),
  "lww-set": set("last-writer-wins-set", LWWSet, true),
  "pn-counter": counter(PNCounter),
  "g-counter": { ...counter(GCounter), type: "grow-only-counter" },
};

export function open({ replica, replicas, time, keys, object, saved }) {
  const { make, from } = objects[object];
  const id = `replica${replica}x${time}`;
  const parts = new Map(keys.map((key) => [key, make(id)]));
  const doc = { replica, replicas, time, from, parts, clock: 0, states: [] };
  if (saved) receive(doc, saved);
  return doc;
}

export const sent = (doc) => doc.states.splice(0);
export function receive(doc, bytes) {
  const [clock, states] = JSON.parse(Buffer.from(bytes).toString());
  doc.clock = Math.max(doc.clock, clock);
  for (const [key, json] of states) doc.parts.get(key).merge(doc.from(json));
}
export function save({ clock, parts }) {
  const states = [...parts].map(([key, part]) => [key, part.toJSON()]);
  return Buffer.from(JSON.stringify([clock, states]));
}
export const merge = receive;
export function sync(a, b) {
  const [ofA, ofB] = [save(a), save(b)];
  receive(a, ofB);
  receive(b, ofA);
}
