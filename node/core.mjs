// cupel over its core in WebAssembly: the functions of include/cupel/cupel.h as classes. Knows
// neither files nor pages: index.mjs has it for Node, web/playground for a browser.
import { looksShort, parseShort } from "./short.mjs";

// Why a call failed, in a sentence.
export class CupelError extends Error {
  constructor(message) {
    super(message);
    this.name = "CupelError";
  }
}

const VERDICTS = ["satisfied", "violated", "unknown", "refused"];
// Of the structs of cupel.h, with pointers of four bytes.
const VALUE_BYTES = 24;
const OPTIONS_BYTES = 56;

// `wasm`: what the function of cupel.mjs resolves to. The module is for one thread.
export function bind(wasm) {
  const { FS } = wasm;
  const view = () => new DataView(wasm.HEAPU8.buffer);
  const string = (pointer) => (pointer === 0 ? null : wasm.UTF8ToString(pointer));
  const failed = () => new CupelError(string(wasm._cupel_error()));
  const well = (status) => {
    if (status !== 0) throw failed();
  };
  const handle = (pointer) => {
    if (pointer === 0) throw failed();
    return pointer;
  };

  // Memory of the module for one call: `body` gets a function that allocates.
  function borrowed(body) {
    const taken = [];
    const take = (bytes) => {
      const pointer = wasm._malloc(Math.max(1, bytes));
      if (pointer === 0) throw new CupelError("out of memory");
      taken.push(pointer);
      return pointer;
    };
    try {
      return body(take);
    } finally {
      taken.forEach((pointer) => wasm._free(pointer));
    }
  }
  // A string that ends with a zero; 0 for null and undefined.
  function cString(take, text) {
    if (text === null || text === undefined) return 0;
    if (String(text).includes("\0")) throw new CupelError("a name holds the character U+0000");
    const bytes = new TextEncoder().encode(String(text));
    const pointer = take(bytes.length + 1);
    wasm.HEAPU8.set(bytes, pointer);
    wasm.HEAPU8[pointer + bytes.length] = 0;
    return pointer;
  }
  function putValue(take, at, value) {
    const put = (kind, integer, text, size) => {
      view().setInt32(at, kind, true);
      view().setBigInt64(at + 8, integer, true);
      view().setUint32(at + 16, text, true);
      view().setUint32(at + 20, size, true);
    };
    if (value === null) return put(0, 0n, 0, 0);
    if (typeof value === "string") {
      const bytes = new TextEncoder().encode(value);
      const text = take(bytes.length);
      wasm.HEAPU8.set(bytes, text);
      return put(2, 0n, text, bytes.length);
    }
    if (typeof value === "number" && Number.isSafeInteger(value)) return put(1, BigInt(value), 0, 0);
    if (typeof value === "bigint") {
      if (BigInt.asIntN(64, value) !== value) {
        throw new CupelError(`${value} has more than 64 bits; give it as a string`);
      }
      return put(1, value, 0, 0);
    }
    throw new TypeError(`a key or a value is null, a string, a bigint or an integer that a number holds exactly; found ${String(value)}`);
  }
  function value(take, one) {
    const at = take(VALUE_BYTES);
    putValue(take, at, one);
    return at;
  }
  const nanoseconds = (time) => {
    if (typeof time === "bigint") return time;
    if (Number.isSafeInteger(time)) return BigInt(time);
    throw new TypeError(`a time is a bigint or an integer that a number holds exactly; found ${String(time)}`);
  };

  const forgotten = new FinalizationRegistry((once) => once());
  // Apart from owned(): what the registry holds must not reach the owner, not even by its scope.
  function runningOnce(free) {
    let done = false;
    return () => {
      if (!done) free();
      done = true;
    };
  }
  // `free` runs once: by the function that is returned or when `owner` is no longer reachable.
  function owned(owner, free) {
    const once = runningOnce(free), token = {};
    forgotten.register(owner, once, token);
    return release(once, token);
  }
  function release(once, token) {
    return () => {
      forgotten.unregister(token);
      once();
    };
  }

  // The open transaction of a History; its functions return it, to chain.
  class Transaction {
    #history;
    #number;
    constructor(history, number) {
      this.#history = history;
      this.#number = number;
    }
    #call(name, ...values) {
      const builder = this.#history._open(this.#number);
      borrowed((take) => well(wasm[`_cupel_builder_${name}`](builder, ...values.map((one) => (one instanceof Raw ? one.value : value(take, one))))));
      return this;
    }
    read(key, seen) { return this.#call("read", key, seen); }
    write(key, written) { return this.#call("write", key, written); }
    erase(key) { return this.#call("erase", key); }
    compareAndSet(key, expected, desired, succeeded) {
      return this.#call("compare_and_set", key, expected, desired, new Raw(succeeded ? 1 : 0));
    }
    append(key, element) { return this.#call("append", key, element); }
    readList(key, elements) {
      const builder = this.#history._open(this.#number);
      const listed = [...elements];
      borrowed((take) => {
        const list = take(VALUE_BYTES * listed.length);
        listed.forEach((one, i) => putValue(take, list + VALUE_BYTES * i, one));
        well(wasm._cupel_builder_read_list(builder, value(take, key), list, listed.length));
      });
      return this;
    }
    label(label) { return this.#call("label", new Raw(label)); }
    times(invokedNs, completedNs) {
      return this.#call("times", new Raw(nanoseconds(invokedNs)), new Raw(nanoseconds(completedNs)));
    }
    aborted() { return this.#call("aborted"); }
    indeterminate() { return this.#call("indeterminate"); }
  }
  // An argument that is no cupel_value.
  class Raw {
    constructor(raw) { this.value = raw; }
  }

  // What the clients of a database saw: built here transaction by transaction, or read.
  class History {
    #builder = 0;
    #built = 0;
    #number = 0;
    #free = [];

    constructor() {
      this.#builder = handle(wasm._cupel_builder_new());
      const builder = this.#builder;
      this.#free.push(owned(this, () => wasm._cupel_builder_free(builder)));
    }
    static _of(built, release = () => {}) {
      const history = new History();
      history.#take(built, release);
      return history;
    }
    #take(built, release) {
      this.#built = built;
      this.#free.push(owned(this, () => {
        wasm._cupel_history_free(built);
        release();
      }));
    }
    _open(number) {
      if (this.#built !== 0) throw new CupelError("the history is complete: it was read, or a check has begun");
      if (number !== this.#number) throw new CupelError("the transaction is complete: the next one has begun");
      return this.#builder;
    }
    _handle() {
      if (this.#free.length === 0) throw new CupelError("the history was given back with free()");
      if (this.#built === 0) this.#take(handle(wasm._cupel_builder_build(this.#builder)), () => {});
      return this.#built;
    }

    // Begins the next transaction of a session; the one before it ends here.
    transaction(session) {
      const builder = this._open(this.#number);
      borrowed((take) => well(wasm._cupel_builder_transaction(builder, cString(take, session))));
      this.#number += 1;
      return new Transaction(this, this.#number);
    }
    // What every key holds at first. Default: null.
    initial(initial) {
      borrowed((take) => well(wasm._cupel_builder_initial(this._open(this.#number), value(take, initial))));
      return this;
    }
    initialOf(key, initial) {
      borrowed((take) => well(wasm._cupel_builder_initial_of(this._open(this.#number), value(take, key), value(take, initial))));
      return this;
    }
    get transactionCount() { return Number(wasm._cupel_history_transactions(this._handle())); }
    // How the operations were read: "registers with compare-and-set, 3 keys".
    get kind() { return string(wasm._cupel_history_kind(this._handle())); }
    get sessionCount() { return Number(wasm._cupel_history_sessions(this._handle())); }
    get operationCount() { return Number(wasm._cupel_history_operations(this._handle())); }

    // The bytes of a file: "jepsen" (JSON lines), "plume", "awdit", "dbcop" or "cupel".
    bytes(format = "jepsen") {
      const path = "/tmp/cupel-written";
      const built = this._handle();
      if (borrowed((take) => wasm._cupel_history_write(built, cString(take, path), cString(take, format))) !== 0) {
        throw new CupelError(failed().message.replace(`${path}: `, ""));
      }
      const bytes = FS.readFile(path);
      FS.unlink(path);
      return bytes;
    }
    // Gives its memory back now and not some time after the last use.
    free() {
      this.#free.splice(0).forEach((free) => free());
      this.#builder = 0;
    }
  }

  // Files are in the module's own memory, under the names that the user gave. A history is
  // explained with what its file holds besides, so the file stays as long.
  const users = new Map();  // by path
  function absolute(name) {
    const parts = [];
    for (const part of (name.startsWith("/") ? name : `${FS.cwd()}/${name}`).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }
  function keep(name, bytes) {
    const path = absolute(name);
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")) || "/");
    FS.writeFile(path, bytes);
    users.set(path, (users.get(path) ?? 0) + 1);
    return () => {
      users.set(path, users.get(path) - 1);
      if (users.get(path) > 0) return;
      users.delete(path);
      FS.unlink(path);
    };
  }
  // A file, or a folder: `files` is its bytes, or a Map from the paths in the folder to bytes.
  function readFiles(name, files, format, { kind, ignore = [] } = {}) {
    const releases = [];
    const release = () => releases.splice(0).forEach((one) => one());
    try {
      if (files instanceof Map) {
        FS.mkdirTree(absolute(name));
        for (const [path, bytes] of files) releases.push(keep(`${name}/${path}`, bytes));
      } else {
        releases.push(keep(name, files));
      }
      const words = typeof ignore === "string" ? ignore : [...ignore].join(",");
      const read = borrowed((take) => handle(wasm._cupel_history_read_as(
        cString(take, name), cString(take, format), cString(take, kind), cString(take, words))));
      return History._of(read, release);
    } catch (error) {
      release();
      if (error instanceof FS.ErrnoError) throw new CupelError(`${name}: cannot be kept in memory (error ${error.errno})`);
      throw error;
    }
  }

  // A history as text or bytes, in any format of a single file or the short one ("s1: w(x,1) | s2: r(x,1)").
  function parse(content, { name = "history", format, kind, ignore } = {}) {
    const isText = typeof content === "string";
    if (format === "short" || (format === undefined && isText && looksShort(content))) {
      const text = isText ? content : new TextDecoder().decode(content);
      return parseShort(text, () => new History(), (place, message) => {
        throw new CupelError(`${name}:${place.line}:${place.column}: ${message}`);
      });
    }
    return readFiles(name, isText ? new TextEncoder().encode(content) : content, format, { kind, ignore });
  }

  // What was found about a history. As a string, it says what `cupel check` prints.
  class Answer {
    #handle;
    #history;
    #free;
    constructor(answer, history) {
      this.#handle = answer;
      this.#history = history;  // lives as long
      this.#free = owned(this, () => wasm._cupel_answer_free(answer));
      this.durable = VERDICTS[wasm._cupel_answer_durable(answer)];
      this.durableDetail = string(wasm._cupel_answer_durable_detail(answer));
      this.levels = [];
      for (let i = 0; i < wasm._cupel_answer_level_count(answer); i += 1) {
        const anomalies = [];
        for (let j = 0; j < wasm._cupel_answer_anomaly_count(answer, i); j += 1) {
          anomalies.push({
            name: string(wasm._cupel_answer_anomaly(answer, i, j)),
            explanation: string(wasm._cupel_answer_explanation(answer, i, j)),
          });
        }
        this.levels.push({
          name: string(wasm._cupel_answer_level(answer, i)),
          verdict: VERDICTS[wasm._cupel_answer_verdict(answer, i)],
          detail: string(wasm._cupel_answer_detail(answer, i)),
          anomalies,
        });
      }
    }
    #open() {
      if (this.#handle === 0) throw new CupelError("the answer was given back with free()");
      return this.#handle;
    }
    level(name) {
      const known = borrowed((take) => string(handle(wasm._cupel_level_name(cString(take, name ?? "")))));
      const found = this.levels.find((one) => one.name === known);
      if (found === undefined) throw new CupelError(`found \`${name}\`, expected a level that was checked`);
      return found;
    }
    get satisfied() {
      return this.durable === "satisfied" && this.levels.every((one) => one.verdict === "satisfied");
    }
    get violated() { return this.levels.filter((one) => one.verdict === "violated"); }
    // The object of `cupel check --json`.
    get json() { return JSON.parse(string(wasm._cupel_answer_json(this.#open()))); }
    // The first violation as a picture.
    svg() {
      const picture = wasm._cupel_answer_svg(this.#open());
      return string(handle(picture));
    }
    // The evidence as `cupel check --certificate` writes it, if the check kept it.
    certificate() { return string(handle(wasm._cupel_answer_certificate(this.#open()))); }
    toString() { return string(wasm._cupel_answer_text(this.#open())); }
    free() {
      this.#free();
      this.#handle = 0;
    }
  }

  function check(history, options = {}) {
    const known = ["levels", "timeout", "clockDriftNs", "shrinkSeconds", "historyAnalysis", "evidence"];
    const unknown = Object.keys(options).find((name) => !known.includes(name));
    if (unknown !== undefined) throw new CupelError(`found the option \`${unknown}\`, expected one of ${known.join(", ")}`);
    const { levels, timeout = 0, clockDriftNs = 0, shrinkSeconds = -1, historyAnalysis = false, evidence = false } = options;
    return borrowed((take) => {
      const at = take(OPTIONS_BYTES);
      wasm._cupel_options_init(at, OPTIONS_BYTES);
      const names = typeof levels === "string" ? levels : levels?.join(",");
      const asked = names ? cString(take, names) : 0;
      const now = view();
      now.setUint32(at + 4, asked, true);
      now.setBigInt64(at + 8, nanoseconds(clockDriftNs), true);
      now.setFloat64(at + 16, timeout, true);
      now.setUint32(at + 32, 1, true);  // thread
      now.setFloat64(at + 40, shrinkSeconds, true);
      now.setInt32(at + 48, historyAnalysis ? 1 : 0, true);
      now.setInt32(at + 52, evidence ? 1 : 0, true);
      return new Answer(handle(wasm._cupel_check(history._handle(), at)), history);
    });
  }

  // Checks a certificate against the history with code that shares nothing with check(): the object of
  // `cupel verify --json`.
  function verify(history, certificate, { clockDriftNs = 0 } = {}) {
    return borrowed((take) => JSON.parse(string(handle(
      wasm._cupel_verify(history._handle(), cString(take, certificate), nanoseconds(clockDriftNs))))));
  }

  // A page about a level or an anomaly, by any of its names.
  const describe = (name) => borrowed((take) => string(handle(wasm._cupel_describe(cString(take, name)))));
  const version = string(wasm._cupel_version());

  return { CupelError, History, Answer, check, verify, parse, readFiles, describe, version };
}
