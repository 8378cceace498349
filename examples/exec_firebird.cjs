// Firebird for `cupel run --db 'exec:node exec_firebird.cjs PACKAGES PORT DATABASE PASSWORD'`, where PACKAGES is
// a folder in which `npm install node-firebird@VERSION` was run; see docs/reference/drivers/exec-clients.md.
//
// The isolation `snapshot` is Firebird's CONCURRENCY, `table-stability` its CONSISTENCY, and
// `read-committed` has RECORD VERSION.
'use strict'
const {alone} = require('./exec_threads.cjs')

const LEVELS = {snapshot: [2], 'table-stability': [1], 'read-committed': [15, 17]}

async function open(name) {
  const isolation = name || 'snapshot'
  if (!LEVELS[isolation]) throw new Error(`isolation ${name}: one of ${Object.keys(LEVELS).join(', ')}`)
  const [packages, port, database, password] = process.argv.slice(2)
  const firebird = require(require.resolve('node-firebird', {paths: [packages]}))
  const later = start => new Promise((good, bad) => start((error, result) => error ? bad(error) : good(result)))
  const db = await later(done => firebird.attachOrCreate(
    {host: '127.0.0.1', port: Number(port), database, user: 'SYSDBA', password, lowercase_keys: true}, done))
  const version = `SELECT rdb$get_context('SYSTEM', 'ENGINE_VERSION') AS v FROM rdb$database`
  let transaction = null
  const all = text => later(done => (transaction || db).query(text, [], done))
  const end = how => {
    const ended = transaction
    transaction = null
    return later(done => ended[how](done))
  }
  return {
    about: {database: 'Firebird', version: (await all(version))[0].v, isolation},
    text: 'VARCHAR(8000)',
    shorter: 'SUBSTRING(v FROM 1 FOR CHAR_LENGTH(v) - 1)',
    begin: async () => {
      transaction = await later(done => db.startTransaction({isolation: LEVELS[isolation], wait: true}, done))
    },
    all,
    run: all,
    commit: () => end('commit'),
    rollback: () => end('rollback'),
    close: () => later(done => db.detach(done)),
    refused: message => /deadlock|update conflicts/i.test(message),
  }
}

if (process.argv.length !== 6) {
  console.error('usage: exec_firebird.cjs PACKAGES PORT DATABASE PASSWORD')
  process.exit(2)
}
alone(open)
