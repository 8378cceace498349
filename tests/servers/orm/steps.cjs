// Runs the steps of an ORM's script, as steps.py does. A step is an async function; its line is
// `ok NAME` or `failed NAME: WHY`. NODE_PATH is the folder of the packages.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');

const server = {
  host: process.env.PGHOST,
  port: Number(process.env.PGPORT),
  user: process.env.PGUSER,
  database: process.env.PGDATABASE,
};

async function run(name, steps, close) {
  const about = path.join(process.env.NODE_PATH, name, 'package.json');
  console.log(`version ${name} ${JSON.parse(fs.readFileSync(about)).version}`);
  let failed = 0;
  for (const [step, action] of Object.entries(steps)) {
    const line = step.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    try {
      await action();
      console.log(`ok ${line}`);
    } catch (error) {
      ++failed;
      console.log(`failed ${line}: ${error.message.replace(/\s+/g, ' ')}`);
      console.error(error);
    }
  }
  await close();
  process.exitCode = failed > 0 ? 1 : 0;
}

// What the action must throw: the driver's error, which ORMs wrap.
async function failure(action) {
  try {
    await action();
  } catch (error) {
    return error.parent ?? error.driverError ?? error.cause ?? error;
  }
  throw new Error('there was no error');
}

module.exports = { run, failure, server, expect: assert.deepStrictEqual };
