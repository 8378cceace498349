// Adapter: Loro (Fugue). Lists, movable lists as lists, texts, maps, trees and counters. An update waits
// until those that it depends on have come.
import { LoroDoc, decodeImportBlobMeta } from "loro-crdt";

export const library = "loro 1.17.1";
export const survives = ["reordering", "duplicates", "loss", "restart", "join", "crash", "clocks"];

const sequence = (container, type = "list") => ({
  type,
  insert: (doc, key, index, elements) => container(doc.loro, key).insert(index, elements),
  remove: (doc, key, index, length = 1) => container(doc.loro, key).delete(index, length),
  read: (doc, key) => container(doc.loro, key).toJSON(),
});

export const objects = {
  list: sequence((loro, key) => loro.getList(key)),
  text: sequence((loro, key) => loro.getText(key), "text"),
  "movable-list": sequence((loro, key) => loro.getMovableList(key)),
  map: {
    type: "last-writer-wins-map",
    write: ({ loro }, key, value) => loro.getMap("map").set(key, value),
    read: ({ loro }, key) => loro.getMap("map").get(key),
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
