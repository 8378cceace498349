// Script: a stand-alone program that does with a library what some requests of `cupel crdt run` did
// (`--reproduce`). The harness notes what happened here; lines() puts it together.
//
// An adapter may say how its library is called, in its export `script`: functions that get names of
// variables and literals, and return source text (docs/reference/crdt-adapters.md#scripts). Where it says
// nothing, the script calls the functions of the adapter.
const literal = JSON.stringify;
// Whether a document that was read has containers: a script then prints their ids, too.
export const hasContainers = (entries) => Object.values(entries ?? {}).some((value) => typeof value === "object");

const kSurroundings = /^\s+|;?\s*$/g;

// The names of the variables of replicas.
const nameOf = (replica) => (replica < 26 ? String.fromCharCode(97 + replica) : `r${replica}`);

// Calls of the adapter's own functions.
function callsOfAdapter(url, objectOf) {
  const part = (key) => `adapter.objects[${literal(objectOf[JSON.parse(key)])}]`;
  const call = (method) => (d, key, ...values) => `${part(key)}.${method}(${[d, key, ...values].join(", ")})`;
  return {
    head: [`import * as adapter from ${literal(url)};`],
    open: ({ saved, ...info }) => {
      const fields = Object.entries(info).map(([name, value]) => `${name}: ${literal(value)}`);
      return `adapter.open({ ${[...fields, ...(saved ? [`saved: ${saved}`] : [])].join(", ")} })`;
    },
    opened: (d) => `adapter.sent(${d})`,
    send: (d, update, m) => [update, m ? `const ${m} = adapter.sent(${d})` : `adapter.sent(${d})`],
    receive: (d, m) => `for (const part of ${m}) adapter.receive(${d}, part)`,
    save: (d) => `adapter.save(${d})`,
    compact: (d) => `adapter.compact(${d})`,
    merge: (d, saved) => `adapter.merge(${d}, ${saved})`,
    sync: (a, b) => `adapter.sync(${a}, ${b})`,
    exchange: {
      connect: (d) => `adapter.exchange.connect(${d})`,
      say: (d, link, said) => {
        const names = said.map(({ name }) => name).join(", ");
        return `${names ? `const [${names}] = ` : ""}adapter.exchange.say(${d}, ${link})`;
      },
      hear: (d, link, { name }) => `adapter.exchange.hear(${d}, ${link}, ${name})`,
    },
    calls: new Proxy({}, { get: (_, method) => (method === "read" ? (d, key) => call(method)(d, key) : call(method)) }),
  };
}

export class Script {
  #calls;
  #options; // of open()
  #events = []; // in their order, each with what it needs to write its lines
  #missing; // what a script has no lines for
  #links = new Map(); // of exchanges: the variable of the state, by "replica peer"
  #connected = 0;
  #messages = new Map(); // the bytes of a message -> the event that made it

  constructor({ adapter, url, object, options }) {
    this.#options = { ...options, object };
    this.#calls = adapter.script?.(this.#options) ?? callsOfAdapter(url, options.objectOf);
  }

  opened(replica, time, saved) {
    this.#events.push({ kind: "open", replica, time, saved });
  }
  // What was called, as [method, key, …values]; `threw`, if the library did.
  updated(replica, calls, message, threw) {
    const event = { kind: "update", replica, calls, threw };
    if (message) this.#messages.set(literal(message), event);
    this.#events.push(event);
  }
  // `wrap`: the source text of what is printed, of that of the read.
  read(replica, key, wrap, value, threw) {
    this.#events.push({ kind: "read", replica, key, wrap, value, threw });
  }
  delivered(replica, message, threw) {
    const made = this.#messages.get(literal(message));
    made.used = true;
    this.#events.push({ kind: "deliver", replica, made, threw });
  }
  synced(replica, other, threw) {
    this.#events.push({ kind: "sync", replica, other, threw });
  }
  merged(replica, saved, threw) {
    this.#events.push({ kind: "merge", replica, saved, threw });
  }
  greeted(replica, other) {
    if (!this.#calls.exchange) this.#missing = "exchanges by the library's protocol";
    const links = [1, 2].map(() => `link${++this.#connected}`); // of the states of both
    this.#links.set(`${replica} ${other}`, links[0]).set(`${other} ${replica}`, links[1]);
    const event = { kind: "greet", replica, other, links, link: links[0], said: [] };
    this.#events.push(event);
    return event;
  }
  heard(replica, from, heard, threw) {
    const event = { kind: "hear", replica, link: this.#links.get(`${replica} ${from}`), heard, threw, said: [] };
    this.#events.push(event);
    return event;
  }
  said(event, messages) {
    event?.said.push(...messages.map((bytes) => ({ bytes })));
    return event?.said;
  }
  saved(replica, threw) {
    const event = { kind: "save", replica, threw };
    this.#events.push(event);
    return event;
  }
  clock(milliseconds) {
    this.#events.push({ kind: "clock", milliseconds });
  }

  // The lines, and what the program prints: JSON, a line each read; and of what its last line throws
  // what stands on standard error. `about`: comments at its top; `wrong`: what stands beside the
  // last read.
  lines({ about, wrong }) {
    if (this.#missing) return { type: "fail", why: `a script has no lines for ${this.#missing}` };
    const body = [];
    const prints = [];
    let throws;
    const declared = new Set();
    let number = 0;
    const last = this.#events.findLast(({ kind, threw }) => kind === "read" || threw);
    for (const event of this.#events) {
      if (event.used) event.name = `m${++number}`;
      for (const message of event.said ?? []) message.name = `s${++number}`;
      if (event.kind === "save") event.name = `saved${++number}`;
      if (event.saved && !event.saved.name) event.isLoaded = event.saved.name = `saved${++number}`;
      const lines = this.#linesOf(event, declared).map((line) => line.replace(kSurroundings, ""));
      body.push(...lines.map((line) => (/[;}]$/.test(line) ? line : `${line};`)));
      const comment = (text) => (body[body.length - 1] += ` // ${text}`);
      if (event.threw) {
        [throws] = event.threw.split("\n");
        comment(`throws: ${throws}`);
        break;
      }
      if (event.kind === "read") {
        prints.push(literal(event.value));
        comment(event === last && wrong ? `${prints.at(-1)}: ${wrong}` : prints.at(-1));
      }
    }
    const text = body.join("\n");
    const helpers = Object.entries(this.#calls.helpers ?? {});
    const used = helpers.filter(([name]) => new RegExp(`(?<![.\\w])${name}\\(`).test(text));
    const head = [...(this.#calls.head ?? []), ...used.flatMap(([, lines]) => lines)];
    return { lines: [...about.map((line) => `// ${line}`), ...head, "", ...body], prints, throws };
  }

  #linesOf(event, declared) {
    const { kind, replica, calls, made } = event;
    const d = nameOf(replica);
    const script = this.#calls;
    const many = (lines) => (Array.isArray(lines) ? lines : [lines]);
    switch (kind) {
      case "open": {
        const info = { ...this.#options, replica, time: event.time };
        const lines = [];
        const saved = event.saved?.name;
        if (event.isLoaded) {
          const how = script[event.saved.how ?? "save"];
          lines.push(`const ${saved} = ${how(nameOf(event.saved.replica))}`);
        }
        const begin = declared.has(d) ? "" : "let ";
        declared.add(d);
        lines.push(`${begin}${d} = ${script.open(script.load ? info : { ...info, saved })}`);
        if (saved && script.load) lines.push(...many(script.load(d, saved)));
        if (script.opened) lines.push(...many(script.opened(d)));
        return lines;
      }
      case "update": {
        const texts = calls.map(([method, ...values]) => script.calls[method](d, ...values.map(literal)));
        const last = texts.length - 1;
        return texts.flatMap((text, i) => many(script.send(d, text, i === last ? event.name : undefined)));
      }
      case "read": {
        const text = script.calls.read(d, literal(event.key), event.value);
        return [`console.log(JSON.stringify(${event.wrap(text)}))`];
      }
      case "deliver":
        return many(script.receive(d, made.name));
      case "sync":
        return many(script.sync(d, nameOf(event.other)));
      case "greet": {
        const { connect, say } = script.exchange;
        const both = [d, nameOf(event.other)];
        const states = connect ? event.links.map((link, i) => `let ${link} = ${connect(both[i])}`) : [];
        return [...states, ...many(say(d, event.link, event.said))];
      }
      case "hear": {
        const { hear, say } = script.exchange;
        const { link, heard, said } = event;
        const lines = many(hear(d, link, heard));
        return event.threw ? lines : [...lines, ...many(say(d, link, said, heard))];
      }
      case "merge":
        return many(script.merge(d, event.saved.name));
      case "save":
        return [`const ${event.name} = ${script.save(d)}`];
      default:
        return [`Date.now = () => ${event.milliseconds}`];
    }
  }
}
