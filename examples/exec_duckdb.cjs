// DuckDB for `cupel run --db 'exec:node exec_duckdb.cjs FILE PACKAGES'`, where PACKAGES is a folder in which
// `npm install @duckdb/node-api@VERSION` was run; see docs/reference/drivers/exec-clients.md.
//
// All sessions are connections of one instance, in one thread of JavaScript: DuckDB runs each statement
// in a thread of its own. A second instance on the same file, even in the same process, is not allowed.
'use strict'
process.env.UV_THREADPOOL_SIZE = '32'
const {main, locate} = require('./exec_threads.cjs')

let shared = null

async function open(file, name) {
  if (name && name !== 'snapshot') throw new Error(`isolation ${name}: DuckDB has only one, snapshot`)
  const {path} = locate('@duckdb/node-api')
  const {DuckDBInstance, version} = require(path)
  shared = shared || DuckDBInstance.create(file)
  const connection = await (await shared).connect()
  const run = text => connection.run(text)
  return {
    about: {database: 'DuckDB', version: version(), isolation: 'snapshot'},
    begin: () => run('BEGIN TRANSACTION'),
    commit: () => run('COMMIT'),
    rollback: () => run('ROLLBACK'),
    all: async text => (await connection.runAndReadAll(text)).getRowObjects(),
    run,
    close: () => connection.closeSync ? connection.closeSync() : connection.close(),  // 1.1 has the second
    // A commit that conflicts is undone as a whole. After any other error the log may have it.
    refused: message => /^TransactionContext Error: .*(conflict|constraint)/is.test(message),
  }
}

main(__filename, open, {threads: false})
