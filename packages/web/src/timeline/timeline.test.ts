/** The timeline of agents: lanes that a reload keeps, conversations of past subagents, waits. */

import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "../axe-for-tests.ts";
import { openPage, scriptedAgent, type TestPage, tell } from "../page-for-tests.ts";
import { rowsOf, scaleOf } from "./scale.ts";
import { type Span, Spans } from "./spans.ts";

let site: TestPage;
let page: Page;

beforeAll(async () => {
  const helper = { name: "helper", description: "Helps.", graphId: "agent" };
  const order = { subagent_type: "helper", description: "say helped" };
  const model = scriptedModel([callTool("start_async_task", order), say("Begun."), say("Noted.")], {
    record: false,
  });
  const boss = createDeepAgent({ model, subagents: [helper] });
  site = await openPage({ agents: { agent: scriptedAgent(), boss } });
  page = site.page;
});
afterAll(async () => {
  expect(site?.failures).toEqual([]);
  await site?.close();
});

const lane = (name: string) => page.getByRole("slider", { name: `Work of ${name}` });

test("a page that comes later shows lanes of all agents and opens the conversation of a subagent", async () => {
  await page.goto(`${site.server.url}/#/`);
  await tell(page, "research");
  await page.getByText("Done: found in the").first().waitFor();
  await page.reload();
  await page.getByRole("tab", { name: "Agents" }).click();
  await expect.poll(() => lane("general-purpose").count()).toBe(2);
  await page.getByText("2 model calls, 2 tool calls").waitFor();
  await lane("Main agent").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => lane("Main agent").getAttribute("aria-valuetext")).toMatch(/^task, \d/);
  const width = async () => (await page.locator(".lane-track svg").first().boundingBox())?.width ?? 0;
  const before = await width();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(width).toBeGreaterThan(before * 1.9);
  await expectGood(site, "timeline");
  await lane("general-purpose").first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Back to the main agent" }).waitFor();
  await page
    .getByRole("log")
    .getByText(/^found in the/)
    .waitFor();
});

test("a wait for a person is a part of the lane", async () => {
  await page.goto(`${site.server.url}/#/`);
  await tell(page, "ask me");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByText("Done: asked").waitFor();
  await page.getByRole("tab", { name: "Agents" }).click();
  await page.getByText(/2 model calls, \d tool calls?, waited \d/).waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  await page.getByRole("button", { name: "Show work" }).click();
  await page.getByRole("tab", { name: "Agents" }).click();
  await lane("Main agent").waitFor();
  await expectGood(site, "timeline-narrow");
});

test("tasks in the background are listed with their state, and lead to their threads", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const { thread_id: id } = await site.call("POST", "/threads", { metadata: { title: "Boss" } });
  const input = { messages: [{ role: "user", content: "Begin" }] };
  await site.call("POST", `/threads/${id}/runs/wait`, { assistant_id: "boss", input });
  await page.goto(`${site.server.url}/#/t/${id}`);
  await page.reload();
  await page.getByRole("tab", { name: "Agents" }).click();
  const tasks = page.getByRole("list", { name: "In the background" });
  await tasks.getByText(/done/).waitFor();
  await tasks.getByRole("link", { name: "helper" }).click();
  await page.getByRole("log").getByText("helped", { exact: true }).waitFor();
});

const event = (id: string, seconds: number, data: object, namespace: string[] = []) => ({
  ...{ kind: "tasks", namespace },
  data: { id, timestamp: new Date(seconds * 1_000).toISOString(), ...data },
});

test("spans come from the beginnings and ends of tasks; waits last until the next beginning", () => {
  const spans = new Spans();
  for (const one of [
    event("a", 1, { name: "model_request", triggers: [] }),
    event("a", 3, { name: "model_request", interrupts: [] }),
    event("b", 3, { name: "tools", triggers: [], input: { id: "call" } }),
    event("b", 4, { name: "tools", interrupts: [{}] }),
    event("b", 60, { name: "tools", triggers: [], input: { id: "call" } }),
    event("b", 61, { name: "tools", error: { message: "no" } }),
    event("c", 61, { name: "model_request", triggers: [] }, ["tools:1"]),
    { kind: "tasks", namespace: [], data: { id: "old" } },
    { kind: "tasks", namespace: [], data: null },
  ])
    spans.add(one);
  spans.endRun(62_000);
  expect(spans.list).toEqual([
    { place: "", kind: "model", from: 1_000, to: 3_000, end: "done" },
    { place: "", kind: "tool", callId: "call", from: 3_000, to: 4_000, end: "done" },
    { place: "", kind: "wait", from: 4_000, to: 60_000, end: "done" },
    { place: "", kind: "tool", callId: "call", from: 60_000, to: 61_000, end: "error" },
    { place: "tools:1", kind: "model", from: 61_000, to: 62_000, end: "stopped" },
  ]);
});

test("pauses are short on the line, and spans at the same time stand below each other", () => {
  const span = (from: number, to?: number): Span => ({ place: "", kind: "tool", from, ...(to && { to }) });
  const spans = [span(0, 50), span(10, 20), span(1_000_000, 1_000_050)];
  const { place } = scaleOf(spans, 0);
  expect([place(0), place(1_000_050)]).toEqual([0, 1]);
  expect(place(1_000_000) - place(50)).toBeLessThan(0.1);
  expect(rowsOf(spans, 0).map((row) => row.length)).toEqual([2, 1]);
  expect(scaleOf([], 5).place(5)).toBe(0);
});
