// Harness: the replicas of `cupel crdt run --adapter`, all in this process, for any adapter.
//
//   node harness.mjs ADAPTER.mjs
//
// Speaks JSON lines, one answer a request (docs/reference/crdt-adapters.md#protocol). An adapter is a module
// that says what the library offers and how to call it; template.mjs is the smallest. This file
// knows no library.
//
// A message between replicas is an array of byte strings, in base64: what the library wrote. It
// goes to cupel and comes back when it is delivered. A library may keep a message until others
// have come; isApplied() says so, and the harness reports the messages that wait.
import { createInterface } from "node:readline";
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "./script.mjs";

// The methods of each type, in the words of docs/reference/formats/crdt.md. Each gets the object's functions,
// the document, the key and the value of the request. It returns the answer's fields besides the
// type; for an update, `value` is its argument as it was executed, if that differs.
const kDone = {};
const kNotDone = { type: "fail" };

function read({ api, doc, key }) {
  return { value: api.read(doc, key) };
}

const elementsOf = ({ api, doc, key }) => [...api.read(doc, key)];

function indexOf(elements, element) {
  const text = JSON.stringify(element);
  return elements.findIndex((e) => JSON.stringify(e) === text);
}

function addAfter(call) {
  const { api, doc, key, value } = call;
  const [parent, element] = value;
  const elements = elementsOf(call);
  let index = parent === null ? 0 : indexOf(elements, parent) + 1;
  // The character before has gone meanwhile: some other place, which the answer names.
  if (parent !== null && index === 0) index = call.number % (elements.length + 1);
  api.insert(doc, key, index, element);
  return { value: [index === 0 ? null : elements[index - 1], element] };
}

function removeElement(call) {
  const { api, doc, key, value } = call;
  const index = indexOf(elementsOf(call), value);
  if (index < 0) return kNotDone;
  api.remove(doc, key, index);
  return kDone;
}

// Where a library moves, an element that stays where it is is not moved.
function moveElement(call) {
  const { api, doc, key, value, number } = call;
  const [element, before] = value;
  const elements = elementsOf(call);
  const from = indexOf(elements, element);
  if (from < 0) return kNotDone;
  elements.splice(from, 1);
  let to = before === null ? 0 : indexOf(elements, before) + 1;
  if (before !== null && to === 0) to = number % (elements.length + 1);
  if (to === from) return kNotDone;
  api.move(doc, key, from, to);
  return { value: [element, to === 0 ? null : elements[to - 1]] };
}

// Texts. Each character is there once, so it says where it is. Libraries count UTF-16 units, as
// strings do, or code points.
const lastCharacter = (text) => {
  const low = text.charCodeAt(text.length - 1);
  return text.slice(low >= 0xdc00 && low < 0xe000 ? -2 : -1);
};
const unitsOf = (api, text) => (api.codePoints ? Array.from(text).length : text.length);

function insertText({ api, doc, key, value: [before, inserted], number }) {
  const text = api.read(doc, key);
  const at = before === null ? -1 : text.indexOf(before);
  let front = at < 0 ? "" : text.slice(0, at + before.length);
  if (before !== null && at < 0) {
    // The character before has gone meanwhile: some other place, which the answer names.
    const all = Array.from(text);
    front = all.slice(0, number % (all.length + 1)).join("");
  }
  api.insert(doc, key, unitsOf(api, front), inserted);
  return { value: [front === "" ? null : lastCharacter(front), inserted] };
}

// As many characters as were named, from the first of them on.
function deleteText({ api, doc, key, value }) {
  const text = api.read(doc, key);
  const named = Array.from(value);
  const at = text.indexOf(named[0]);
  if (at < 0) return kNotDone;
  const gone = Array.from(text.slice(at, at + 2 * named.length)).slice(0, named.length).join("");
  api.remove(doc, key, unitsOf(api, text.slice(0, at)), unitsOf(api, gone));
  return { value: gone };
}

// Texts with marks: a read returns runs of characters, each with its marks.
const withoutMarks = (call) => {
  const { api } = call;
  const read = (doc, key) => api.read(doc, key).map(([characters]) => characters).join("");
  return { ...call, api: { ...api, read } };
};

function markText(call) {
  const { api, doc, key, value: [characters, name, value] } = call;
  const text = withoutMarks(call).api.read(doc, key);
  const named = Array.from(characters);
  const at = text.indexOf(named[0]);
  if (at < 0) return kNotDone;
  const range = Array.from(text.slice(at, at + 2 * named.length)).slice(0, named.length).join("");
  api.mark(doc, key, unitsOf(api, text.slice(0, at)), unitsOf(api, range), name, value);
  return { value: [range, name, value] };
}

// Many edits by index, as an editing trace has them, each of them an update. `named`: says what is
// there, the character before and what is deleted; null where the text is shorter, and then makes no
// more edits. Else the places are given in UTF-16, too.
function editText({ api, doc, key, value, named }) {
  const places = [];
  for (const [position, deleted, inserted, units, deletedUnits] of value) {
    let [at, length] = api.codePoints ? [position, deleted] : [units, deletedUnits];
    if (named) {
      const text = Array.from(api.read(doc, key));
      if (position + deleted > text.length) {
        places.push(null);
        break;
      }
      const gone = text.slice(position, position + deleted).join("");
      at = unitsOf(api, text.slice(0, position).join(""));
      length = unitsOf(api, gone);
      places.push([position > 0 ? text[position - 1] : "", gone]);
    }
    if (length > 0) api.remove(doc, key, at, length);
    if (inserted !== "") api.insert(doc, key, at, inserted);
  }
  return named ? { value: places } : {};
}

// Trees. Nodes that are not there are made anew, and named as the library names them; a parent that
// has gone meanwhile is none.
function moveNode({ api, doc, key, value: [node, parent] }) {
  const above = new Map(api.read(doc, key));
  const to = above.has(parent) ? parent : null;
  if (!above.has(node)) return { value: [api.create(doc, key, to), to] };
  if (above.get(node) === to) return kNotDone; // a library need not count it as a move
  const seen = new Set(); // what a library shows may have a cycle
  for (let at = to; at !== null && above.has(at) && !seen.has(at); at = above.get(at)) {
    if (at === node) return kNotDone;
    seen.add(at);
  }
  api.move(doc, key, node, to);
  return { value: [node, to] };
}

function removeNode({ api, doc, key, value }) {
  if (!new Map(api.read(doc, key)).has(value)) return kNotDone;
  api.remove(doc, key, value);
  return kDone;
}

// Documents. A container has an id of the library; requests name it by that, and calls go to where
// the document shows it. What has gone meanwhile is not done.
const kindOf = (value) => Object.keys(value)[0];

const nameOf = (value) => (typeof value === "object" ? { [kindOf(value)]: value[kindOf(value)] } : value);

// The path of a container, in keys of maps and indices of lists, and what it shows; null: it is not
// there. `entries`: of a map, or the elements of a list.
function findContainer(entries, container, path = []) {
  for (const [step, value] of entries instanceof Array ? entries.entries() : Object.entries(entries)) {
    if (typeof value !== "object") continue;
    const kind = kindOf(value);
    if (JSON.stringify(nameOf(value)) === JSON.stringify(container))
      return { path: [...path, step], kind, shown: value.value };
    const has = kind === "map" || kind === "list";
    const within = has && findContainer(value.value, container, [...path, step]);
    if (within) return within;
  }
  return null;
}

// A path of a request begins at the document or at a container, and has at most one key after it.
function findNode({ api, doc, key }, [first, ...rest]) {
  const entries = api.read(doc, key);
  if (typeof first !== "object") return { path: [], kind: "map", shown: entries, keys: [first, ...rest] };
  const found = findContainer(entries, first);
  return found && { ...found, keys: rest };
}

function putValue(call) {
  const { api, doc, key, value: [place, value], number } = call;
  const node = findNode(call, place);
  if (!node) return kNotDone;
  const path = [...node.path, ...node.keys];
  if (typeof value !== "object") {
    api.put(doc, key, path, value);
    return kDone;
  }
  // A kind that the library lacks: another one, which the answer names.
  const kind = api.kinds.includes(kindOf(value)) ? kindOf(value) : api.kinds[number % api.kinds.length];
  api.put(doc, key, path, { kind });
  const made = findNode(call, place).shown[node.keys[0]];
  return { value: [place, { [kind]: made[kind] }] };
}

// The functions of a list or text for the one at the path. The elements of a list that are
// containers are there by their names.
const sequenceAt = ({ api }, { path, kind, shown }) => ({
  codePoints: api.codePoints,
  read: () => (typeof shown === "string" ? shown : shown.map(nameOf)),
  insert: (doc, key, index, inserted) => api.insert(doc, key, path, index, inserted, kind),
  remove: (doc, key, index, length = 1) => api.remove(doc, key, path, index, length, kind),
});

// Of an element that is a new container the answer has the library's id.
function addAfterInDocument(call) {
  const { api, doc, key, value: [before, element], number, place, document } = call;
  if (typeof element !== "object") return addAfter(call);
  const kinds = document.elementKinds ?? [];
  // A library without containers in lists, or without this kind: an element, or another kind.
  if (kinds.length === 0) return addAfter({ ...call, value: [before, `of ${JSON.stringify(element)}`] });
  const kind = kinds.includes(kindOf(element)) ? kindOf(element) : kinds[number % kinds.length];
  const { value: [after] } = addAfter({ ...call, value: [before, { kind }] });
  const list = findNode({ api: document, doc, key }, place).shown.map(nameOf);
  const index = after === null ? 0 : indexOf(list, after) + 1;
  return { value: [after, list[index]] };
}
const kSequences = { list: { addAfter: addAfterInDocument, remove: removeElement }, text: { insert: insertText, delete: deleteText } };

function changeValue(method) {
  return (call) => {
    const { api, doc, key, value: [place, argument], number } = call;
    const node = findNode(call, place);
    if (!node) return kNotDone;
    if (node.keys.length > 0) {
      if (!(node.keys[0] in node.shown)) return kNotDone;
      api.removeKey(doc, key, [...node.path, ...node.keys]);
      return kDone;
    }
    if (node.kind === "counter") {
      api.add(doc, key, node.path, method === "dec" ? -argument : argument);
      return kDone;
    }
    const change = kSequences[node.kind]?.[method];
    if (!change) return kNotDone;
    const done = change({ api: sequenceAt(call, node), doc, key, value: argument, number, place, document: api });
    return done.value === undefined ? done : { value: [place, done.value] };
  };
}

function readDocument(call) {
  const { api, doc, key, value } = call;
  if (value === undefined) return { value: api.read(doc, key) };
  const node = findNode(call, value[0]);
  return node ? { value: node.shown[node.keys[0]] ?? null } : kNotDone;
}

const kDocument = { put: putValue, read: readDocument };
for (const method of ["remove", "inc", "dec", "addAfter", "insert", "delete", "add", "write"])
  kDocument[method] = changeValue(method);

const kSet = {
  add: ({ api, doc, key, value }) => (api.add(doc, key, value), kDone),
  remove: ({ api, doc, key, value }) => (api.remove(doc, key, value) === false ? kNotDone : kDone),
  contains: ({ api, doc, key, value }) => ({ value: [...api.read(doc, key)].includes(value) }),
  read: ({ api, doc, key }) => ({ value: [...api.read(doc, key)] }),
};
const kFlag = {
  enable: ({ api, doc, key }) => (api.enable(doc, key), kDone),
  disable: ({ api, doc, key }) => (api.disable(doc, key), kDone),
  read,
};
const kRegister = {
  write: ({ api, doc, key, value }) => (api.write(doc, key, value), kDone),
  read: ({ api, doc, key }) => ({ value: api.read(doc, key) ?? null }),
};
// A counter without amounts counts by one.
const count = (method) => ({ api, doc, key, value }) => {
  const amount = api.byOne ? 1 : value ?? 1;
  api[method](doc, key, amount);
  return { value: amount };
};
const kCounter = { inc: count("inc"), dec: count("dec"), read };
const kList = {
  addAfter,
  remove: removeElement,
  read: (call) => ({ value: elementsOf(call) }),
};
const kMethods = new Map([
  ["set", kSet],
  ["flag", kFlag],
  ["register", kRegister],
  ["values", { write: kRegister.write, read: ({ api, doc, key }) => ({ value: [...api.read(doc, key)] }) }],
  ["counter", { ...kCounter, reset: ({ api, doc, key }) => (api.reset(doc, key), kDone) }],
  ["list", kList],
  ["movable-list", { ...kList, move: moveElement }],
  ["tree", { move: moveNode, remove: removeNode, read }],
  ["text", { insert: insertText, delete: deleteText, edit: editText, read }],
  [
    "marked-text",
    {
      insert: (call) => insertText(withoutMarks(call)),
      delete: (call) => deleteText(withoutMarks(call)),
      mark: markText,
      edit: (call) => editText(withoutMarks(call)),
      read,
    },
  ],
  ["document", kDocument],
]);
// Which of these a type has.
const kKinds = new Map([
  ["list", "list"],
  ["growable-array", "list"],
  ["movable-list", "movable-list"],
  ["text", "text"],
  ["marked-text", "marked-text"],
  ["tree", "tree"],
  ["map", "document"],
  ["remove-wins-map", "document"],
  ["update-wins-map", "document"],
  ["reset-map", "document"],
  ["last-writer-wins-register", "register"],
  ["last-writer-wins-map", "register"],
  ["any-maximal-register", "register"],
  ["max-register", "register"],
  ["multi-value-register", "values"],
  ["counter", "counter"],
  ["grow-only-counter", "counter"],
  ["resettable-counter", "counter"],
  ["bounded-counter", "counter"],
  ["enable-wins-flag", "flag"],
  ["disable-wins-flag", "flag"],
  ["add-wins-set", "set"],
  ["remove-wins-set", "set"],
  ["grow-only-set", "set"],
  ["two-phase-set", "set"],
  ["last-writer-wins-set", "set"],
]);

// What a script prints of a read, from the source text of the read.
const spread = (text) => `[...${text}]`;
const kPrinted = { set: spread, values: spread, list: spread, register: (text) => `${text} ?? null` };

const bytesOf = (text) => new Uint8Array(Buffer.from(text, "base64"));
const textOf = (bytes) => Buffer.from(bytes).toString("base64");

// The wall clock of a replica: one millisecond a look, and as far ahead as cupel says.
const kEpoch = Date.UTC(2026, 0, 1);
let looks = 0;
let ahead = 0;
const now = () => kEpoch + ++looks + ahead;
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length > 0 ? given : [now()]));
  }
  static now() {
    return now();
  }
};

// The functions of an object, which note how they are called.
const recorded = (api, calls) =>
  new Proxy(api, {
    get: (_, name) =>
      typeof api[name] !== "function" || name === "read"
        ? api[name]
        : (doc, ...values) => {
            calls.push([name, ...values]);
            return api[name](doc, ...values);
          },
  });

export class Harness {
  #adapter;
  #apis; // by key: of the object that is tested
  #options; // of open()
  #docs = [];
  #times = []; // how often each replica was opened
  #waiting = []; // by replica: message -> its bytes
  #saved = []; // by replica: a document, and what waited then
  #ahead = []; // by replica: its wall clock
  #links = new Map(); // the states of exchanges, by "replica peer"
  #infos = new Map(); // by message: what isApplied() is asked of
  #perhaps = []; // by replica: messages that an exchange may have brought, and that may wait
  #number = 0;
  #script; // of the requests since `begin`, if it is asked for
  #url; // of the adapter's file

  constructor(adapter, url) {
    this.#adapter = adapter;
    this.#url = url;
  }

  // The answer to one request, without the field `type` where it is ok.
  answer(request) {
    ahead = this.#ahead[request.replica] ?? 0;
    switch (request.f) {
      case "hello":
        return this.#hello();
      case "begin":
        return this.#begin(request);
      case "deliver":
        return this.#deliver(request);
      case "sync":
        return this.#sync(request);
      case "restart":
        return this.#load(request.replica, request.replica);
      case "join":
        return this.#load(request.replica, request.from);
      case "save":
        return this.#save(request.replica);
      case "crash":
        return this.#crash(request.replica);
      case "merge":
        return this.#merge(request);
      case "compact":
        return this.#compact(request.replica);
      case "greet":
        return this.#greet(request);
      case "hear":
        return this.#hear(request);
      case "clock":
        this.#ahead[request.replica] = request.ahead;
        this.#script?.clock(kEpoch + request.ahead);
        return {};
      case "script":
        return this.#script.lines(request);
      default:
        return this.#perform(request);
    }
  }

  #hello() {
    const { library, objects, survives, messages = "updates", several = false } = this.#adapter;
    const types = Object.entries(objects).map(([name, { type, survives: own }]) =>
      own ? [name, type, own] : [name, type],
    );
    return { library, objects: types, survives, messages, several };
  }

  // What was before is forgotten.
  // `objects`: by key, if a document has several.
  #begin({ replicas, keys, object, objects, script }) {
    [this.#docs, this.#times, this.#waiting, this.#saved, this.#ahead] = [[], [], [], [], []];
    [this.#links, this.#infos, this.#perhaps] = [new Map(), new Map(), []];
    [this.#number, looks, ahead] = [0, 0, 0];
    const { adapter, url } = { adapter: this.#adapter, url: this.#url };
    const objectOf = Object.fromEntries(keys.map((key) => [key, objects?.[key] ?? object]));
    this.#script = script && new Script({ adapter, url, object, options: { replicas, keys, objectOf } });
    this.#apis = Object.fromEntries(keys.map((key) => [key, this.#adapter.objects[objectOf[key]]]));
    for (const { type } of Object.values(this.#apis))
      if (!kMethods.has(kKinds.get(type))) throw new Error(`the harness has no methods for ${type}`);
    this.#options = { replicas, keys, object, objectOf };
    for (let replica = 0; replica < replicas; ++replica) {
      this.#times.push(0);
      this.#waiting.push(new Map());
      this.#docs.push(this.#open(replica));
    }
    return {};
  }

  // `from`: what the script says of it, if it was saved; `perhaps` is saved with it.
  #open(replica, saved, from, perhaps) {
    for (const link of [...this.#links.keys()])
      if (link.split(" ").includes(String(replica))) this.#links.delete(link);
    this.#perhaps[replica] = new Set(perhaps);
    const time = this.#times[replica]++;
    const doc = this.#adapter.open({ ...this.#options, replica, time, saved });
    this.#script?.opened(replica, time, from);
    this.#adapter.sent(doc); // what makes an empty document is not sent
    return doc;
  }

  #perform({ replica, f, key, value, named, message }) {
    const its = this.#apis[key];
    const method = kMethods.get(kKinds.get(its.type))[f];
    if (!method) throw new Error(`the harness has no method ${f} for ${its.type}`);
    const doc = this.#docs[replica];
    const number = this.#number++;
    const calls = [];
    const api = this.#script ? recorded(its, calls) : its;
    let answer;
    let sent = [];
    const { threw } = this.#attempt(() => {
      const call = () => (answer = method({ api, doc, key, value, number, named }));
      const { together } = this.#adapter;
      if (f === "edit" && together) together(doc, call);
      else call();
      const parts = this.#adapter.sent(doc);
      if (message !== undefined && parts.length > 0) this.#infos.set(message, this.#inspected(parts));
      sent = parts.map(textOf);
      if (f === "mark" && sent.length === 0) answer = kNotDone; // it was so already
    });
    if (this.#script) this.#note({ replica, f, key, value }, calls, answer, sent, threw);
    if (threw) return { type: "fail", threw };
    return sent.length > 0 ? { ...answer, send: sent } : answer;
  }

  // For the script.
  #note({ replica, f, key, value }, calls, answer, sent, threw) {
    if (f === "read" || f === "contains") {
      const api = this.#apis[key];
      const kind = kKinds.get(api.type);
      const printed = kPrinted[kind] ?? ((text) => text);
      const wrap = (text) => (f === "read" ? printed(text) : `${spread(text)}.includes(${JSON.stringify(value)})`);
      // A script reads all of a document.
      const found = kind === "document" && !threw ? api.read(this.#docs[replica], key) : answer?.value;
      this.#script.read(replica, key, wrap, found, threw);
    } else if (threw || answer.type !== "fail") {
      this.#script.updated(replica, calls, sent.length > 0 ? sent : undefined, threw);
    }
  }

  #deliver({ replica, message, value }) {
    const parts = value.map(bytesOf);
    const threw = this.#attempt(() => {
      for (const part of parts) this.#adapter.receive(this.#docs[replica], part);
    });
    this.#script?.delivered(replica, value, threw.threw);
    this.#keep(replica, [[message, this.#inspected(parts)]]);
    return { ...this.#waitingAt([replica]), ...threw };
  }

  // A library that throws has still been given the request: its reads are checked.
  #attempt(call) {
    try {
      call();
      return {};
    } catch (error) {
      return { threw: String(error) };
    }
  }

  #inspected(parts) {
    return parts.map(this.#adapter.inspect ?? ((part) => part));
  }

  // What another replica saved last comes to this one, too.
  #merge({ replica, from }) {
    const { bytes, script, waiting } = this.#saved[from];
    const threw = this.#attempt(() => this.#adapter.merge(this.#docs[replica], bytes));
    this.#script?.merged(replica, script, threw.threw);
    this.#keep(replica, waiting);
    return { ...this.#waitingAt([replica]), ...threw };
  }

  // It begins again from what the library saves without the history.
  #compact(replica) {
    const threw = this.#attempt(() => {
      const bytes = this.#adapter.compact(this.#docs[replica]);
      this.#docs[replica] = this.#open(replica, bytes, { replica, how: "compact" });
    });
    return { ...this.#waitingAt([replica]), ...threw };
  }

  // Two replicas begin an exchange; the first one says something.
  #greet({ replica, from }) {
    const { connect } = this.#adapter.exchange;
    this.#links.set(`${replica} ${from}`, connect(this.#docs[replica]));
    this.#links.set(`${from} ${replica}`, connect(this.#docs[from]));
    return this.#say(replica, from, this.#script?.greeted(replica, from));
  }

  // `event`: of the script.
  #say(replica, peer, event) {
    let said = [];
    const threw = this.#attempt(() => {
      const link = this.#links.get(`${replica} ${peer}`);
      said = [...this.#adapter.exchange.say(this.#docs[replica], link)];
      const scripts = this.#script?.said(event, said);
      link.sent ??= []; // of each message, what waited at its sender, or perhaps did
      const [waiting, perhaps] = [new Map(this.#waiting[replica]), [...(this.#perhaps[replica] ?? [])]];
      link.sent.push(...said.map((_, number) => ({ waiting, perhaps, script: scripts?.[number] })));
    });
    if (event) event.threw ??= threw.threw;
    return { say: said.map(textOf), ...threw };
  }

  // `lacks`: messages that its sender had or kept, and that cupel does not know to be applied here.
  #hear({ replica, from, value, lacks }) {
    const doc = this.#docs[replica];
    const { hear, carriesState } = this.#adapter.exchange;
    const bytes = bytesOf(value);
    const threw = this.#attempt(() => hear(doc, this.#links.get(`${replica} ${from}`), bytes));
    const sender = this.#links.get(`${from} ${replica}`).sent.shift();
    const event = this.#script?.heard(replica, from, sender.script, threw.threw);
    const carries = carriesState?.(bytes) ? "state" : "nothing";
    this.#keep(replica, carries === "state" ? sender.waiting : []);
    if (!carriesState) this.#mayHave(replica, [...lacks, ...sender.perhaps]);
    return { ...this.#waitingAt([replica]), carries, ...this.#say(replica, from, event), ...threw };
  }

  // Both bring each other up to date. What waits at one may have come to the other with the rest.
  #sync({ replica, from }) {
    const threw = this.#attempt(() => this.#adapter.sync(this.#docs[replica], this.#docs[from]));
    this.#script?.synced(replica, from, threw.threw);
    const both = [...this.#waiting[replica], ...this.#waiting[from]];
    const perhaps = [replica, from].flatMap((one) => [...(this.#perhaps[one] ?? [])]);
    for (const one of [replica, from]) this.#mayHave(one, perhaps);
    this.#keep(replica, both);
    this.#keep(from, both);
    return { ...this.#waitingAt([replica, from]), ...threw };
  }

  // The replica begins again from what it, or another one, has saved; if the library throws, it
  // goes on as it was.
  #load(replica, from) {
    const threw = this.#attempt(() => {
      const bytes = this.#adapter.save(this.#docs[from]);
      this.#docs[replica] = this.#open(replica, bytes, { replica: from }, this.#perhaps[from]);
    });
    if (threw.threw) return { ...this.#waitingAt([replica]), ...threw };
    const waiting = [...this.#waiting[from]];
    this.#waiting[replica] = new Map();
    this.#keep(replica, waiting);
    return this.#waitingAt([replica]);
  }

  #save(replica) {
    const threw = this.#attempt(() => {
      const bytes = this.#adapter.save(this.#docs[replica]);
      const script = this.#script?.saved(replica);
      const perhaps = new Set(this.#perhaps[replica]);
      this.#saved[replica] = { bytes, script, perhaps, waiting: new Map(this.#waiting[replica]) };
    });
    return { ...this.#waitingAt([replica]), ...threw };
  }

  // The replica begins again from what it saved last, or from nothing.
  #crash(replica) {
    const { bytes, script, perhaps, waiting = [] } = this.#saved[replica] ?? {};
    const threw = this.#attempt(() => {
      this.#docs[replica] = this.#open(replica, bytes, script, perhaps);
    });
    if (threw.threw) return threw;
    this.#waiting[replica] = new Map();
    this.#keep(replica, waiting);
    return this.#waitingAt([replica]);
  }

  // The messages, and those that waited before, as far as they wait now.
  #keep(replica, messages) {
    const doc = this.#docs[replica];
    const { isApplied } = this.#adapter;
    const all = new Map([...this.#waiting[replica], ...messages]);
    const isHere = (parts) => !isApplied || parts.every((part) => isApplied(doc, part));
    this.#waiting[replica] = new Map([...all].filter(([, parts]) => !isHere(parts)));
  }

  #waitingAt(replicas) {
    const answer = {};
    for (const replica of replicas) {
      const waiting = [...this.#waiting[replica].keys()];
      if (waiting.length > 0) (answer.waiting ??= {})[replica] = waiting;
      const applied = this.#broughtTo(replica);
      if (applied.length > 0) (answer.applied ??= {})[replica] = applied;
    }
    return answer;
  }

  #mayHave(replica, numbers) {
    const known = [...numbers].filter((number) => this.#infos.has(number));
    this.#perhaps[replica] = new Set([...(this.#perhaps[replica] ?? []), ...known]);
  }

  // Of what an exchange may have brought, those that are applied now.
  #broughtTo(replica) {
    const perhaps = this.#perhaps[replica] ?? new Set();
    const isHere = (info) => this.#adapter.isApplied(this.#docs[replica], info);
    const here = [...perhaps].filter((number) => this.#infos.get(number).every(isHere));
    for (const number of here) perhaps.delete(number);
    return here;
  }
}

async function main(path) {
  const { href } = pathToFileURL(resolve(path));
  const adapter = await import(href);
  const harness = new Harness(adapter.default ?? adapter, href);
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(JSON.stringify({ type: "ok", ...harness.answer(JSON.parse(line)) }) + "\n");
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv[2]);
}
