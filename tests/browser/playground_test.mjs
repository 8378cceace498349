// What a visitor does with the playground, in a browser: opens it from disk and from a server, picks every
// example, types, makes a mistake, drops files, stops a long check. A page that prints an error on its
// console, or asks for anything but itself, fails. It also measures the page: its bytes, and the time from
// opening it to a drawn lost update.
//
//   node playground_test.mjs --page FILE --work DIR --chromium BIN [--screenshots DIR] [--seconds N]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const options = {};
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];
const { chromium } = createRequire(path.resolve(options.work, "x.js"))("playwright-core");

const here = path.dirname(fileURLToPath(import.meta.url));
const golden = path.resolve(here, "../golden");
const gallery = JSON.parse(readFileSync(path.resolve(here, "../../web/playground/gallery.json"), "utf8"));
const file = path.resolve(options.page);
const url = pathToFileURL(file).href;
const bytes = readFileSync(file);
const patience = 120_000;

const launch = () => chromium.launch({
  executablePath: options.chromium,
  timeout: patience,
  // Chromium refuses to run as root inside its sandbox, and containers have only root.
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
let browser = await launch();
let failures = 0;
const errors = [];
const contexts = [];

async function open({ at = url, scheme = "light", width = 1360, height = 900 } = {}) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height }, reducedMotion: "reduce", acceptDownloads: true });
  contexts.push(context);
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== at && !/^(blob|data):/.test(request.url())) errors.push(`asked for ${request.url()}`);
  });
  await page.goto(at);
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
// The policy of the page forbids what Playwright's own waitForFunction() does.
async function until(page, condition, argument) {
  for (const begin = Date.now(); Date.now() - begin < patience;) {
    if (await page.evaluate(condition, argument)) return;
    await new Promise((done) => setTimeout(done, 40));
  }
  throw new Error(`not so after ${patience} ms: ${condition}; the page says: ${await page.locator("main").innerText()}`);
}
const headline = (page) => page.locator("#headline");
// Types a history and waits for what it says.
async function type(page, text, wanted) {
  await page.locator("#history").fill(text);
  await until(page, (w) => new RegExp(w).test(document.querySelector("#headline")?.textContent ?? document.querySelector("#problem:not([hidden])")?.textContent ?? ""), wanted.source);
}
const drawnLostUpdate = (page) => page.waitForSelector(".violation .drawing svg .arrow");

await test("a lost update is drawn within the time, and the page is small", async () => {
  const packed = gzipSync(bytes, { level: 9 }).length;
  console.log(`      page: ${bytes.length} bytes, ${packed} compressed`);
  assert.ok(packed < 5_000_000);
  const times = [];
  for (let i = 0; i < 5; i += 1) {
    await browser.close();
    browser = await launch();  // nothing is compiled or cached
    const context = await browser.newContext();
    const page = await context.newPage();
    const begin = performance.now();
    await page.goto(url);
    await drawnLostUpdate(page);
    times.push((performance.now() - begin) / 1000);
    await context.close();
  }
  console.log(`      opened to drawn, cold: ${times.map((one) => one.toFixed(2)).join(", ")} s`);
  const median = [...times].sort((a, b) => a - b)[2];
  assert.ok(median < Number(options.seconds ?? 2), `the median of ${times}`);
});

await test("nothing can be sent", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  const sent = await page.evaluate(() => Promise.allSettled([
    fetch("http://127.0.0.1:9/"),
    new Promise((done, failed) => {
      const image = new Image();
      image.onload = done;
      image.onerror = failed;
      image.src = "http://127.0.0.1:9/x.png";
    }),
  ]).then((all) => all.map((one) => one.status)));
  assert.deepEqual(sent, ["rejected", "rejected"]);
  assert.ok(errors.length > 0 && errors.every((one) => /Content Security Policy|asked for/.test(one)), String(errors));
  assert.ok(errors.some((one) => /Content Security Policy/.test(one)));
  errors.length = 0;
});

await test("from a plain server too", async () => {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(bytes)).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const page = await open({ at: `http://127.0.0.1:${server.address().port}/` });
  await drawnLostUpdate(page);
  server.close();
});

await test("every example shows the anomaly that it names", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  for (const { group, entries } of gallery) {
    for (const entry of entries) {
      await page.evaluate(() => document.querySelector("#answer").replaceChildren());
      await page.locator("#gallery").selectOption(entry.name);
      await headline(page).waitFor();
      const said = await page.locator("#answer").innerText();
      if (group === "Nothing violated") {
        assert.match(said, /^\W*Satisfies/, entry.name);
        assert.equal(await page.locator(".violation").count(), 0);
        continue;
      }
      assert.match(await headline(page).textContent(), /^Violates/, entry.name);
      const names = await page.locator(".violation h3").allTextContents();
      if (!entry.file) assert.ok(names.includes(entry.name), `${entry.name}: ${names}`);
      assert.ok(await page.locator(".drawing svg .box").count() > 0, entry.name);
      assert.match(said, /checked again by independent code: it is valid/, entry.name);
    }
  }
});

await test("every anomaly of docs/reference/anomalies.md with a history of its own is an example", async () => {
  const doc = readFileSync(path.resolve(here, "../../docs/reference/anomalies.md"), "utf8");
  const named = [...doc.matchAll(/^\| ([a-z][a-z-]+)(?: \(G1[ab]\))? \| `T1: /gm)].map((one) => one[1]);
  assert.ok(named.length >= 17, `${named}`);
  const known = gallery.flatMap((one) => one.entries.map((entry) => entry.name));
  assert.deepEqual(named.filter((one) => !known.includes(one)), []);
});

await test("what is typed is decided, in every notation", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  await type(page, "init=0 s1: r(x,0) r(y,0) w(x,1) | s2: r(x,0) r(y,0) w(y,1)", /Violates serializable/);
  await type(page, "s1: w(x,1) ; r(x,1)", /^Satisfies/);
  // Lines that are wrapped for a terminal are one again, and heads stand alone.
  await type(page, "init=0 s1: r(x,0) w(x,1) | s2: r(x,0) w(x,2)", /Violates snapshot-isolation/);
  const explained = await page.locator(".because > div").allTextContents();
  assert.deepEqual(explained.filter((one) => one.endsWith(":")), ["Let:", "First:", "Then:"]);
  assert.match(explained[0], /^An update was lost\..* overwrote the earlier one\.$/);
  await type(page, "w(0,1,1,0)\nr(0,1,2,1)\nw(0,2,2,1)\nr(0,1,3,2)\nw(0,3,3,2)\n", /Violates snapshot-isolation/);
  await type(page, "{:type :ok, :process 0, :f :txn, :value [[:r :x 7]]}", /Violates read-committed/);
  await type(page, '{"type":"ok","process":0,"f":"txn","value":[["r","x",7]]}', /Violates read-committed/);
  assert.equal(await page.locator("#gallery").inputValue(), "");
  await page.locator("#level").selectOption("causal");
  await until(page, () => document.querySelectorAll(".ladder tbody tr").length === 1);
});

await test("a mistake is shown with its line, and the line can be gone to", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  await type(page, "s1: w(x,1)\ns2: r(x 1)", /expected/);
  assert.match(await page.locator("#problem").textContent(), /line 2, column 9: found `1`, expected `,`/);
  assert.equal(await page.locator("#history").getAttribute("aria-invalid"), "true");
  await page.locator("#problem button").click();
  assert.equal(await page.evaluate(() => document.activeElement.id), "history");
  assert.equal(await page.evaluate(() => document.querySelector("#history").selectionStart), 19);
  await type(page, '{"type":"ok","process":0,"f":"txn","value":[["r","x",7]]}\n{"type":"ok","process":', /Not a history/);
  assert.match(await page.locator("#problem").textContent(), /line 2/);
  await type(page, "hello", /expected a history in the format/);
  await type(page, "s1: w(x,1)", /^Satisfies/);
  assert.equal(await page.locator("#problem").isVisible(), false);
  await page.locator("#history").fill("");
  await until(page, () => /Type a history/.test(document.querySelector("#state").textContent));
});

await test("what a history says is shown and never run", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  const nasty = "</script><img src=x onerror=document.title='run'>";
  await type(page, JSON.stringify({ type: "ok", process: nasty, f: "txn", value: [["r", nasty, 7]] }), /Violates read-committed/);
  assert.ok((await page.locator("#answer").innerText()).includes("<img src=x"));
  assert.equal(await page.locator("#answer img").count(), 0);
  assert.doesNotMatch(await page.title(), /^run/);
});

await test("files: a text is shown, a binary one is checked", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  await page.locator("#file").setInputFiles(path.join(golden, "strong-session-snapshot-isolation/violated/polysi-galera.txt"));
  await until(page, () => /7 transactions/.test(document.querySelector("#answer").textContent));
  assert.match(await page.locator("#history").inputValue(), /^[rw]\(/);
  await page.locator("#level").selectOption("linearizable");
  await page.locator("#file").setInputFiles(path.join(golden, "linearizable/violated/knossos-cas-failure.edn.zst"));
  await until(page, () => /knossos-cas-failure.edn.zst: 291 transactions/.test(document.querySelector("#answer").textContent));
  assert.match(await page.locator("#loaded").textContent(), /not shown/);
  await page.locator("#forget").click();
  assert.equal(await page.evaluate(() => document.activeElement.id), "history");
  // Dropped, not chosen.
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(["s1: w(x,1) | s2: r(x,7)"], "typed.txt"));
    return data;
  });
  await page.dispatchEvent("#drop", "drop", { dataTransfer: dropped });
  await until(page, () => /Violates linearizable|refused|No level applies|Violates/.test(document.querySelector("#headline")?.textContent ?? ""));
  assert.equal(await page.locator("#history").inputValue(), "s1: w(x,1) | s2: r(x,7)");
});

await test("what is saved is what was found", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  for (const [name, wanted] of [["counterexample.svg", /^<svg /], ["history.jsonl", /"type":"ok"/], ["answer.json", /"lost-update"/], ["certificate.json", /"proofs"/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".saves button", { hasText: name }).click()]);
    assert.equal(download.suggestedFilename(), name);
    assert.match(readFileSync(await download.path(), "utf8"), wanted);
  }
});

await test("a long check can be stopped, and the next one works", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  await page.locator("#limit").selectOption("0");
  await page.locator("#file").setInputFiles(path.join(golden, "linearizable/violated/knossos-mutex-etcd.edn.zst"));
  await page.locator("#stop").click();
  await until(page, () => document.querySelector("#state").textContent === "Stopped.");
  await page.locator("#gallery").selectOption("write-skew");
  await until(page, () => /Violates serializable/.test(document.querySelector("#headline")?.textContent ?? ""));
});

await test("by keyboard", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  await page.keyboard.press("Tab");
  assert.match(await page.evaluate(() => document.activeElement.className), /skip/);
  await page.keyboard.press("Enter");
  await page.locator("#history").focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("s1: w(x,1) | s2: r(x,7)");
  await page.keyboard.press("Control+Enter");
  await until(page, () => /Violates read-committed/.test(document.querySelector("#headline")?.textContent ?? ""));
  const flaws = await page.evaluate(() => [...document.querySelectorAll("button, input, select, textarea, [tabindex='0']")]
    .filter((e) => !e.hidden && !(e.labels?.length > 0 || e.getAttribute("aria-label") || e.textContent.trim()))
    .map((e) => e.outerHTML.slice(0, 80)));
  assert.deepEqual(flaws, []);
});

await test("light, dark and narrow", async () => {
  const page = await open();
  await drawnLostUpdate(page);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.locator("#theme").click();
  assert.notEqual(await background(), light);
  for (const width of [360, 420, 800]) {
    const narrow = await open({ width, height: 800, scheme: "dark" });
    await drawnLostUpdate(narrow);
    const over = await narrow.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
  }
});

if (options.screenshots) {
  const page = await open({ width: 1280, height: 1050 });
  await drawnLostUpdate(page);
  await page.screenshot({ path: path.join(options.screenshots, "playground.png") });
  for (const context of contexts.splice(0)) await context.close();
}

await browser.close();
if (failures > 0) {
  console.log(`${failures} failed`);
  process.exit(1);
}
