// cupel for Node: which isolation levels a recorded database history satisfies, and why others are
// violated. README.md has an example, index.d.ts the types.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

import { bind } from "./core.mjs";
import load from "./cupel.mjs";

const wasm = await load({ wasmBinary: readFileSync(new URL("./cupel.wasm", import.meta.url)) });
const core = bind(wasm);
// Relative names mean the same in the module's memory as outside.
wasm.FS.mkdirTree(process.cwd());
wasm.FS.chdir(process.cwd());

export const { CupelError, History, Answer, check, verify, parse, describe, version } = core;

// A history file, or a folder for the formats that use one; the format is recognised by content.
// `options`: kind and ignore, for op maps.
export function read(file, format, options) {
  const name = String(file);
  try {
    if (!statSync(name).isDirectory()) return core.readFiles(name, readFileSync(name), format, options);
    const files = new Map();
    for (const entry of readdirSync(name, { recursive: true, withFileTypes: true })) {
      const whole = path.join(entry.parentPath ?? entry.path, entry.name);
      if (statSync(whole).isFile()) files.set(path.relative(name, whole), readFileSync(whole));
    }
    return core.readFiles(name, files, format, options);
  } catch (error) {
    if (error.code === undefined || error instanceof CupelError) throw error;
    throw new CupelError(`${name}: cannot open: ${error.code === "ENOENT" ? "No such file or directory" : error.message}`);
  }
}

// Writes a history as "jepsen" (JSON lines), "plume", "awdit", "dbcop" or "cupel".
export function write(history, file, format) {
  writeFileSync(file, history.bytes(format));
}
