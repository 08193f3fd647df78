/** LangGraph's `useStream` in a page of React's, in Chromium, against a server on a port. */
import { resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { PATIENCE_MS } from "../../../../scripts/test-time.ts";
import { gate } from "../runs/service-for-tests.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { launchChromium, type PageHost, servePage } from "./browser-for-tests.ts";

const LONG = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");

/** While it is closed a long text does not come to its end. */
let door = gate();
door.open();

/** Does what it is told, slowly enough to be watched. */
function slowAgent() {
  const model = heldModel(
    ({ messages }) => {
      const last = messages.at(-1);
      const text = String(last?.text ?? "");
      if (last?.getType() === "tool") return say(`done: ${text}`);
      const [word, ...rest] = text.split(" ");
      if (word === "write") return callTool("write_file", { file_path: "/note.md", content: rest.join(" ") });
      if (word === "delegate")
        return callTool("task", { subagent_type: "writer", description: rest.join(" ") });
      if (word === "long") return say(LONG);
      return say(`told: ${text}`);
    },
    { record: false, chunkLatency: 25, chunkSize: 6 },
  );
  return createDeepAgent({
    model,
    interruptOn: { write_file: true },
    subagents: [{ name: "writer", description: "Writes.", systemPrompt: "You write." }],
  });
}

/** A scripted model that stops in the middle of a long text until the door is open. */
function heldModel(...given: Parameters<typeof scriptedModel>): ReturnType<typeof scriptedModel> {
  const model = scriptedModel(...given);
  const chunksOf = model._streamResponseChunks.bind(model);
  model._streamResponseChunks = async function* (messages, options, runManager) {
    let text = "";
    let isHeld = false;
    for await (const chunk of chunksOf(messages, options, runManager)) {
      yield chunk;
      text += chunk.text;
      if (isHeld || !text.includes("word9")) continue;
      isHeld = true;
      const { signal } = options;
      const aborted = new Promise((gone) => signal?.addEventListener("abort", gone, { once: true }));
      if (!signal?.aborted) await Promise.race([door.opened, aborted]);
    }
  };
  return model;
}

/** Until it is opened, which the end of the test does too. */
function closeDoor(): void {
  door = gate();
  onTestFinished(door.open);
}

let host: PageHost;
let server: TestServer;
let browser: Browser;
let client: Client;
beforeAll(async () => {
  host = await servePage(resolve(import.meta.dirname, "fixtures", "page.jsx"));
  server = await startServer({ agents: { slow: slowAgent() }, allowedOrigins: [host.origin] });
  browser = await launchChromium();
  client = new Client({ apiUrl: server.url, apiKey: TOKEN });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await host?.close();
});

let page: Page;
let complaints: string[];
beforeEach(async () => {
  complaints = [];
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (line) => {
    if (line.type() === "error" || line.type() === "warning") complaints.push(line.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.addInitScript((token) => sessionStorage.setItem("token", token), TOKEN);
  await page.goto(`${host.origin}/?api=${encodeURIComponent(server.url)}&agent=slow`);
});
afterEach(() => page.close());

async function tell(text: string): Promise<void> {
  await page.fill("input", text);
  await page.click("text=send");
}

const rests = () => page.waitForSelector("text=at rest");
const texts = () => page.locator("li[data-type] .text").allTextContents();
const threadOf = () => new URL(page.url()).searchParams.get("thread") as string;
const lastText = async () => (await texts()).at(-1) ?? "";

test("the tokens of an answer arrive one after the other", async () => {
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => seen.push(document.querySelector("li[data-type=ai] .text")?.textContent ?? "");
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  await tell("long");
  await page.waitForSelector("text=word59");
  await rests();
  expect(await texts()).toEqual(["long", LONG]);
  const seen = new Set(await page.evaluate(() => (window as unknown as { seen: string[] }).seen));
  expect([...seen].filter((text) => !LONG.startsWith(text))).toEqual([]);
  expect(seen.size).toBeGreaterThan(5);
  expect(complaints).toEqual([]);
});

test("a call that needs approval is shown, approved on the page and answered", async () => {
  await tell("write a line");
  await page.waitForSelector("#approval");
  expect(await page.textContent("#approval")).toContain("write_file");
  expect(await page.textContent("code")).toContain('"file_path":"/note.md"');
  await page.click("text=approve");
  await page.waitForSelector("text=done:");
  await rests();
  expect(await page.getAttribute("code", "data-state")).toBe("completed");
  const { values } = await client.threads.getState<{ files: object }>(threadOf());
  expect(Object.keys(values.files)).toEqual(["/note.md"]);
  expect(complaints).toEqual([]);
});

test("a page that is loaded again goes on with the stream of the run at work", async () => {
  closeDoor();
  await tell("long");
  await page.waitForSelector("text=word3");
  const joined = page.waitForRequest(/\/runs\/[^/]+\/stream/);
  await page.reload();
  expect((await joined).headers()["last-event-id"]).toBe("-1");
  door.open();
  await page.waitForSelector("text=word59");
  await rests();
  expect(await lastText()).toBe(LONG);
  const runs = await client.runs.list(threadOf());
  expect(runs.map(({ status }) => status)).toEqual(["success"]);
  await page.reload();
  await page.waitForSelector("text=word59");
  expect(await texts()).toHaveLength(2);
  expect(complaints).toEqual([]);
});

test("a message told another way is a branch, and the first one is still there", async () => {
  await tell("one");
  await page.waitForSelector("text=told: one");
  await rests();
  await page.click(".retell");
  await page.waitForSelector("text=told: say another way");
  await rests();
  expect(await texts()).toEqual(["say another way", "told: say another way"]);
  await page.waitForSelector(".branch");
  expect(await page.locator(".branch").count()).toBe(2);
  await page.locator(".branch").first().click();
  await expect.poll(texts).toEqual(["one", "told: one"]);
  expect(complaints).toEqual([]);
});

test("stop ends the run on the server too", async () => {
  closeDoor();
  await tell("long");
  await page.waitForSelector("text=word3");
  await page.click("#stop");
  await rests();
  const status = async () => (await client.runs.list(threadOf()))[0]?.status;
  await expect.poll(status).toBe("interrupted");
  await tell("still there?");
  await page.waitForSelector("text=told: still there?");
  await rests();
  expect(complaints).toEqual([]);
});

test("what a subagent says is shown with its task, not among the agent's messages", async () => {
  closeDoor();
  await tell("delegate long");
  await page.waitForSelector("#team li[data-status=running] >> text=word3");
  expect(await page.locator("li[data-type=ai] .text").allTextContents()).toEqual([""]);
  door.open();
  await page.waitForSelector("#team li[data-status=complete]");
  await rests();
  expect(await page.textContent("#team li")).toMatch(/^writer: word0 .* word59 /);
  expect(await lastText()).toMatch(/^done: word0 /);
  await page.reload();
  // Now from the checkpoints of the child, with what it was asked.
  await page.waitForSelector("#team li[data-status=complete] >> text=writer: long | word0");
  expect(complaints).toEqual([]);
});
