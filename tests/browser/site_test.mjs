// The site as its reader uses it: from disk the playground in front and the manual behind it, from a plain
// server a search too, and nothing asked of another site. (From disk a search lists pages, but a browser does
// not let it read them for the lines around a hit.)
//
//   node site_test.mjs --site DIR --work DIR --chromium BIN
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

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

await page.goto(at("index.html"));
await page.waitForSelector(".violation .drawing svg .arrow");
await page.locator("header a", { hasText: "Anomalies" }).click();
await page.waitForURL(/anomalies\.html$/);
assert.equal(await page.locator("h1").first().textContent().then((text) => text.replace(/#$|¶$/, "")), "Anomalies");
await page.locator(".playground-link a").click();
await page.waitForSelector("#history");
await page.goto(at("levels/causal.html"));
await page.locator(".playground-link a").click();
await page.waitForSelector("#history");
console.log("ok    the playground is in front");

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
await page.goto(`${served}manual.html`);
await page.locator(".sidebar-search").fill("lost-update");
await page.keyboard.press("Enter");
await page.waitForSelector("#search-results li a");
const found = await page.locator("#search-results li a").allTextContents();
assert.ok(found.some((one) => /Anomalies/.test(one)), String(found));
console.log(`ok    a search finds ${found.length} pages`);

assert.deepEqual(faults, []);
await browser.close();
server.close();
