/** `@langchain/react` in Chromium, against a server on a port. */
import { resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PATIENCE_MS } from "../../../../scripts/test-time.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { launchChromium, type PageHost, servePage } from "./browser-for-tests.ts";

const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
/** Long enough that it is never finished. */
const ENDLESS = Array.from({ length: 100_000 }, (_, index) => `more${index}`).join(" ");

/** Plans, asks a subagent, writes with approval, and tells slowly what came of it. */
function agent() {
  const finder = scriptedModel(() => say("blue"), { record: false });
  const model = scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.text === "endless") return say(ENDLESS);
      const results = messages.filter((message) => message.getType() === "tool").length;
      const steps = [
        callTool("write_todos", { todos: [{ content: "find the colour", status: "in_progress" }] }),
        callTool("task", { description: "the colour", subagent_type: "finder" }),
        callTool("write_file", { file_path: "/colour.md", content: "blue" }),
      ];
      return steps[results] ?? say(WORDS);
    },
    { record: false, chunkLatency: 5, chunkSize: 6 },
  );
  const subagents = [{ name: "finder", description: "Finds.", systemPrompt: "Find.", model: finder }];
  return createDeepAgent({ model, subagents, interruptOn: { write_file: true } });
}

let host: PageHost;
let server: TestServer;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
beforeAll(async () => {
  host = await servePage(resolve(import.meta.dirname, "fixtures", "newer-page.jsx"));
  server = await startServer({ agents: { colours: agent() }, allowedOrigins: [host.origin] });
  browser = await launchChromium();
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (line) => {
    if (line.type() === "error") complaints.push(line.text());
  });
  await page.addInitScript((token) => sessionStorage.setItem("token", token), TOKEN);
  await page.goto(`${host.origin}/?api=${encodeURIComponent(server.url)}&agent=colours`);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await host?.close();
});

async function tell(text: string): Promise<void> {
  await page.fill("input", text);
  await page.click("text=send");
}

const rests = () => page.waitForSelector("text=at rest");
const lastText = async () => (await page.locator("li[data-type=ai] .text").allTextContents()).at(-1);
const threadOf = () => new URL(page.url()).searchParams.get("thread") as string;

test("plan, calls, subagent, approval and tokens arrive; a reload shows them, and stop ends the run", async () => {
  await tell("go");
  await page.waitForSelector("#approval");
  expect(await page.textContent("#approval")).toContain("/colour.md");
  expect(await page.textContent("#todos")).toBe("in_progress: find the colour");
  expect(await page.textContent("#calls")).toContain("write_todos finished");
  expect(await page.textContent("#team")).toContain("finder");
  await rests();
  await page.reload();
  await page.waitForSelector("#approval");
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () =>
      seen.push([...document.querySelectorAll("li[data-type=ai] .text")].at(-1)?.textContent ?? "");
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  await page.click("text=approve");
  await page.waitForSelector("text=word39");
  await rests();
  expect(await page.textContent("#files")).toBe("/colour.md");
  expect(await page.locator("#approval").count()).toBe(0);
  expect(await lastText()).toBe(WORDS);
  const seen = new Set(await page.evaluate(() => (window as unknown as { seen: string[] }).seen));
  expect([...seen].filter((text) => WORDS.startsWith(text)).length).toBeGreaterThan(5);

  await tell("endless");
  await page.waitForSelector("text=more9");
  await page.click("#stop");
  await rests();
  const client = new Client({ apiUrl: server.url, apiKey: TOKEN });
  const statuses = async () => (await client.runs.list(threadOf())).map(({ status }) => status);
  await expect.poll(statuses).toEqual(["interrupted", "success", "interrupted"]);
  // The first look at a thread that is not there yet.
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
});
