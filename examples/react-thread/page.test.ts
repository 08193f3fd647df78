/** The page of the example, built and handed out as the README of the examples says. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { echoAgent, startServer } from "../../packages/server/src/server-for-tests.ts";
import { launchChromium } from "../../packages/server/src/use-stream/browser-for-tests.ts";
import { PATIENCE_MS } from "../../scripts/test-time.ts";

test("the page signs in by its link, shows a thread as it happens, approves, and shows it again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "react-thread-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, "build.mjs"), folder, "source"]);
  const server = await startServer({ agents: { agent: echoAgent() }, page: folder });
  onTestFinished(() => server.close());
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (line) => {
    if (line.type() === "error") complaints.push(line.text());
  });
  const code = await server.app.newSignInCode?.();
  await page.goto(`${server.url}/#code=${code?.code}`);
  await page.getByLabel("Message").fill("say good morning");
  await page.getByLabel("Message").press("Enter");
  await page.waitForSelector("text=good morning >> nth=1");
  await page.getByLabel("Message").fill("ask");
  await page.getByLabel("Message").press("Enter");
  await page.click("text=Approve ask");
  await page.waitForSelector("text=done: asked");
  const shown = () => page.locator("main > p").allTextContents();
  const all = ["say good morning", "good morning", "ask", "done: asked"];
  expect((await shown()).filter((text) => text !== "")).toEqual(all);
  expect(await page.locator("main > button").count()).toBe(0);
  await page.reload();
  await page.waitForSelector("text=done: asked");
  expect((await shown()).filter((text) => text !== "")).toEqual(all);
  expect(page.url()).not.toContain(code?.code);
  expect(complaints).toEqual([]);
});
