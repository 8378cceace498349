// Turso Database for `cupel run --db 'exec:node exec_turso.cjs FILE PACKAGES [PRAGMA…]'`, where PACKAGES is a
// folder in which `npm install @tursodatabase/database@VERSION` was run, and a PRAGMA is a setting of each
// connection, as in mvcc_gc_threshold=1; see docs/reference/drivers/exec-clients.md.
//
// The isolation `concurrent` uses BEGIN CONCURRENT in a database in MVCC mode; `immediate` and
// `deferred` are the other transactions in that mode. With wal- before them, the mode is the WAL's.
'use strict'
const {main, locate} = require('./exec_threads.cjs')

const LEVELS = ['concurrent', 'immediate', 'deferred', 'wal-immediate', 'wal-deferred']

async function open(file, name) {
  const isolation = name || 'concurrent'
  if (!LEVELS.includes(isolation)) throw new Error(`isolation ${name}: one of ${LEVELS.join(', ')}`)
  const {path, version} = locate('@tursodatabase/database')
  const {connect} = await import(path)
  const db = await connect(file)
  const all = async text => await (await db.prepare(text)).all()
  const quietly = text => all(text).catch(() => null)
  const mvcc = !isolation.startsWith('wal-')
  if (mvcc) {  // 0.4 knows the mode by its first name only
    const rows = (await quietly(`PRAGMA journal_mode = 'mvcc'`)) ||
      (await quietly(`PRAGMA journal_mode = 'experimental_mvcc'`))
    if (!rows || !/mvcc/.test(JSON.stringify(rows))) throw new Error(`Turso ${version} has no MVCC mode`)
  }
  await quietly('PRAGMA busy_timeout = 1000')
  const pragmas = process.argv.slice(4).filter(word => word !== '--serve')
  for (const pragma of pragmas) await all(`PRAGMA ${pragma}`)
  const settings = [`journal_mode=${mvcc ? 'mvcc' : 'wal'}`, ...pragmas]
  const mode = isolation.replace('wal-', '').toUpperCase()
  return {
    about: {database: 'Turso Database', version, isolation, detail: settings.join(', ')},
    begin: async () => db.exec(`BEGIN ${mode}`),
    commit: async () => db.exec('COMMIT'),
    rollback: async () => db.exec('ROLLBACK'),
    all,
    run: async text => db.exec(text),
    close: () => db.close(),
    // "returns a SQLITE_BUSY (write-write conflict) error if the transaction attempted to modify a row
    // that was concurrently modified" (docs/manual.md). A commit that found the lock taken stays open.
    refused: (message, undone) => /conflict/i.test(message) || (undone && /busy|locked|snapshot/i.test(message)),
  }
}

main(__filename, open, {threads: true})
