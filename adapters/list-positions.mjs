// Adapter: list-positions. Lists as maps from positions. The application sends positions, so it
// promises order and exactly one delivery itself: a late repeat would bring an element back.
import { List, Order } from "list-positions";

export const library = "list-positions 2.0.0";
export const survives = ["restart", "join", "crash", "clocks"];

const send = (doc, ...what) => doc.messages.push(Buffer.from(JSON.stringify(what)));

export const objects = {
  list: {
    type: "list",
    insert(doc, key, index, element) {
      const [position, meta] = doc.lists.get(key).insertAt(index, element);
      send(doc, key, position, meta, element);
    },
    remove(doc, key, index) {
      const list = doc.lists.get(key);
      const position = list.positionAt(index);
      list.delete(position);
      send(doc, key, position);
    },
    read: (doc, key) => doc.lists.get(key).slice(),
  },
};

export function open({ replica, time, keys, saved }) {
  const order = new Order({ replicaID: `replica${replica}x${time}` });
  const stored = saved ? JSON.parse(Buffer.from(saved).toString()) : { metas: [], lists: {} };
  order.load(stored.metas);
  const lists = keys.map((key) => {
    const list = new List(order);
    list.load(stored.lists[key] ?? {});
    return [key, list];
  });
  return { order, lists: new Map(lists), messages: [] };
}

export const sent = (doc) => doc.messages.splice(0);
export function receive({ order, lists }, bytes) {
  const [key, position, meta, element] = JSON.parse(Buffer.from(bytes).toString());
  if (meta) order.addMetas([meta]);
  if (element === undefined) lists.get(key).delete(position);
  else lists.get(key).set(position, element);
}
export function save({ order, lists }) {
  const parts = [...lists].map(([key, list]) => [key, list.save()]);
  return Buffer.from(JSON.stringify({ metas: order.save(), lists: Object.fromEntries(parts) }));
}
