// Adapter: position-strings. A list is sorted by the strings that the library makes. The
// application sends them, so it promises order and exactly one delivery itself.
import { createRequire } from "node:module";
const { PositionSource, findPosition } = createRequire(import.meta.url)("position-strings");

export const library = "position-strings 2.0.1";
export const survives = ["restart", "join", "crash", "clocks"];

export const objects = {
  list: {
    type: "list",
    insert(doc, key, index, element) {
      const { positions } = doc.lists.get(key);
      const position = doc.source.createBetween(positions[index - 1], positions[index]);
      update(doc, key, position, element);
    },
    remove: (doc, key, index) => update(doc, key, doc.lists.get(key).positions[index]),
    read: (doc, key) => doc.lists.get(key).elements,
  },
};

// Without an element: it is deleted.
function update(doc, ...what) {
  apply(doc, ...what);
  doc.messages.push(Buffer.from(JSON.stringify(what)));
}
function apply(doc, key, position, element) {
  const { positions, elements } = doc.lists.get(key);
  const { index, isPresent } = findPosition(position, positions);
  const added = element !== undefined;
  positions.splice(index, isPresent ? 1 : 0, ...(added ? [position] : []));
  elements.splice(index, isPresent ? 1 : 0, ...(added ? [element] : []));
}

export function open({ replica, time, keys, saved }) {
  const empty = () => ({ positions: [], elements: [] });
  const lists = saved ? JSON.parse(Buffer.from(saved).toString()) : keys.map((key) => [key, empty()]);
  const source = new PositionSource({ ID: `replica${replica}x${time}` });
  return { source, lists: new Map(lists), messages: [] };
}

export const sent = (doc) => doc.messages.splice(0);
export const receive = (doc, bytes) => apply(doc, ...JSON.parse(Buffer.from(bytes).toString()));
export const save = (doc) => Buffer.from(JSON.stringify([...doc.lists]));
