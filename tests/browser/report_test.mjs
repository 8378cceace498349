// What a user does with a report, done in a browser: opens it from disk, opens the
// evidence of a step, follows an arrow, searches, jumps, walks the timeline by keys,
// turns it dark, prints it. A page that prints an error on its console, or asks for anything
// but itself, fails.
//
//   node report_test.mjs --cupel BIN --work DIR --chromium BIN [--screenshots DIR]
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { flaws } from "./accessibility.mjs";

const options = {};
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];
const { chromium } = createRequire(path.resolve(options.work, "x.js"))("playwright-core");

const golden = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../golden");
const work = path.resolve(options.work);
mkdirSync(work, { recursive: true });

// ---- the reports

// The recorded histories, under the names they have where they come from.
function unpacked(file, name) {
  const target = path.join(work, name);
  const from = path.join(golden, file);
  if (file.endsWith(".zst")) execFileSync("zstd", ["-dqf", from, "-o", target]);
  else writeFileSync(target, readFileSync(from));
  return name;
}

function report(name, history, exit, more = []) {
  const folder = path.join(work, `report-${name}`);
  rmSync(folder, { recursive: true, force: true });
  const ran = spawnSync(options.cupel, ["check", ...more, "--report", folder, history], { cwd: work, encoding: "utf8" });
  assert.equal(ran.status, exit, `cupel check ${history}: ${ran.stdout}${ran.stderr}`);
  assert.ok(existsSync(path.join(folder, "index.html")));
  return pathToFileURL(path.join(folder, "index.html")).href;
}

const galera = report("galera", unpacked("strong-session-snapshot-isolation/violated/polysi-galera.txt", "galera.txt"), 1);
const skew = report("skew", unpacked("strong-session-serializable/violated/postgresql-repeatable-read-rw.jsonl.zst",
  "pg-repeatable-read-rw.jsonl"), 1);
const dgraph = report("dgraph", unpacked("prefix/violated/polysi-dgraph.bincode.zst", "dgraph.bincode"), 1);
writeFileSync(path.join(work, "nasty.jsonl"), [
  ["</script><script>document.title='run'</script><img src=x onerror=document.title='run'>", 1],
  ["</script><script>document.title='run'</script><img src=x onerror=document.title='run'>", 2],
].map(([key, value], process) => JSON.stringify({ type: "ok", process, f: "txn", value: [["r", key, null], ["w", key, value]] })).join("\n"));
const nasty = report("nasty", "nasty.jsonl", 1);
execFileSync(options.cupel, ["generate", "--level", "strict-serializable", "--sessions", "8", "--txns", "60", "--seed", "1",
  "-o", "satisfied.jsonl"], { cwd: work });
const satisfied = report("satisfied", "satisfied.jsonl", 0);

// Two nodes, a fault, and a write that both lost.
const lines = [{ type: "info", process: "nemesis", f: "cupel.metadata",
  value: [["database", "D 1"], ["isolation", "serializable"], ["final readers", "8 h:1\n9 h:2"], ["nodes", "0 h:1\n1 h:2"]] },
{ type: "info", process: "nemesis", f: "start-fault", value: "kill: 0", time: 3.2e9 },
{ type: "info", process: "nemesis", f: "stop-fault", value: "kill: 0", time: 4e9 }];
const add = (process, op, from, to, node) => {
  for (const [type, time] of [["invoke", from], ["ok", to]]) lines.push({ type, process, f: "txn", value: [op], time, node });
};
for (let i = 0; i < 120; i += 1) add(i % 2, ["r", 2, null], i * 2e7, i * 2e7 + 1e7, i % 2 === 0 ? "h:1, primary" : "h:2, replica");
add(0, ["w", 1, 5], 2.5e9, 2.6e9, "h:1, primary");
add(0, ["w", 1, 6], 3e9, 3.1e9, "h:1, primary");
add(8, ["r", 1, 5], 9e9, 9.1e9, "h:1");
add(9, ["r", 1, 5], 9e9, 9.1e9, "h:2");
writeFileSync(path.join(work, "nodes.jsonl"), lines.map((line, index) => JSON.stringify({ ...line, index })).join("\n"));
const nodes = report("nodes", "nodes.jsonl", 1);

// Transactions and keys whose names are numbers.
writeFileSync(path.join(work, "numbers.jsonl"), Array.from({ length: 200 }, (_, i) =>
  JSON.stringify({ type: "ok", process: i % 4, f: "txn", value: [["w", [7, 182, 1820][i % 3], i]] })).join("\n"));
const numbers = report("numbers", "numbers.jsonl", 0);

const runPage = path.join(work, "report-run");
rmSync(runPage, { recursive: true, force: true });
const ran = spawnSync(options.cupel, ["run", "--db", "sqlite:run.db", "--txns", "20", "--seed", "1", "--report", "report-run",
  "--overwrite", "-o", "run.jsonl"], { cwd: work, encoding: "utf8" });
assert.equal(ran.status, 0, ran.stdout + ran.stderr);
const run = pathToFileURL(path.join(runPage, "index.html")).href;

// Replicated types: a violation with recorded deliveries, and objects that are satisfied.
function replicated(name, lines, type, exit) {
  writeFileSync(path.join(work, `${name}.jsonl`), lines.map((line) => JSON.stringify(line)).join("\n"));
  const ran = spawnSync(options.cupel, ["crdt", "check", ...type, "--report", `report-${name}`, `${name}.jsonl`], { cwd: work, encoding: "utf8" });
  assert.equal(ran.status, exit, ran.stdout + ran.stderr);
  assert.ok(ran.stdout.endsWith(`  report: report-${name}/index.html\n`), ran.stdout);
  return pathToFileURL(path.join(work, `report-${name}`, "index.html")).href;
}
const lostRemove = replicated("lost-remove", [
  { process: 0, f: "add", value: 1, id: "a" },
  { process: 1, f: "remove", value: 1, id: "r", seen: ["a"] },
  { process: 2, f: "contains", value: [1, true], seen: ["a", "r"] },
], ["--type", "or-set"], 1);
const objects = replicated("objects", [
  { object: "</script>likes", type: "counter" },
  { object: "tags", type: "or-set" },
  { process: 0, object: "</script>likes", f: "inc" },
  { process: 1, object: "</script>likes", f: "read", value: 1 },
  { process: 0, object: "tags", f: "add", value: "x" },
  { process: 1, object: "tags", f: "contains", value: ["x", true] },
], [], 0);

// ---- the browser

// A machine with other work may take long for each step, and no step is about time.
const patience = 180_000;
const browser = await chromium.launch({
  executablePath: options.chromium,
  timeout: patience,
  // Chromium refuses to run as root inside its sandbox, and containers have only root.
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
let failures = 0;
const errors = [];
const contexts = [];

async function open(url, { scheme = "light", width = 1360, height = 900 } = {}) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height }, reducedMotion: "reduce" });
  contexts.push(context);
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(`${url}: ${message.text()}`);
  });
  page.on("pageerror", (error) => errors.push(`${url}: ${error}`));
  page.on("dialog", (dialog) => { errors.push(`${url}: a dialog`); dialog.dismiss(); });
  page.on("request", (request) => {
    if (request.url() !== url) errors.push(`${url}: asked for ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

async function test(name, body) {
  errors.length = 0;
  try {
    await body();
    assert.deepEqual(errors, []);
    console.log(`ok    ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL  ${name}\n      ${String(error.stack || error).replace(/\n/g, "\n      ")}`);
  } finally {
    for (const context of contexts.splice(0)) await context.close();
  }
}

// The timeline is drawn anew once before each picture of the page, so after the second one it is.
const drawn = (page) => page.evaluate(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done));
}));
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const focused = (page, selector) => page.evaluate((s) => document.activeElement?.closest(s) !== null, selector);

await test("every report opens from disk without an error", async () => {
  for (const url of [galera, skew, dgraph, nasty, satisfied]) {
    const page = await open(url);
    assert.ok(await page.locator("h1").isVisible());
    // The timeline is drawn.
    await page.waitForSelector(".lane svg .t");
  }
});

await test("what the final reads found is at the top, and nodes have rows of their own", async () => {
  const page = await open(nodes);
  assert.match(await page.locator("h1").textContent(), /^Acknowledged writes are lost/);
  const finding = page.locator(".finding");
  const row = finding.locator("tbody tr");
  assert.equal(await row.count(), 1);
  for (const text of ["wrote key 1 = 6", "3.100 s", "node 0 (h:1), primary", "0.100 s before kill: 0", "every node holds 5"]) {
    assert.ok((await row.textContent()).includes(text), text);
  }
  const violations = page.locator("#violations");
  assert.ok((await finding.boundingBox()).y < (await violations.boundingBox()).y);
  // The writer can be shown, with its node.
  await row.locator(".txn-link").click();
  assert.match(await page.locator("#inspector").textContent(), /on node 0 \(h:1\), primary/);
  await page.locator("#inspector .close").click();
  // What each node committed: both, and which was the primary.
  const chart = page.locator(".nodes");
  assert.match(await chart.textContent(), /node 0, primary[^]*node 1, replica/);
  const rows = () => page.locator(".lane .row").count();
  await page.locator('[data-do="whole"]').click();
  await drawn(page);
  assert.deepEqual(await page.locator(".lane .node").allTextContents(), ["node 0", "node 1"]);
  const before = await rows();
  await page.locator('[data-do="nodes"]').click();
  assert.equal(await page.locator('[data-do="nodes"]').getAttribute("aria-pressed"), "false");
  await drawn(page);
  assert.equal(await page.locator(".lane .node").count(), 0);
  assert.equal(await rows(), before, "no session was on both nodes");
  const other = await open(satisfied);
  assert.equal(await other.locator(".nodes, [data-do=nodes]").count(), 0);
});

await test("a step shows its evidence, and the picture shows it too", async () => {
  const page = await open(galera);
  const step = page.locator(".steps > li").first();
  const details = step.locator(":scope > details");
  assert.equal(await details.evaluate((e) => e.open), false);
  await details.locator(":scope > summary").click();
  assert.equal(await details.evaluate((e) => e.open), true);
  const evidence = details.locator(":scope > ol > li");
  const count = await evidence.count();
  assert.ok(count >= 1);
  assert.ok(await evidence.first().isVisible());
  const index = await step.getAttribute("data-step");
  const wanted = [index, ...await evidence.evaluateAll((list) => list.map((e) => e.dataset.step))];
  const lit = await page.locator(".arrow.lit").evaluateAll((list) => list.map((e) => e.dataset.arrow));
  assert.deepEqual([...lit].sort(), [...wanted].sort());
  const faint = await page.locator(".arrow:not(.lit)").first().evaluate((e) => Number(getComputedStyle(e).opacity));
  assert.ok(faint < 0.5);
  // By keyboard it closes again.
  await page.mouse.move(0, 0);
  await details.locator(":scope > summary").focus();
  await page.keyboard.press("Enter");
  assert.equal(await details.evaluate((e) => e.open), false);
});

await test("every inferred step of every report can be opened", async () => {
  for (const url of [galera, skew, dgraph]) {
    const page = await open(url);
    const closed = await page.locator(".steps details").count();
    assert.ok(closed > 0);
    await page.evaluate(() => document.querySelectorAll(".steps details").forEach((e) => { e.open = true; }));
    assert.equal(await page.locator(".steps details[open]").count(), closed);
    // Each of a recorded fact, and each inferred one has at least one fact below it.
    const bare = await page.locator(".steps details").evaluateAll((list) =>
      list.filter((e) => e.querySelectorAll(".fact").length === 0).length);
    assert.equal(bare, 0);
  }
});

await test("an arrow of the picture opens its step", async () => {
  const page = await open(skew);
  const inferred = page.locator(".violation .arrow.inferred:not(.cycle)").first();
  const index = await inferred.getAttribute("data-arrow");
  await inferred.locator(".label").click();
  const step = page.locator(`[data-step="${index}"]`).first();
  assert.ok(await step.isVisible());
  assert.equal(await step.locator(":scope > details").evaluate((e) => e.open), true);
});

await test("search finds a transaction", async () => {
  const page = await open(skew);
  await page.keyboard.press("/");
  assert.ok(await focused(page, "#search"));
  const wanted = await page.locator(".violation .box .name").first().textContent();
  await page.keyboard.type(wanted);
  assert.equal(await page.locator("#search").getAttribute("aria-expanded"), "true");
  assert.match(await page.locator("#results [aria-selected=true]").textContent(), new RegExp(`^${wanted} `));
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#inspector h3").textContent(), wanted);
  assert.ok(await page.locator("#inspector li").count() > 0);
  await page.waitForSelector(".lane .t.chosen");
  assert.equal(await page.locator(".box.chosen .name").textContent(), wanted);
  await page.locator("#inspector .close").click();
  assert.equal(await page.locator("#inspector").isVisible(), false);
});

await test("search finds a key and everything done to it", async () => {
  const page = await open(skew);
  await page.keyboard.press("/");
  await page.keyboard.type("key 4");
  await page.locator("#results li", { hasText: "key 4" }).first().click();
  assert.equal(await page.locator("#inspector h3").textContent(), "key 4");
  const lines = await page.locator("#inspector li").allTextContents();
  assert.ok(lines.length > 10);
  for (const line of lines) assert.match(line, /key 4/);
  await page.waitForSelector(".lane .t.hit");
  await page.locator("#inspector li button").first().click();
  assert.match(await page.locator("#inspector h3").textContent(), /^T\d+$/);
  // What is not there is not found.
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.locator("#search").fill("no such thing");
  assert.match(await page.locator("#results").textContent(), /Nothing of that name/);
});

await test("a number is the key of that name before the transaction", async () => {
  const page = await open(numbers);
  await page.keyboard.press("/");
  await page.keyboard.type("182");
  const found = await page.locator("#results li").allTextContents();
  assert.deepEqual(found.map((text) => text.split(/ (?=key$|session)/)[0]), ["key 182", "T182", "key 1820"]);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#inspector h3").textContent(), "key 182");
  // With its T it is the transaction.
  await page.locator("#search").fill("T182");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#inspector h3").textContent(), "T182");
});

await test("n and p go from violation to violation", async () => {
  const page = await open(dgraph);
  const count = await page.locator(".violation").count();
  assert.ok(count >= 2);
  assert.equal(await page.locator("#which").textContent(), `violation 1 of ${count}`);
  await page.keyboard.press("n");
  assert.ok(await focused(page, "#violation-1"));
  await page.keyboard.press("n");
  assert.ok(await focused(page, "#violation-2"));
  assert.equal(await page.locator("#which").textContent(), `violation 2 of ${count}`);
  const box = await page.locator("#violation-2").boundingBox();
  assert.ok(box.y >= 0 && box.y < 200, `it is in view: ${box.y}`);
  // The timeline goes along.
  const marked = await page.locator("#violation-2 .box").count();
  await page.waitForFunction((n) => document.querySelectorAll(".lane .t.marked").length === n, marked);
  await page.keyboard.press("p");
  assert.ok(await focused(page, "#violation-1"));
  await page.locator("#next").click();
  assert.ok(await focused(page, "#violation-2"));
});

await test("the timeline can be walked by keyboard", async () => {
  const page = await open(skew);
  await page.keyboard.press("t");
  assert.ok(await focused(page, ".lane"));
  await page.keyboard.press("Enter");
  const first = await page.locator("#inspector h3").textContent();
  await page.keyboard.press("ArrowLeft");
  const second = await page.locator("#inspector h3").textContent();
  assert.notEqual(first, second);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#inspector h3").textContent(), first);
  await page.keyboard.press("ArrowUp");
  const above = await page.locator("#inspector p").first().textContent();
  assert.match(above, /^session /);
  assert.match(await page.locator("#live").textContent(), /^T\d+, session /);
  // Zooming changes what is seen; 0 shows everything.
  const seen = () => page.locator(".lane .t").count();
  await page.keyboard.press("0");
  await drawn(page);
  const everything = await page.locator(".lane .t, .lane .dense").count();
  for (let i = 0; i < 5; i += 1) await page.keyboard.press("+");
  await drawn(page);
  assert.ok(await seen() < everything);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#inspector").isVisible(), false);
});

await test("boxes of the timeline and of the picture can be clicked", async () => {
  const page = await open(galera);
  await page.locator(".lane .t.marked").first().click();
  assert.match(await page.locator("#inspector h3").textContent(), /^T\d+$/);
  await page.locator(".violation .box").first().focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#inspector h3").textContent(),
    await page.locator(".violation .box .name").first().textContent());
});

await test("light and dark", async () => {
  const page = await open(galera);
  const light = await background(page);
  await page.keyboard.press("d");
  const dark = await background(page);
  assert.notEqual(light, dark);
  await page.locator("#theme").click();
  assert.equal(await background(page), light);
  const other = await open(galera, { scheme: "dark" });
  assert.equal(await background(other), dark);
});

await test("it prints, with everything open, and in light colours", async () => {
  const page = await open(skew, { scheme: "dark" });
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
  writeFileSync(path.join(work, "print.pdf"), pdf);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("details:not([open])").count(), 0);
  assert.equal(await background(page), "rgb(255, 255, 255)");
  assert.equal(await page.locator(".top").isVisible(), false);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.ok(await page.locator("details:not([open])").count() > 0);
});

await test("what a history says is shown and never run", async () => {
  const page = await open(nasty);
  assert.doesNotMatch(await page.title(), /^run/);
  assert.equal(await page.locator("img").count(), 0);
  await page.keyboard.press("/");
  await page.keyboard.type("script");
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#inspector h3").textContent(), /<script>|<\/script>/);
  assert.doesNotMatch(await page.title(), /^run/);
});

await test("names, labels and ids are in order", async () => {
  for (const url of [dgraph, satisfied]) {
    const page = await open(url);
    await page.waitForSelector(".lane svg .t");
    const flaws = await page.evaluate(() => {
      const list = [];
      const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
      if (new Set(ids).size !== ids.length) list.push("an id is there twice");
      for (const e of document.querySelectorAll("button, input, [role=button], [tabindex='0']")) {
        const label = e.labels?.length > 0 || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim();
        if (!label) list.push(`no name: ${e.outerHTML.slice(0, 80)}`);
      }
      for (const attribute of ["aria-labelledby", "aria-controls"]) {
        for (const e of document.querySelectorAll(`[${attribute}]`)) {
          if (!document.getElementById(e.getAttribute(attribute))) list.push(`${attribute} leads nowhere`);
        }
      }
      const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter((e) => !e.closest("dialog, aside")).map((e) => Number(e.tagName[1]));
      levels.forEach((level, i) => { if (i > 0 && level > levels[i - 1] + 1) list.push(`h${levels[i - 1]} is followed by h${level}`); });
      return list;
    });
    assert.deepEqual(flaws, []);
    // The first stop of the tabulator shows where it is.
    await page.keyboard.press("Tab");
    assert.ok(await focused(page, ".skip"));
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(outline, "none");
  }
});

await test("no text is lost or cut on a narrow screen", async () => {
  for (const url of [galera, dgraph, satisfied]) {
    const page = await open(url, { width: 420, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${over} pixels too wide`);
  }
});

await test("no size of the window leads to a negative width", async () => {
  for (const url of [nodes, skew, satisfied]) {
    const page = await open(url);
    await page.waitForSelector(".lane svg .t");
    for (const width of [1360, 700, 390, 200, 90, 40, 800]) {
      await page.setViewportSize({ width, height: 700 });
      await drawn(page);
      const negative = await page.evaluate(() => [...document.querySelectorAll("svg, svg *")].filter((e) =>
        /^-/.test(e.getAttribute("width") ?? "") || /^-/.test(e.getAttribute("height") ?? "") ||
        / -/.test((e.getAttribute("viewBox") ?? "").slice(4))).map((e) => e.outerHTML.slice(0, 120)));
      assert.deepEqual(negative, [], `at ${width} pixels`);
    }
  }
});

await test("faults last as long as they look", async () => {
  const page = await open(nodes);
  await page.waitForSelector(".lane svg .t");
  assert.equal(await page.locator('[data-do="compress"]').getAttribute("aria-pressed"), "false");
  await page.locator('[data-do="whole"]').click();
  await drawn(page);
  // 0.8 s of the 9.1 s that the history takes.
  const bar = (await page.locator(".lane .fault-bar").boundingBox()).width;
  const lane = (await page.locator(".lane svg").boundingBox()).width - 198;
  assert.ok(Math.abs(bar / lane - 0.8 / 9.1) < 0.005, `${bar} of ${lane}`);
  const without = await open(skew);
  assert.notEqual(await without.locator('[data-do="compress"]').getAttribute("aria-pressed"), "false");
});

await test("a picture that is cut says so", async () => {
  const cut = async (url, width) => {
    const page = await open(url, { width, height: 800 });
    return page.evaluate(() => [...document.querySelectorAll(".scroll")].map((frame) =>
      [frame.scrollWidth > frame.clientWidth, frame.previousElementSibling.checkVisibility()]));
  };
  const phone = await cut(skew, 390);
  assert.ok(phone.some(([is]) => is));
  for (const [is, says] of [...phone, ...await cut(skew, 1360), ...await cut(galera, 1360)]) assert.equal(says, is);
  // The table of the final reads keeps its columns, and scrolls.
  const table = await open(nodes, { width: 390, height: 800 });
  const columns = await table.locator(".finding thead th, .finding tbody th, .finding tbody td").evaluateAll((cells) =>
    [...new Set(cells.map((cell) => Math.round(cell.getBoundingClientRect().left)))].length);
  assert.equal(columns, 7);
  assert.ok(await table.locator(".finding .hint").isVisible());
  for (const [width, shown] of [[390, true], [1360, false]]) {
    const page = await open(lostRemove, { width, height: 800 });
    assert.equal(await page.locator("#hint-1").isVisible(), shown, `at ${width} pixels`);
  }
});

await test("a page of replicated types shows deliveries as arrows", async () => {
  const page = await open(lostRemove);
  assert.match(await page.locator("h1").textContent(), /^✗ Violated: lost-remove: /);
  assert.deepEqual(await page.locator(".wide").evaluateAll((list) => list.map((e) => e.querySelectorAll(".box").length)), [3, 3]);
  const arrows = page.locator(".wide svg path[marker-end]");
  assert.ok(await arrows.count() >= 2);
  assert.ok((await page.locator(".wide svg path.arrow title").allTextContents()).includes("add(1) is delivered"));
  assert.match(await page.locator("pre").textContent(), /or-set|add-wins-set\tviolated/);
  const both = await open(objects);
  assert.equal(await both.locator("section .wide svg").count(), 2);
  const ends = await both.evaluate(() => [...document.querySelectorAll("path[marker-end]")].map((arrow) =>
    arrow.closest("svg").querySelector(arrow.getAttribute("marker-end").slice(4, -1)) !== null));
  assert.ok(ends.length >= 2 && ends.every((is) => is), String(ends));
  assert.match(await both.locator("h2").first().textContent(), /<\/script>likes/);
});

await test("every page is accessible, in both colours, on a desk and on a phone", async () => {
  const found = [];
  for (const url of [galera, skew, dgraph, nasty, satisfied, nodes, numbers, run, lostRemove, objects]) {
    for (const settings of [{}, { scheme: "dark", width: 390, height: 844 }]) {
      const page = await open(url, settings);
      for (const flaw of await flaws(page, work)) found.push(`${url}: ${flaw}`);
      await page.evaluate(() => document.querySelectorAll("details").forEach((e) => { e.open = true; }));
      if (await page.locator(".lane .t").count() > 0) {
        await page.locator(".lane").focus();
        await page.keyboard.press("Enter");  // the inspector
      }
      for (const flaw of await flaws(page, work)) found.push(`${url}, opened: ${flaw}`);
    }
  }
  assert.ok(found.length === 0, [...new Set(found)].slice(0, 20).join("\n"));
});

// ---- pictures for the manual

if (options.screenshots) {
  mkdirSync(options.screenshots, { recursive: true });
  const shoot = async (url, name, settings, prepare = async () => {}) => {
    const page = await open(url, settings);
    await page.waitForSelector(".lane svg .t");
    await prepare(page);
    await drawn(page);
    const file = path.join(options.screenshots, `${name}.png`);
    await page.screenshot({ path: file });
    console.log(`${file}: ${statSync(file).size} bytes`);
  };
  await shoot(galera, "report-lost-update", { width: 1280, height: 1290 }, async (page) => {
    await page.locator(".steps summary").first().click();
    await page.mouse.move(0, 0);
  });
  await shoot(skew, "report-write-skew", { width: 1280, height: 1640, scheme: "dark" });
  await shoot(satisfied, "report-satisfied", { width: 1280, height: 1380 });
}

await browser.close();
if (failures > 0) {
  console.log(`${failures} failed`);
  process.exit(1);
}
