// Pages and pictures of hostile histories (tests/torture/outputs.py), opened in a browser: nothing that a
// history says may run. A dialog, an error on the console, a request, a frame, another title or a link
// that leads away fails.
//
//   node hostile_test.mjs --work DIR --chromium BIN --pages FOLDER
import { readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const options = {};
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];
const { chromium } = createRequire(path.resolve(options.work, "x.js"))("playwright-core");

function* files(folder) {
  for (const name of readdirSync(folder).sort()) {
    const file = path.join(folder, name);
    if (statSync(file).isDirectory()) yield* files(file);
    else if (/\.(html|svg)$/.test(name)) yield file;
  }
}

const patience = 180_000;
const browser = await chromium.launch({
  executablePath: options.chromium,
  timeout: patience,
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
const context = await browser.newContext({ reducedMotion: "reduce" });
context.setDefaultTimeout(patience);
let failures = 0;
let opened = 0;
for (const file of files(path.resolve(options.pages))) {
  const url = pathToFileURL(file).href;
  const errors = [];
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url() !== url) errors.push(`asked for ${request.url()}`); });
  page.on("popup", () => errors.push("a popup"));
  await page.goto(url);
  if (file.endsWith(".html")) {
    // The parts that the script makes of the history: the transactions, what is known of one, the search.
    await page.waitForSelector(".lane svg .t");
    await page.locator(".lane svg .t").first().dispatchEvent("click");
    await page.keyboard.press("n");
    for (const words of ["T", "x", "alert", "<"]) {
      await page.locator("#search").fill(words);
      await page.keyboard.press("ArrowDown");
    }
    const found = await page.evaluate(() => ({
      frames: document.querySelectorAll("iframe, object, embed, base, link, form[action], img").length,
      away: [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")).filter((h) => !h.startsWith("#")),
      handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
      scripts: document.querySelectorAll("script").length,
    }));
    if (found.frames || found.away.length || found.handlers || found.scripts !== 2) errors.push(JSON.stringify(found));
    if (!(await page.title()).endsWith("cupel")) errors.push(`the title ${await page.title()}`);
  }
  await page.close();
  opened += 1;
  if (errors.length > 0) {
    failures += 1;
    console.log(`FAIL  ${file}\n      ${errors.slice(0, 3).join("\n      ")}`);
  }
}
await browser.close();
console.log(`${failures === 0 ? "ok" : "FAILED"}    ${opened} pages and pictures in the browser, ${failures} of them with errors`);
process.exit(failures > 0 || opened === 0 ? 1 : 0);
