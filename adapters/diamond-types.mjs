// Adapter: diamond-types. Texts. A patch must come after those that its sender had seen; it may
// come again.
import { createRequire } from "node:module";
const { Doc } = createRequire(import.meta.url)("diamond-types-node");

export const library = "diamond-types 1.0.2";
export const survives = ["duplicates", "restart", "join", "crash", "clocks", "files"];

const kAgent = (replica, time) => `replica-${replica}-${time}`;
const text = (doc, key) => doc.texts.get(key);

export const objects = {
  text: {
    type: "text",
    codePoints: true,
    insert: (doc, key, index, range) => edit(doc, key, (dt) => dt.ins(index, range)),
    remove: (doc, key, index, length) => edit(doc, key, (dt) => dt.del(index, length)),
    read: (doc, key) => text(doc, key).get(),
  },
};

function edit(doc, key, apply) {
  const dt = text(doc, key);
  const before = dt.getLocalVersion();
  apply(dt);
  doc.patches.push(pack(key, dt.getPatchSince(before)));
}

const pack = (key, bytes) =>
  Buffer.from(JSON.stringify([key, Buffer.from(bytes).toString("base64")]));
const unpack = (message) => JSON.parse(Buffer.from(message).toString());

export function open({ replica, time, keys, saved }) {
  const agent = kAgent(replica, time);
  const stored = saved ? new Map(unpack(saved)) : new Map();
  const texts = keys.map((key) => [
    key,
    stored.has(key) ? Doc.fromBytes(Buffer.from(stored.get(key), "base64"), agent) : new Doc(agent),
  ]);
  return { texts: new Map(texts), patches: [] };
}

export const sent = (doc) => doc.patches.splice(0);
export function receive(doc, message) {
  const [key, patch] = unpack(message);
  text(doc, key).mergeBytes(Buffer.from(patch, "base64"));
}
// The stored texts have all that their replica had seen.
export function merge(doc, saved) {
  for (const [key, bytes] of unpack(saved)) text(doc, key).mergeBytes(Buffer.from(bytes, "base64"));
}
export const save = (doc) =>
  Buffer.from(
    JSON.stringify([...doc.texts].map(([key, dt]) => [key, Buffer.from(dt.toBytes()).toString("base64")])),
  );

// How a script of --reproduce calls the library, for one text (docs/reference/crdt-adapters.md#scripts).
export const script = ({ keys }) =>
  keys.length > 1
    ? undefined
    : {
        head: ['import { Doc } from "diamond-types-node";'],
        helpers: {
          patch: [
            "function patch(doc, edit) {",
            "  const before = doc.getLocalVersion();",
            "  edit();",
            "  return doc.getPatchSince(before);",
            "}",
          ],
        },
        open: ({ replica, time, saved }) => {
          const agent = JSON.stringify(kAgent(replica, time));
          return saved ? `Doc.fromBytes(${saved}, ${agent})` : `new Doc(${agent})`;
        },
        send: (d, text, m) => (m ? `const ${m} = patch(${d}, () => ${text})` : text),
        receive: (d, m) => `${d}.mergeBytes(${m})`,
        save: (d) => `${d}.toBytes()`,
        merge: (d, saved) => `${d}.mergeBytes(${saved})`,
        calls: {
          insert: (d, _key, index, range) => `${d}.ins(${index}, ${range})`,
          remove: (d, _key, index, length) => `${d}.del(${index}, ${length})`,
          read: (d) => `${d}.get()`,
        },
      };
