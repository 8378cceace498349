// Runs a database that lives inside one process for `cupel run --db exec:…`: exec_turso.cjs and
// exec_duckdb.cjs use it; docs/reference/drivers/exec-clients.md has the commands.
//
// cupel starts one client per session, but an embedded database serves the threads of one process. So
// the first client starts a server in the background, with a connection (and a thread) per session, and
// every client only passes lines through a Unix socket beside the database. The server ends by itself
// a few seconds after its last client.
'use strict'
const {spawn} = require('child_process')
const fs = require('fs')
const net = require('net')
const readline = require('readline')
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads')

const IDLE_MS = 3000
const START_MS = 8000

function hello() {
  const {CUPEL_SESSION: session = '', CUPEL_TABLE: table = '', CUPEL_ISOLATION: isolation = ''} = process.env
  return {session, table, isolation}
}

// The client: passes its input to the server, and the server's answers back.
function client(program, file) {
  const begin = Date.now()
  let starting = false
  const connect = () => {
    const socket = net.connect(file + '.sock')
    socket.on('connect', () => {
      socket.write(JSON.stringify(hello()) + '\n')
      process.stdin.pipe(socket)
      socket.pipe(process.stdout)
      socket.on('close', () => process.exit(0))
    })
    socket.on('error', error => {
      if (!['ENOENT', 'ECONNREFUSED'].includes(error.code) || Date.now() - begin > START_MS) {
        console.error(`${program}: ${file}.sock: ${error.message}`)
        process.exit(1)
      }
      if (!starting) {
        spawn(process.execPath, [program, ...process.argv.slice(2), '--serve'],
          {detached: true, stdio: ['ignore', 'ignore', 'inherit']}).unref()
      }
      starting = true
      setTimeout(connect, 50)
    })
  }
  connect()
}

// A connection of the server: the first line says which session it is, the others are transactions. The
// session has a thread of its own, or none if the database makes its own threads.
function accept(program, socket, open) {
  let send = null
  readline.createInterface({input: socket}).on('line', line => {
    if (send) return send(line)
    const first = JSON.parse(line)
    const reply = answer => socket.write(answer + '\n')
    const end = error => { if (error) console.error(`${program}: ${error.stack}`); socket.destroy() }
    if (open) {
      const queue = new Queue()
      send = text => queue.put(text)
      session(open, first, () => queue.take(), reply).then(end, end)
    } else {
      const worker = new Worker(program, {argv: process.argv.slice(2), workerData: first})
      worker.on('message', reply).on('error', end).on('exit', () => end())
      send = text => worker.postMessage(text)
    }
  }).on('close', () => send && send(null))
  socket.on('error', () => {})
}

class Queue {
  items = []
  wake = () => {}
  put(item) { this.items.push(item); this.wake() }
  async take() {
    while (this.items.length === 0) await new Promise(resolve => { this.wake = resolve })
    return this.items.shift()
  }
}

function server(program, file, open) {
  let sessions = 0
  let idle
  const rest = () => { idle = setTimeout(() => process.exit(0), IDLE_MS) }
  const listener = net.createServer(socket => {
    sessions++
    clearTimeout(idle)
    socket.on('close', () => { if (--sessions === 0) rest() })
    accept(program, socket, open)
  })
  listener.on('error', () => {  // another server, or the socket of one that was killed
    net.connect(file + '.sock')
      .on('connect', () => process.exit(0))
      .on('error', () => { fs.rmSync(file + '.sock', {force: true}); listener.listen(file + '.sock') })
  })
  process.on('exit', () => { if (listener.listening) fs.rmSync(file + '.sock', {force: true}) })
  listener.listen(file + '.sock')
  rest()
}

// One operation. A value is its JSON text in the column v, and an append edits that text in the database.
async function apply(sql, table, [f, k, v]) {
  const read = async () => {
    const rows = await sql.all(`SELECT v FROM ${table} WHERE k = ${k}`)
    return rows.length ? JSON.parse(rows[0].v) : null
  }
  const write = async (update, insert) => {
    const rows = await sql.all(`SELECT k FROM ${table} WHERE k = ${k}`)
    await sql.run(rows.length ? `UPDATE ${table} SET v = ${update} WHERE k = ${k}`
      : `INSERT INTO ${table} VALUES (${k}, '${insert}')`)
  }
  switch (f) {
    case 'r': return [f, k, await read()]
    case 'range': {
      const rows = await sql.all(`SELECT k, v FROM ${table} WHERE k BETWEEN ${k[0]} AND ${k[1]} ORDER BY k`)
      return [f, k, rows.map(row => [Number(row.k), JSON.parse(row.v)])]
    }
    case 'cas':
      if (await read() !== v[0]) return [f, k, v, false]
      await write(`'${v[1]}'`, v[1])
      break
    case 'w': await write(`'${v}'`, v); break
    case 'append': {
      const shorter = sql.shorter || 'substr(v, 1, length(v) - 1)'
      await write(`${shorter} || ',${v}]'`, `[${v}]`)
      break
    }
    case 'insert': await sql.run(`INSERT INTO ${table} VALUES (${k}, '${v}')`); break
    case 'delete': await sql.run(`DELETE FROM ${table} WHERE k = ${k}`); break
    default: throw new Error(`constraint: unknown operation ${f}`)
  }
  return [f, k, v]
}

// A whole transaction. Without a COMMIT nothing can be committed. An error of COMMIT is certain only
// if the database documents it as a refusal, which `refused` decides.
async function transact(sql, table, operations) {
  let value
  try {
    await sql.begin()
    value = []
    for (const operation of operations) value.push(await apply(sql, table, operation))
  } catch (error) {
    await sql.rollback().catch(() => {})
    return {type: 'fail', error: error.message}
  }
  try {
    await sql.commit()
    return {type: 'ok', value}
  } catch (error) {
    const undone = await sql.rollback().then(() => true, () => false)
    return {type: sql.refused(error.message, undone) ? 'fail' : 'info', error: error.message}
  }
}

async function drop(sql, table) {
  try {
    await sql.run(`DROP TABLE ${table}`)
  } catch (error) {
    if (!/no such table|does not exist/i.test(error.message)) throw error
  }
}

// One session: a connection, and its transactions until the client ends.
async function session(open, {session, table: named, isolation}, next, reply) {
  const table = named || 'kv'
  const sql = await open(isolation === 'unspecified' ? '' : isolation)
  if (['setup', 'clean'].includes(session)) await drop(sql, table)
  if (session === 'setup') {
    await sql.run(`CREATE TABLE ${table} (k INTEGER NOT NULL PRIMARY KEY, v ${sql.text || 'TEXT'})`)
  }
  for (let line = await next(); line !== null; line = await next()) {
    const {value} = JSON.parse(line)
    const answer = value.length ? await transact(sql, table, value) : {type: 'ok', value: [], ...sql.about}
    reply(JSON.stringify(answer))
  }
  await sql.close()
}

function thread(open) {
  const queue = new Queue()
  parentPort.on('message', line => queue.put(line))
  session(open, workerData, () => queue.take(), answer => parentPort.postMessage(answer))
    .then(() => process.exit(0))
}

// A session without a server of ours, for a database that has its own.
function alone(open) {
  const queue = new Queue()
  readline.createInterface({input: process.stdin}).on('line', line => queue.put(line))
    .on('close', () => queue.put(null))
  session(open, hello(), () => queue.take(), answer => process.stdout.write(answer + '\n'))
    .then(() => process.exit(0))
}

// Runs what this process or thread is: a client, the server, or a session of it. `open(file, isolation)`
// gives a connection: begin(), all(SQL) → rows, run(SQL), commit(), rollback(), close(),
// refused(message of COMMIT's error, whether ROLLBACK succeeded), about {database, version, isolation}, and
// `text` and `shorter` where the SQL differs from SQLite's.
function main(program, open, {threads}) {
  const file = process.argv[2]
  if (!file || file.startsWith('-')) {
    console.error(`usage: ${program} FILE [PACKAGES]; PACKAGES is the folder with node_modules`)
    process.exit(2)
  }
  const connect = isolation => open(file, isolation)
  if (!isMainThread) thread(connect)
  else if (process.argv.includes('--serve')) server(program, file, threads ? null : connect)
  else client(program, file)
}

// A package of the folder that the command names, or of the current one.
function locate(name) {
  const folder = process.argv[3] && process.argv[3] !== '--serve' ? process.argv[3] : process.cwd()
  const path = require.resolve(name, {paths: [folder]})
  let root = path
  while (!fs.existsSync(root + '/package.json')) root = require('path').dirname(root)
  return {path, version: JSON.parse(fs.readFileSync(root + '/package.json')).version}
}

module.exports = {alone, main, locate}
