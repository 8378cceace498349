// The package as it is installed: imported by its name, compared with what the program prints.
//
//   CUPEL_BINARY=build/release/cupel node --test FOLDER, where FOLDER/node_modules has the package
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import * as cupel from "cupel";

const binary = process.env.CUPEL_BINARY;
const source = process.env.CUPEL_SOURCE;
assert.ok(binary && source, "CUPEL_BINARY and CUPEL_SOURCE name the program and the repository");

const work = mkdtempSync(path.join(tmpdir(), "cupel-node-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

function lostUpdate(last = 3) {
  const history = new cupel.History();
  history.transaction("alice").write("x", 1);
  history.transaction("bob").read("x", 1).write("x", 2);
  history.transaction("carol").read("x", 1).write("x", last);
  return history;
}
// Seconds differ from run to run.
const timeless = (text) => text.replace(/\d+\.\d+ s/g, "_ s");
function program(...args) {
  const ran = spawnSync(binary, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.ok([0, 1, 2, 3].includes(ran.status), `cupel ${args.join(" ")}: ${ran.stderr}`);
  return ran;
}
const withSentence = (sentence) => (error) => {
  assert.ok(error instanceof cupel.CupelError, String(error));
  assert.match(error.message, sentence);
  return true;
};

test("a file that is read as the user says", () => {
  const file = path.join(work, "kinds.jsonl");
  writeFileSync(file, '{"type":"ok","process":0,"f":"cas","value":["x",[null,1]]}\n{"type":"ok","process":0,"f":"nap"}\n');
  assert.throws(() => cupel.read(file), withSentence(/f=nap/));
  const history = cupel.read(file, undefined, { kind: "registers", ignore: ["nap"] });
  assert.equal(history.kind, "registers with compare-and-set, 1 key");
  assert.deepEqual(cupel.check(history).json.ignored, [{ f: "nap", op_maps: 1 }]);
  assert.throws(() => cupel.read(file, undefined, { kind: "locks" }), withSentence(/expected transactions, registers/));
  const parsed = cupel.parse(readFileSync(file), { ignore: "nap" });
  assert.equal(parsed.kind, history.kind);
});

test("a history that is built", () => {
  const history = lostUpdate();
  const answer = cupel.check(history);
  assert.equal(history.transactionCount, 3);
  assert.equal(history.sessionCount, 3);
  assert.equal(history.operationCount, 5);
  assert.equal(answer.satisfied, false);
  assert.equal(answer.level("prefix").verdict, "satisfied");
  const level = answer.level("snapshot-isolation");
  assert.equal(level.verdict, "violated");
  assert.equal(level.anomalies[0].name, "lost-update");
  assert.match(level.anomalies[0].explanation, /^An update was lost\. T1 and T2 both read x = 1/);
  assert.deepEqual(answer.json.weakest_violated, ["snapshot-isolation"]);
  assert.match(answer.level("linearizable").detail, /needs the times/);
  assert.equal(answer.level("SI"), level);
  assert.throws(() => answer.level("sreializable"), /found `sreializable`, expected a level, such as/);
  assert.throws(() => cupel.check(lostUpdate(), { levels: "si" }).level("ser"), /a level that was checked/);
});

test("the same words as the program, from one file", () => {
  const file = path.join(work, "lost-update.jsonl");
  cupel.write(lostUpdate(), file);
  const answer = cupel.check(cupel.read(file), { historyAnalysis: true });
  assert.equal(timeless(String(answer)), timeless(program("check", file).stdout));
  const certificate = path.join(work, "certificate.json");
  const evident = cupel.check(cupel.read(file), { evidence: true });
  writeFileSync(certificate, evident.certificate());
  assert.equal(program("verify", file, certificate).status, 0);
  program("check", "--certificate", certificate, file);
  assert.equal(cupel.verify(cupel.read(file), readFileSync(certificate, "utf8")).valid, true);
});

test("every kind of operation, outcome and value", () => {
  const history = new cupel.History().initial(0).initialOf("z", "nine");
  history.transaction("a").write("x", 1n).erase("y").label(7).times(0, 10n);
  history.transaction("a").compareAndSet("x", 1, 2, true).times(20, 30);
  history.transaction("b").read("z", "nine").read("y", null).append("l", -5).times(12, 14);
  history.transaction("b").readList("l", [-5]).times(40, 50);
  history.transaction("c").write("x", 9).aborted().times(1, 2);
  history.transaction("c").write("x", 10).indeterminate().times(3, 4);
  assert.equal(history.transactionCount, 6);
  assert.ok(cupel.check(history, { levels: ["strict-serializable"] }).satisfied);
  assert.ok(!cupel.check(cupel.parse("init=0 a: cas(x,1,2)")).satisfied);
});

test("errors are sentences", () => {
  const nowhere = path.join(work, "nowhere.txt");
  assert.throws(() => cupel.read(nowhere), withSentence(/nowhere\.txt: cannot open: No such file or directory/));
  assert.equal(`cupel: ${nowhere}: cannot open: No such file or directory\n`, program("check", nowhere).stderr);
  assert.throws(() => cupel.parse("neither this nor that"), withSentence(/expected a history in the format/));
  assert.throws(() => cupel.check(lostUpdate(), { levels: "serialisable" }), withSentence(/expected a level/));
  assert.throws(() => cupel.check(lostUpdate(), { level: "si" }), withSentence(/the option `level`, expected one of levels/));
  assert.throws(() => cupel.describe("nothing"), withSentence(/neither a level nor an anomaly/));
  assert.throws(() => cupel.check(lostUpdate()).certificate(), withSentence(/no evidence/));
  assert.throws(() => cupel.verify(lostUpdate(), "{}"), withSentence(/./));
  assert.throws(() => cupel.check(cupel.parse("s1: w(x,1)")).svg(), withSentence(/nothing is violated/));
  assert.throws(() => lostUpdate().transaction("s").read("x", 1.5), TypeError);
  assert.throws(() => lostUpdate().transaction("s").read("x", true), TypeError);
  assert.throws(() => lostUpdate().transaction("s").read("x", 2n ** 63n), withSentence(/more than 64 bits/));
  assert.throws(() => lostUpdate().bytes("plume"), withSentence(/^T0 \(session alice.*write jepsen or cupel instead$/));
  const both = new cupel.History();
  both.transaction("s").write("x", 1).append("x", 2);
  assert.throws(() => cupel.check(both), withSentence(/x/));
  const complete = lostUpdate();
  cupel.check(complete);
  assert.throws(() => complete.transaction("s"), withSentence(/complete/));
  complete.free();
  assert.throws(() => cupel.check(complete), withSentence(/given back/));
});

test("a certificate proves its own history and no other", () => {
  const history = lostUpdate();
  const certificate = cupel.check(history, { evidence: true }).certificate();
  const verified = cupel.verify(history, certificate);
  assert.equal(verified.valid, true);
  assert.ok(verified.answers.some((one) => one.level === "snapshot-isolation" && one.verdict === "violated"));
  const other = cupel.verify(lostUpdate(4), certificate);
  assert.equal(other.valid, false);
  assert.match(other.reason, /another history/);
  const forged = JSON.parse(certificate);
  forged.answers.find((one) => one.level === "causal").verdict = "violated";
  assert.equal(cupel.verify(history, JSON.stringify(forged)).valid, false);
});

test("the picture", () => {
  const svg = cupel.check(lostUpdate()).svg();
  assert.match(svg, /^<svg [^>]*role="img"/);
  assert.match(svg, /class="arrow rw [a-z]+ cycle"/);
  for (const name of ["T1", "T2"]) assert.ok(svg.includes(`>${name}</text>`), name);
});

test("the short notation, and where it is wrong", () => {
  const skew = cupel.check(cupel.parse("init=0 s1: r(x,0) r(y,0) w(x,1) | s2: r(x,0) r(y,0) w(y,1)"));
  assert.deepEqual(skew.json.weakest_violated, ["serializable"]);
  for (const [text, sentence] of [
    ["s1: w(x,1) |\n s2: r(x 1)", /^history:2:10: found `1`, expected `,`$/],
    ["s1: w(x,1", /^history:1:10: found the end, expected `\)`$/],
    ["s1: w(x,1) foo(2)", /^history:1:12: found `foo`, expected an operation/],
    ["s1: w(x,1)\ns2: r(x,?)", /^history:2:9: found `\?`, expected a number, a word or nil/],
    ["s1: w(x,99999999999999999999)", /^history:1:9: found 99999999999999999999, expected a number of at most 64 bits$/],
    ["s1: w(x,1) @5-", /expected the time of the end$/],
  ]) {
    assert.throws(() => cupel.parse(text), withSentence(sentence));
  }
  // Text that only looks like it.
  assert.equal(cupel.parse("r(1,2,0,7)\nw(1,3,0,7)\n").transactionCount, 1);
  assert.equal(cupel.parse("# two sessions\n\na: w(x,1)\n b : r(x,1) ; ()\na: r(x,1)\n").transactionCount, 4);
});

test("a relative name is the same in words and on disk", () => {
  const file = path.join(work, "relative.jsonl");
  cupel.write(lostUpdate(), file);
  const relative = path.relative(process.cwd(), file);
  assert.match(String(cupel.check(cupel.read(relative))), new RegExp(`^${relative.replace(/[.]/g, "[.]")}: strongest`));
  assert.equal(cupel.check(cupel.read(`./${relative}`)).level("snapshot-isolation").verdict, "violated");
});

test("a history that nobody has is given back", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  let collected = 0;
  const registry = new FinalizationRegistry(() => { collected += 1; });
  (() => {
    for (let i = 0; i < 100; ++i) registry.register(lostUpdate(), i);
  })();
  for (let i = 0; i < 50 && collected === 0; ++i) {
    collect();
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.ok(collected > 50, `${collected} of 100`);
});

test("a negative clock drift is refused", () => {
  assert.throws(() => cupel.check(lostUpdate(), { clockDriftNs: -1 }), /clock drift/);
});

test("folders and compressed files are read", () => {
  const viper = readdirSync(path.join(source, "tests/formats"), { recursive: true }).find((name) => /viper/.test(name) && /json\.?log|\.log/.test(name));
  if (viper !== undefined) {
    const folder = path.dirname(path.join(source, "tests/formats", viper));
    assert.equal(timeless(String(cupel.check(cupel.read(folder), { historyAnalysis: true }))), timeless(program("check", folder).stdout));
  }
  const packed = path.join(source, "tests/golden/linearizable/violated/knossos-mutex-etcd.edn.zst");
  assert.equal(cupel.check(cupel.read(packed), { levels: "linearizable" }).level("linearizable").verdict, "violated");
});

// Every recorded history of tests/golden: verdicts, anomalies and explanations, in 32 bits and 64.
const golden = path.join(source, "tests/golden");
const recorded = readdirSync(golden, { recursive: true }).map(String)
  .filter((name) => /\/(satisfied|violated)\//.test(name) && /\.\w+$/.test(name)).sort();
assert.ok(recorded.length > 50);
for (const name of recorded) {
  test(`as the program: ${name}`, () => {
    const file = path.join(golden, name);
    const [level, verdict] = name.split("/");  // the folders say what is known
    const history = cupel.read(file);
    const ours = cupel.check(history, { levels: level, shrinkSeconds: 0, evidence: true });
    assert.equal(ours.level(level).verdict, verdict);
    assert.equal(cupel.verify(history, ours.certificate()).valid, true);
    // The program lists causes, one anomaly each, for as long as it has time; in a long history two
    // searches end at different anomalies.
    if (verdict === "satisfied" || history.transactionCount > 500) return;
    const theirs = JSON.parse(program("check", "--json", "-l", level, "--shrink-time", "0", "--threads", "1", file).stdout);
    assert.equal(theirs.levels[0].verdict, verdict);
    const said = (theirs.levels[0].anomalies ?? []).map((one) => `${one.name}: ${one.explanation}`);
    assert.ok(ours.level(level).anomalies.some((one) => said.includes(`${one.name}: ${one.explanation}`)), said.join("\n"));
    ours.free();
    history.free();
  });
}
