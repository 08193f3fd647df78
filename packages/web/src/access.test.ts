/** The page for everybody: axe finds nothing serious, in light and dark, narrow and zoomed; nothing is wider than the screen; the keyboard is enough. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "./axe-for-tests.ts";
import { openPage, type TestPage, tell } from "./page-for-tests.ts";

let site: TestPage;
let page: Page;

beforeAll(async () => {
  site = await openPage();
  page = site.page;
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
});
afterAll(() => site?.close());

/** Runs a command of the palette. */
async function command(name: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill(name);
  await page.keyboard.press("Enter");
}

async function newThread(): Promise<void> {
  await page.goto(`${site.server.url}/#/`);
  await page.reload();
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
}

// A window of 1280 × 800 has 640 × 400 points when it is zoomed to 200 %.
test.each([
  ["wide", 1280, 800],
  ["narrow", 360, 800],
  ["zoomed to 200 %", 640, 400],
])("every view is good: %s", async (_, width, height) => {
  await page.setViewportSize({ width, height });
  await newThread();
  await expectGood(site, "new thread");
  await tell(page, "report");
  await page.getByRole("cell", { name: "1,204" }).waitFor();
  await page.locator(".hl-keyword").first().waitFor();
  await expectGood(site, "conversation");
  await tell(page, "edit");
  await page.getByText("2 calls wait for you").waitFor();
  await page.locator(".diff").first().waitFor();
  await expectGood(site, "approval");
  await page.goto(`${site.server.url}/#/inbox`);
  await page.getByRole("group", { name: /^edit_file/ }).waitFor();
  await expectGood(site, "approvals");
  await page.getByRole("button", { name: "Approve all" }).click();
  await page.getByText("Nothing waits for you.").waitFor();
  await page.goto(`${site.server.url}/#/settings`);
  await page.getByRole("group", { name: "Theme" }).waitFor();
  await expectGood(site, "settings");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await expectGood(site, "commands");
  await page.keyboard.press("Escape");
});

test("the tabs beside the thread and the sign-in are good on a narrow screen", async () => {
  await page.setViewportSize({ width: 360, height: 800 });
  await newThread();
  await tell(page, "plan");
  await page.getByText("Done:").waitFor();
  await tell(page, "research");
  await page.getByText("Done: found").waitFor();
  for (const [tab, text] of [
    ["Plan", "Measure the queries"],
    ["Changes", "No file was changed."],
    ["Agents", "general-purpose"],
  ] as const) {
    await command(`work: ${tab}`);
    await page.getByRole("tabpanel", { name: tab }).getByText(text).first().waitFor();
    await expectGood(site, tab);
  }
  await page.getByRole("button", { name: "Hide work" }).click();
  for (const close of [() => page.mouse.click(350, 400), () => page.keyboard.press("Escape")]) {
    await page.getByRole("button", { name: "Show threads" }).click();
    await page.getByRole("navigation").waitFor();
    await close();
    await page.getByRole("navigation").waitFor({ state: "detached" });
  }
  const context = await site.browser.newContext({ viewport: { width: 360, height: 800 } });
  const stranger = await context.newPage();
  await stranger.goto(site.server.url);
  await stranger.getByRole("heading", { name: "Sign in" }).waitFor();
  await expectGood({ ...site, context, page: stranger }, "sign-in");
  await context.close();
});

interface Focus {
  readonly name: string;
  readonly hasRing: boolean;
}

/** The element that has the focus, by its name, and whether a person sees that it has it. */
const focused = (): Promise<Focus> =>
  page.evaluate(() => {
    const { activeElement: at } = document;
    if (at === null || at === document.body) return { name: "", hasRing: true };
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
    const labels = at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement ? at.labels : null;
    const label = at.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? at.textContent ?? "";
    // The frame of the field shows it.
    const isField = at.matches(".composer:focus-within textarea");
    const hasRing = isField || (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    return { name: label.trim(), hasRing };
  });

const MOST_TABS = 120;

/** Presses Tab until the element with the name has the focus. */
async function tabTo(name: RegExp): Promise<void> {
  for (let pressed = 0; pressed < MOST_TABS; pressed += 1) {
    await page.keyboard.press("Tab");
    const now = await focused();
    expect(now.hasRing, now.name).toBe(true);
    if (name.test(now.name)) return;
  }
  throw new Error(`Tab does not lead to ${name}.`);
}

test("a person without a mouse begins a task, decides call by call, looks at the work, and renames the thread", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await newThread();
  await page.keyboard.press("Tab");
  expect((await focused()).name).toBe("Go to the content");
  await page.keyboard.press("Enter");
  await tabTo(/^Message$/);
  await page.keyboard.type("write");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: /^write_file/ }).waitFor();
  await tabTo(/^write_file\. /);
  await page.keyboard.press("a");
  await page.getByText("Done:").waitFor();
  await tabTo(/^Message$/);
  await page.keyboard.type("edit by keys");
  await page.keyboard.press("Enter");
  await page.getByText("2 calls wait for you").waitFor();
  await tabTo(/^edit_file\. /);
  await page.keyboard.press("e");
  await expect.poll(focused).toMatchObject({ name: expect.stringMatching(/^file_path/) });
  await tabTo(/new_string/);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("zwei");
  await tabTo(/^Approve as edited$/);
  await page.keyboard.press("Enter");
  await expect.poll(focused).toMatchObject({ name: expect.stringMatching(/^write_file\. /), hasRing: true });
  await page.keyboard.press("r");
  await expect.poll(focused).toMatchObject({ name: expect.stringMatching(/^Reason/) });
  await page.keyboard.type("not this one");
  await tabTo(/^Reject$/);
  await page.keyboard.press("Enter");
  await expect.poll(focused).toEqual({ name: "Send decisions", hasRing: true });
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByText("Done:").count()).toBe(2);
  expect(await focused()).toEqual({ name: "Conversation", hasRing: true });
  await tabTo(/^Plan$/);
  await page.keyboard.press("ArrowRight");
  expect((await focused()).name).toBe("Changes");
  await page.getByRole("tabpanel", { name: "Changes" }).getByText("/notes.md").waitFor();
  await page.keyboard.press("ArrowLeft");
  await tabTo(/^Actions: write$/);
  await page.keyboard.press("Enter");
  await tabTo(/^Rename$/);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /By keyboard/ }).waitFor();
});
