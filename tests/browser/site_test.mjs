// The site as its reader uses it: from disk the tutorials in front and the playground beside them, from a plain
// server a search too, and nothing asked of another site. Every page is accessible. (From disk a search lists
// pages, but a browser does not let it read them for the lines around a hit.)
//
//   node site_test.mjs --site DIR --work DIR --chromium BIN
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { flaws } from "./accessibility.mjs";

const options = {};
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];
const { chromium } = createRequire(path.resolve(options.work, "x.js"))("playwright-core");
const at = (name) => pathToFileURL(path.resolve(options.site, name)).href;

const browser = await chromium.launch({ executablePath: options.chromium, timeout: 120_000, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
const page = await browser.newPage();
page.setDefaultTimeout(120_000);
const faults = [];
page.on("pageerror", (error) => faults.push(String(error)));
page.on("request", (request) => {
  if (!/^(file|blob|data):|^http:\/\/127\.0\.0\.1:\d+\//.test(request.url())) faults.push(`asked for ${request.url()}`);
});

// ---- from disk

await page.goto(at("index.html"));
const lessons = await page.locator("article table").first().locator("a").allTextContents();
assert.equal(lessons.length, 6, String(lessons));
await page.locator("article table a", { hasText: "Read a Jepsen or Elle history" }).click();
await page.waitForURL(/tutorials\/read-a-history\.html$/);
console.log("ok    the tutorials are on the front page");

await page.locator(".playground-link a").click();
await page.waitForSelector(".violation .drawing svg .arrow");
await page.locator("header a", { hasText: "Anomalies" }).click();
await page.waitForURL(/anomalies\.html$/);
assert.equal(await page.locator("h1").first().textContent().then((text) => text.replace(/#$|¶$/, "")), "Anomalies");
await page.goto(at("reference/levels/causal.html"));
await page.locator(".playground-link a").click();
await page.waitForSelector("#history");
console.log("ok    the playground is one click away from every page");

// On a phone, the pages are in a drawer, which opens by keyboard too.
await page.setViewportSize({ width: 390, height: 844 });
await page.goto(at("reference/levels.html"));
const menu = page.locator("button[data-drawer=__navigation]");
await menu.focus();
await page.keyboard.press("Enter");
assert.equal(await menu.getAttribute("aria-expanded"), "true");
await page.locator(".sidebar-drawer a", { hasText: "How-to guides" }).click();
await page.waitForURL(/how-to\/README\.html$/);
console.log("ok    the drawer opens by keyboard");

// ---- from a server

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const server = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, "http://x").pathname).slice(1);
  try {
    const bytes = readFileSync(path.join(options.site, path.normalize(name)));
    response.setHeader("content-type", types[path.extname(name)] ?? "application/octet-stream").end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}).listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
const served = `http://127.0.0.1:${server.address().port}/`;
for (const [width, field] of [[1280, ".sidebar-search"], [390, ".front-search input"]]) {
  await page.setViewportSize({ width, height: 844 });
  await page.goto(`${served}index.html`);
  await page.locator(field).fill("lost-update");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#search-results li a");
  const found = await page.locator("#search-results li a").allTextContents();
  assert.ok(found.some((one) => /Anomalies/.test(one)), String(found));
  console.log(`ok    a search in a window of ${width} pixels finds ${found.length} pages`);
}
server.close();
assert.deepEqual(faults, []);

// ---- every page: accessible in both colours, and no wider than a phone

const pages = readdirSync(options.site, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
assert.ok(pages.length > 100, String(pages.length));
const found = [];
for (const [width, colorScheme] of [[1280, "light"], [390, "dark"]]) {
  const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme, reducedMotion: "reduce" });
  const one = await context.newPage();
  one.setDefaultTimeout(120_000);
  // The pages of sources differ in nothing but their code, which one pass reads.
  for (const name of width > 390 ? pages : pages.filter((file) => !file.startsWith("source/"))) {
    await one.goto(at(name));
    if (name === "playground.html") await one.waitForSelector(".violation .drawing svg .arrow");
    for (const flaw of await flaws(one, options.work)) found.push(`${name}, ${width} pixels: ${flaw}`);
    const over = await one.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) found.push(`${name}: ${over} pixels wider than a window of ${width}`);
  }
  await context.close();
}
assert.ok(found.length === 0, found.slice(0, 50).join("\n"));
console.log(`ok    ${pages.length} pages are accessible`);
await browser.close();
