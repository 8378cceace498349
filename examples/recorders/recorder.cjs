// recorder.cjs: record what your own application saw, as a history that `cupel check` reads.
//
// Copy this file; it needs Node 14 and nothing else. `require` it, or `import` it from a module. Call
// it from the data layer, once for each transaction begun, each value read or written, and each outcome:
//
//   const {Recorder} = require('./recorder.cjs')
//   const recorder = new Recorder('history.jsonl', {initial: 0})  // every key holds 0 at first
//   const session = recorder.session()                            // one for each connection
//   session.begin()
//   session.read('account:7', 100)                                // what the database returned
//   session.write('account:7', recorder.uniqueId())
//   session.committing()                                          // just before COMMIT is sent
//   session.committed()                                           // it was acknowledged
//   recorder.close()
//
// Write values that are unique for each key: then every read shows which transaction it saw. Say
// committed() only if the database acknowledged the commit, and aborted() only if it certainly did not
// commit. Everything else (time-out, lost connection) is indeterminate().
//
// Keys and values are safe integers, BigInts, strings, booleans, null, or arrays of them. 1 and '1'
// differ: pg returns a bigint as a string, so convert what you read to what you write. Times are
// monotonic, in nanoseconds. A recorder belongs to one thread. Each line is written when it is known,
// so a crash of the program loses nothing. If the file cannot be written, close() throws; the
// application itself is not disturbed. A call that throws recorded nothing: the file ends there, because
// no verdict about the rest holds, and close() throws, too.
'use strict'
const fs = require('fs')

// JSON.stringify knows no BigInt, turns undefined into null or nothing, and rounds large numbers.
function json(value) {
  if (value === null || typeof value === 'boolean' || typeof value === 'string')
    return JSON.stringify(value)
  if (typeof value === 'bigint') return value.toString()
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? '0' : String(value)
  if (Array.isArray(value)) return '[' + value.map(json).join(',') + ']'
  throw new TypeError(`cannot record ${String(value)}: expected a safe integer, a BigInt, a string, ` +
                      'a boolean, null or an array of them')
}

// The file. `metadata`: {database: 'PostgreSQL', isolation: 'repeatable read'}.
class Recorder {
  constructor(path, {initial = null, metadata = {}} = {}) {
    this._initial = json(initial)
    this._file = fs.openSync(path, 'w')
    this._start = process.hrtime.bigint()
    this._lines = this._ids = this._processes = 0
    this._error = null
    const pairs = Object.entries(metadata).map(([name, value]) => [name, String(value)])
    if (pairs.length) this._nemesis('cupel.metadata', json(pairs))
    if (initial !== null) this._nemesis('cupel.initial', `[${this._initial},[]]`)
  }

  session() { return new Session(this) }

  // What one key holds before the recording. Before its first use.
  initial(key, value) {
    this._nemesis('cupel.initial',
                  this._endingAtAnError(() => `[${this._initial},[[${json(key)},${json(value)}]]]`))
  }

  // No other write of this recorder has it; from 1.
  uniqueId() { return ++this._ids }

  nowNs() { return process.hrtime.bigint() - this._start }

  // Throws what ended the recording, as when a line could not be written.
  close() {
    if (this._file !== null) fs.closeSync(this._file)
    this._file = null
    if (this._error) throw this._error
  }

  _endingAtAnError(body) {
    try {
      return body()
    } catch (error) {
      this._error = this._error || error
      throw error
    }
  }

  _nemesis(f, value) { this._write(`{"type":"info","process":"nemesis","f":"${f}","value":${value}`) }

  // `line`: without its index and closing brace.
  _write(line) {
    if (this._file === null || this._error) return
    let rest = Buffer.from(`${line},"index":${this._lines++}}\n`)
    try {
      while (rest.length) rest = rest.subarray(fs.writeSync(this._file, rest))
    } catch (error) {
      this._error = error
    }
  }
}

// What one connection saw. recorder.session() makes it.
class Session {
  constructor(recorder) {
    this._recorder = recorder
    this._process = recorder._processes++
    this._open = false
    this._node = null
  }

  // The server that the transactions from here on run on; explanations show it.
  on(node) { this._node = String(node) }

  begin() {
    if (this._open) this.indeterminate('the next transaction began')
    this._open = true
    this._invoked = this._retold = false
    this._asked = []
    this._seen = []
    this._begun = this._recorder.nowNs()
  }

  // `value`: what the database returned; of a list, all its elements.
  read(key, value) { this._operation(['r', key, null], ['r', key, value]) }
  write(key, value) { this._operation(['w', key, value]) }
  insert(key, value) { this._operation(['insert', key, value]) }
  delete(key) { this._operation(['delete', key, null]) }
  append(key, element) { this._operation(['append', key, element]) }
  // `rows`: all [key, value] that the database returned, in its order.
  readRange(low, high, rows) {
    this._operation(['range', [low, high], null], ['range', [low, high], rows])
  }
  compareAndSet(key, expected, desired, succeeded) {
    const asked = ['cas', key, [expected, desired]]
    this._operation(asked, succeeded ? asked : [...asked, false])
  }

  // If the program crashes after this, the transaction is indeterminate in the file.
  // A database may run a transaction in one piece. Then report its operations with reads of null, call
  // this, and report them again with what they returned.
  committing() {
    if (!this._open || this._invoked) return
    this._invoked = true
    this._line('invoke', this._asked, this._begun)
  }
  committed() { this._complete('ok') }
  aborted(why) { this._complete('fail', why) }
  // The session goes on as a new process: the transaction may still be under way.
  indeterminate(why) {
    if (!this._open) return
    this._complete('info', why)
    this._process = this._recorder._processes++
  }

  _operation(asked, seen = asked) {
    const texts = this._recorder._endingAtAnError(() => {
      if (!this._open) throw new Error(`${asked[0]} outside of a transaction; call begin() first`)
      return [json(asked), json(seen)]
    })
    if (this._invoked && !this._retold) {
      this._retold = true
      this._seen = []
    }
    if (!this._invoked) this._asked.push(texts[0])
    this._seen.push(texts[1])
  }

  _complete(type, why) {
    if (!this._open) return
    this.committing()
    this._line(type, this._seen, this._recorder.nowNs(), why)
    this._open = false
  }

  _line(type, operations, time, why) {
    const node = this._node === null ? '' : `,"node":${json(this._node)}`
    const error = why === undefined || why === null ? '' : `,"error":${json(String(why))}`
    this._recorder._write(`{"type":"${type}","process":${this._process},"f":"txn",` +
                          `"value":[${operations.join(',')}],"time":${time}${node}${error}`)
  }
}

module.exports = {Recorder, Session}
