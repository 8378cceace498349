// Adapter: Collabs. Lists, texts, sets, flags, counters, variables and the conflicts of a map. The
// runtime holds a message back until those that it depends on have come, and ignores repeats.
import { createRequire } from "node:module";
const C = createRequire(import.meta.url)("@collabs/collabs");

export const library = "collabs 0.13.4";
export const several = true;
export const survives = [
  "reordering", "duplicates", "loss", "restart", "join", "crash", "clocks", "files",
];

const of = (doc, key) => doc.collabs.get(key);
const transact = (doc, edit) => doc.runtime.transact(edit);

const sequence = (make, more) => ({
  type: "list",
  make,
  insert: (doc, key, index, element) => transact(doc, () => of(doc, key).insert(index, element)),
  remove: (doc, key, index, length = 1) =>
    transact(doc, () => of(doc, key).delete(index, length)),
  read: (doc, key) => [...of(doc, key).values()],
  ...more,
});
const set = (doc, key, value) => transact(doc, () => (of(doc, key).value = value));
const flag = (type, winner) => ({
  type,
  winner,
  make: (init) => new C.CBoolean(init, { winner }),
  enable: (doc, key) => set(doc, key, true),
  disable: (doc, key) => set(doc, key, false),
  read: (doc, key) => of(doc, key).value,
});

export const objects = {
  list: sequence((init) => new C.CValueList(init)),
  text: sequence((init) => new C.CText(init), {
    type: "text",
    read: (doc, key) => of(doc, key).toString(),
  }),
  set: {
    type: "add-wins-set",
    make: (init) => new C.CValueSet(init),
    add: (doc, key, value) => transact(doc, () => of(doc, key).add(value)),
    remove: (doc, key, value) => transact(doc, () => of(doc, key).delete(value)),
    read: (doc, key) => of(doc, key).values(),
  },
  boolean: flag("enable-wins-flag", true),
  "boolean-false-wins": flag("disable-wins-flag", false),
  conflicts: {
    type: "multi-value-register",
    make: (init) => new C.CVar(init, null),
    write: set,
    read: (doc, key) => of(doc, key).conflicts(),
  },
  variable: {
    type: "any-maximal-register",
    make: (init) => new C.CVar(init, null),
    write: set,
    read: (doc, key) => of(doc, key).value,
  },
  counter: {
    type: "counter",
    make: (init) => new C.CCounter(init),
    inc: (doc, key, amount) => transact(doc, () => of(doc, key).add(amount)),
    dec: (doc, key, amount) => transact(doc, () => of(doc, key).add(-amount)),
    read: (doc, key) => of(doc, key).value,
  },
};

export function open({ replica, time, keys, objectOf, saved }) {
  const runtime = new C.CRuntime({ debugReplicaID: `replica${replica}x${time}` });
  const collabs = new Map(keys.map((key) => [key, runtime.registerCollab(key, objects[objectOf[key]].make)]));
  const doc = { runtime, collabs, messages: [] };
  if (saved) runtime.load(saved);
  runtime.on("Send", ({ message, senderID, senderCounter }) =>
    doc.messages.push(Buffer.from(JSON.stringify([senderID, senderCounter, Buffer.from(message).toString("base64")]))));
  return doc;
}

export const inspect = (bytes) => JSON.parse(Buffer.from(bytes).toString());
export const sent = (doc) => doc.messages.splice(0);
export const receive = ({ runtime }, bytes) =>
  runtime.receive(new Uint8Array(Buffer.from(inspect(bytes)[2], "base64")));
export const save = ({ runtime }) => runtime.save();
export const merge = ({ runtime }, saved) => runtime.load(saved);
export function sync({ runtime: a }, { runtime: b }) {
  const [ofA, ofB] = [a.save(), b.save()];
  a.load(ofB);
  b.load(ofA);
}
// Of the only collab of a document, or of one of several.
const nameOf = (key, keys) => (keys.length === 1 ? "collab" : `collab${keys.indexOf(key)}`);

export const isApplied = ({ runtime }, [sender, counter]) =>
  (runtime.vectorClock().get(sender) ?? 0) >= counter;

// How a script of --reproduce calls the library (docs/reference/crdt-adapters.md#scripts).
export function script({ objectOf, keys }) {
  const of = (key) => objectOf[JSON.parse(key)];
  const makes = keys.map((key) => {
    const { make, winner } = objects[objectOf[key]];
    const made = String(make).replace("{ winner }", `{ winner: ${winner} }`);
    return `  const ${nameOf(key, keys)} = runtime.registerCollab(${JSON.stringify(key)}, ${made});`;
  });
  const part = (d, key) => `${d}.${nameOf(JSON.parse(key), keys)}`;
  const set = (d, key, value) => `${part(d, key)}.value = ${value}`;
  const reads = { text: ".toString()", conflicts: ".conflicts()", list: ".values()", set: ".values()" };
  return {
    head: [
      'import { createRequire } from "node:module";',
      'const C = createRequire(import.meta.url)("@collabs/collabs");',
      "function open(debugReplicaID, saved) {",
      "  const runtime = new C.CRuntime({ debugReplicaID });",
      ...makes,
      "  if (saved) runtime.load(saved);",
      "  const sent = [];",
      '  runtime.on("Send", ({ message }) => sent.push(message));',
      `  return { runtime, sent, ${keys.map((key) => nameOf(key, keys)).join(", ")} };`,
      "}",
    ],
    open: ({ replica, time, saved }) => `open("replica${replica}x${time}"${saved ? `, ${saved}` : ""})`,
    send: (d, text, m) => [
      `${d}.runtime.transact(() => (${text}))`,
      ...(m ? [`const ${m} = ${d}.sent.at(-1)`] : []),
    ],
    receive: (d, m) => `${d}.runtime.receive(${m})`,
    save: (d) => `${d}.runtime.save()`,
    merge: (d, saved) => `${d}.runtime.load(${saved})`,
    sync: (a, b) =>
      `{ const saved = ${a}.runtime.save(); ${a}.runtime.load(${b}.runtime.save()); ${b}.runtime.load(saved); }`,
    calls: {
      insert: (d, key, index, inserted) => `${part(d, key)}.insert(${index}, ${inserted})`,
      remove: (d, key, index, length) =>
        `${part(d, key)}.delete(${index}${of(key) === "set" ? "" : `, ${length ?? 1}`})`,
      add: (d, key, value) => `${part(d, key)}.add(${value})`,
      write: set,
      enable: (d, key) => set(d, key, true),
      disable: (d, key) => set(d, key, false),
      inc: (d, key, amount) => `${part(d, key)}.add(${amount})`,
      dec: (d, key, amount) => `${part(d, key)}.add(-${amount})`,
      read: (d, key) => `${part(d, key)}${reads[of(key)] ?? ".value"}`,
    },
  };
}
