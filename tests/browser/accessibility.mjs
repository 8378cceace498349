// The accessibility of a page, by axe-core: every rule for WCAG 2 A and AA, and the best practices.
import { readFileSync } from "node:fs";
import path from "node:path";

// One line for each element that breaks a rule; `work` is the folder with node_modules. The source is
// evaluated rather than added, because a content security policy forbids scripts from elsewhere.
export async function flaws(page, work) {
  await page.evaluate(readFileSync(path.resolve(work, "node_modules/axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${rule.help}: ${node.target.join(" ")}: ${node.html.slice(0, 160)}`));
}
