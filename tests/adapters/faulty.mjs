// An adapter whose objects are wrong, for --reproduce: a movable list and a tree of which the move
// that arrives last wins, and a set that forgets the second remove. Several in one document. Messages
// must come in causal order. `list` and `set` say how a script calls them; `tree` leaves it to the
// adapter.
const after = ([clock, name], [other, its]) => clock > other || (clock === other && name > its);
const same = (one, other) => String(one) === String(other);

class MovableList {
  places = []; // { id, element }, in their order
  at = new Map(); // element -> id of the place where it is
  gone = new Set();

  shown() {
    return this.places.filter(({ id, element }) => same(this.at.get(element), id) && !this.gone.has(String(id)));
  }
  read() {
    return this.shown().map(({ element }) => element);
  }
  insert(id, index, element) {
    return { id, element, before: index === 0 ? null : this.shown()[index - 1].id };
  }
  // The index of the others.
  move(id, from, to) {
    const shown = this.shown();
    const [{ element }] = shown.splice(from, 1);
    return { id, element, before: to === 0 ? null : shown[to - 1].id };
  }
  remove(_id, index) {
    return { gone: this.shown()[index].id };
  }
  apply({ id, element, before, gone }) {
    if (gone) return void this.gone.add(String(gone));
    let index = before === null ? 0 : this.places.findIndex((place) => same(place.id, before)) + 1;
    while (index < this.places.length && after(this.places[index].id, id)) ++index;
    this.places.splice(index, 0, { id, element });
    this.at.set(element, id); // the bug: an earlier move may arrive later
  }
}

class Tree {
  above = new Map();

  // Nodes that hang together with the top.
  read() {
    const reaches = (node, left = this.above.size) =>
      node === null || (left > 0 && this.above.has(node) && reaches(this.above.get(node), left - 1));
    return [...this.above].filter(([node]) => reaches(node));
  }
  create(id, parent) {
    return { node: id.join("."), parent };
  }
  move(_id, node, parent) {
    return { node, parent };
  }
  remove(_id, node) {
    return { node, gone: true };
  }
  // The bug: the move that arrives last wins, and it may make a cycle.
  apply({ node, parent, gone }) {
    if (gone) this.above.delete(node);
    else this.above.set(node, parent);
  }
}

class GrowSet {
  elements = new Set();
  removes = 0;

  read() {
    return this.elements;
  }
  add(_id, element) {
    return { element };
  }
  remove(_id, element) {
    return { element, gone: true };
  }
  apply({ element, gone }) {
    if (!gone) this.elements.add(element);
    else if (++this.removes !== 2) this.elements.delete(element);
  }
}

const kMakers = { list: MovableList, tree: Tree, set: GrowSet };

// The library.
export class Shared {
  clock = 0;
  sent = [];
  constructor(name, objects) {
    this.name = name;
    this.parts = Object.fromEntries(Object.entries(objects).map(([key, object]) => [key, new kMakers[object]()]));
  }
  change(key, method, ...values) {
    const id = [++this.clock, this.name];
    const change = { key, clock: this.clock, ...this.parts[key][method](id, ...values) };
    this.parts[key].apply(change);
    this.sent.push(change);
    return change;
  }
  receive(change) {
    this.clock = Math.max(this.clock, change.clock);
    this.parts[change.key].apply(change);
  }
}

const change = (method) => (doc, key, ...values) => void doc.change(key, method, ...values);
const read = (doc, key) => doc.parts[key].read();

export const library = "faulty 1.0";
export const several = true;
export const survives = [];
export const objects = {
  list: { type: "movable-list", insert: change("insert"), move: change("move"), remove: change("remove"), read },
  tree: {
    type: "tree",
    create: (doc, key, parent) => doc.change(key, "create", parent).node,
    move: change("move"),
    remove: change("remove"),
    read,
  },
  set: { type: "add-wins-set", add: change("add"), remove: change("remove"), read },
};
export const open = ({ replica, objectOf }) => new Shared(`r${replica}`, objectOf);
export const sent = (doc) => doc.sent.splice(0).map((one) => Buffer.from(JSON.stringify(one)));
export const receive = (doc, message) => doc.receive(JSON.parse(Buffer.from(message)));

export function script({ objectOf }) {
  if (Object.values(objectOf).includes("tree")) return undefined;
  const call = (method) => (d, ...values) => `${d}.change(${[values[0], `"${method}"`, ...values.slice(1)].join(", ")})`;
  return {
    head: [`import { Shared } from ${JSON.stringify(import.meta.url)};`],
    open: ({ replica }) => `new Shared("r${replica}", ${JSON.stringify(objectOf)})`,
    send: (d, text, m) => (m ? `const ${m} = ${text}` : text),
    receive: (d, m) => `${d}.receive(${m})`,
    calls: {
      ...Object.fromEntries(["insert", "move", "remove", "add"].map((method) => [method, call(method)])),
      read: (d, key) => `${d}.parts[${key}].read()`,
    },
  };
}
