// Takes the picture of the evals for the README from the page that `npm run eval` wrote:
//   node scripts/eval-picture.mjs bench/results/evals.html docs/images/evals.png
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page, picture] = process.argv.slice(2);
if (page === undefined || picture === undefined) {
  console.error("usage: node scripts/eval-picture.mjs PAGE PICTURE");
  process.exit(2);
}
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
try {
  const tab = await browser.newPage({ viewport: { width: 860, height: 760 } });
  await tab.goto(pathToFileURL(resolve(page)).href);
  await tab.screenshot({ path: picture });
} finally {
  await browser.close();
}
