// workload.cjs URL HISTORY ISOLATION: four connections of pg to PostgreSQL, recorded.
//
// In the first round all read key 0 before any of them writes it. Below snapshot isolation this loses
// an update. `workload.cjs script HISTORY` records operations of every kind, without a database.
// `workload.cjs refused HISTORY MISTAKE` makes a mistake, goes on, and says how the recording ended.
'use strict'
const {Recorder} = require(process.env.RECORDER)

const CLIENTS = 4, ROUNDS = 40, KEYS = 3

function script(path) {
  const recorder = new Recorder(path, {initial: 0, metadata: {database: 'none'}})
  recorder.initial('list', [])
  const a = recorder.session(), b = recorder.session()
  a.begin()
  a.read('x', 0)
  a.write('x', recorder.uniqueId())
  a.append('list', 1)
  a.committed()
  b.on('n1')
  b.begin()
  b.read('list', [1])
  b.insert('y "\\\n\u00e9', null)
  b.delete(2n)
  b.readRange(1, 9, [[3, 'three'], [4, null]])
  b.committing()
  b.aborted('serialization failure')
  a.begin()
  a.read('x', null)
  a.compareAndSet('x', 1, 2, true)
  a.committing()
  a.read('x', 1)
  a.compareAndSet('x', 1, 2, false)
  a.indeterminate('time-out')
  a.begin()
  a.begin()
  a.committed()
  recorder.close()
}

function refused(path, mistake) {
  const recorder = new Recorder(path)
  const a = recorder.session(), b = recorder.session()
  a.begin()
  a.write('x', 1)
  a.committed()
  const thrownBy = body => {
    try {
      body()
    } catch (error) {
      return error
    }
    throw new Error('nothing was thrown')
  }
  thrownBy(() => {
    if (mistake === 'initial') return recorder.initial('y', 1.5)
    if (mistake !== 'outside') a.begin()
    if (mistake === 'rows') a.readRange(1, 2, [[1, undefined]])
    else a.write('x', 1.5)
  })
  a.committed()
  b.begin()
  b.write('z', 3)
  b.committed()
  console.log(thrownBy(() => recorder.close()).message)
}

// Lets all go on when the last has come.
function barrier(count) {
  let open
  const opened = new Promise(resolve => { open = resolve })
  return () => { if (--count === 0) open(); return opened }
}

async function transaction(client, session, recorder, isolation, reads, writes, between) {
  session.begin()
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`)
    const {rows} = await client.query('SELECT v FROM recorded WHERE k = $1', [reads])
    session.read(reads, Number(rows[0].v))
    await between()
    const value = recorder.uniqueId()
    session.write(writes, value)
    await client.query('UPDATE recorded SET v = $1 WHERE k = $2', [value, writes])
    session.committing()
    await client.query('COMMIT')
    session.committed()
  } catch (error) {
    if (!error.severity) {  // not the server's words: the connection broke
      session.indeterminate(error.message)
      throw error
    }
    await client.query('ROLLBACK')
    session.aborted(error.code)
  }
}

async function run(url, path, isolation) {
  const {Client} = require('pg')
  const connect = async () => {
    const client = new Client({connectionString: url})
    await client.connect()
    return client
  }
  const setup = await connect()
  await setup.query('DROP TABLE IF EXISTS recorded')
  await setup.query('CREATE TABLE recorded (k int PRIMARY KEY, v bigint)')
  await setup.query('INSERT INTO recorded SELECT k, 0 FROM generate_series(0, $1::int) k', [KEYS - 1])
  await setup.end()
  const recorder = new Recorder(path, {initial: 0, metadata: {database: 'PostgreSQL', isolation}})
  const together = barrier(CLIENTS)
  const key = () => Math.floor(Math.random() * KEYS)
  await Promise.all(Array.from({length: CLIENTS}, async () => {
    const client = await connect()
    const session = recorder.session()
    await transaction(client, session, recorder, isolation, 0, 0, together)
    for (let i = 1; i < ROUNDS; ++i)
      await transaction(client, session, recorder, isolation, key(), key(), () => {})
    await client.end()
  }))
  recorder.close()
}

if (process.argv[2] === 'script') script(process.argv[3])
else if (process.argv[2] === 'refused') refused(...process.argv.slice(3))
else run(...process.argv.slice(2)).catch(error => { console.error(error); process.exit(1) })
