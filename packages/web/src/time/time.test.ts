/** Earlier steps in the page: slider, plan and files as they were, copies that go on, two threads side by side. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "../axe-for-tests.ts";
import { ask, closeClean, type FolderPage, openFolderPage } from "../folder-page-for-tests.ts";

let site: FolderPage;
let page: Page;
let original: string;

beforeAll(async () => {
  site = await openFolderPage({ "a.txt": "first\nsecond\nthird\n", "src/kept.txt": "kept\n" });
  page = site.page;
});
afterAll(() => closeClean(site));

const button = (name: string) => page.getByRole("button", { name, exact: true });
const slider = () => page.getByRole("slider", { name: "Step of the thread" });
const past = () => page.getByRole("region", { name: "Conversation at this step" });
const side = () => page.getByRole("complementary", { name: "At this step" });

/** The view is that of the step. */
const settled = () => page.locator(".time-body[aria-busy=false]").waitFor();

test("a slider leads through the steps: conversation, plan and files are as they were", async () => {
  await page.goto(`${site.server.url}/#/`);
  await ask(page, "run sed -i s/first/FIRST/ a.txt");
  await ask(page, "plan it");
  await ask(page, "run sed -i s/second/SECOND/ a.txt; echo new > b.txt; false");
  original = page.url().split("/t/")[1] as string;
  await button("History").click();
  await page.getByText(/^Step 13 of 13$/).waitFor();
  await past().getByText("exit code 1").waitFor();
  await side().getByText("Measure the queries").waitFor();
  await side().getByText("/b.txt").waitFor();
  await expectGood(site, "history");
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.reload();
  await past().getByText("exit code 1").waitFor();
  const belowEnd = () => past().evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
  await expect.poll(belowEnd).toBeLessThan(2);
  await page.setViewportSize({ width: 1280, height: 800 });

  await slider().focus();
  await page.keyboard.press("Home");
  await page.getByText("The beginning").waitFor();
  await past().getByText("Nothing was said yet.").waitFor();
  await button("Later change of files").click();
  await settled();
  await side().getByRole("row", { name: /FIRST/ }).waitFor();
  expect(await side().getByText("/b.txt").count()).toBe(0);
  expect(await past().getByText("SECOND").count()).toBe(0);
  await side().getByText("No plan at this step.").waitFor();
  await page.keyboard.press("Tab");
  // The address names the step, and reloading stays there.
  const facts = await page.locator(".time-facts strong").textContent();
  await page.reload();
  await page.getByText(facts ?? "").waitFor();
  await button("Back to now").click();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
});

test("a copy goes on from a step with another model, and with the files of that step", async () => {
  await page.goto(`${site.server.url}/#/t/${original}/s/`);
  await slider().focus();
  await page.keyboard.press("Home");
  await button("Later change of files").click();
  await button("Later step").click();
  await settled();
  await button("Go on from here…").click();
  const form = page.getByRole("form", { name: "Go on from here" });
  await form.getByText("The agent had finished at this step").waitFor();
  expect(await form.getByRole("button", { name: "Go on in a copy" }).isDisabled()).toBe(true);
  await expectGood(site, "fork");
  await form.getByRole("textbox").fill("run echo other > c.txt");
  await form.getByRole("combobox", { name: "Approvals" }).selectOption("auto");
  await form.getByRole("checkbox").check();
  await form.getByRole("button", { name: "Go on in a copy" }).click();
  await page.getByRole("link", { name: "Compare with the original" }).waitFor();
  await page
    .getByText(/^Done:.*Succeeded/s)
    .last()
    .waitFor();
  await expect.poll(() => button("Stop").count()).toBe(0);
  expect([site.file("a.txt"), site.file("c.txt")]).toEqual(["FIRST\nsecond\nthird\n", "other\n"]);
  expect(await page.getByRole("combobox", { name: "Approvals" }).inputValue()).toBe("auto");
});

test("a copy without a message does the step again, by another model", async () => {
  const copy = page.url();
  await page.goto(`${site.server.url}/#/t/${original}/s/`);
  await slider().focus();
  await page.keyboard.press("Home");
  await button("Later step").click();
  await settled();
  expect(await past().locator(".call").count()).toBe(0);
  await button("Go on from here…").click();
  const form = page.getByRole("form", { name: "Go on from here" });
  await form.getByText("Empty: the agent goes on").waitFor();
  await form.getByRole("combobox", { name: "Model" }).selectOption("scripted:other");
  await form.getByRole("button", { name: "Go on in a copy" }).click();
  await page.getByText("The other model says so.").waitFor();
  await page.goto(copy);
});

test("two threads stand side by side, and the work of one replaces that of the other", async () => {
  await page.getByRole("link", { name: "Compare with the original" }).click();
  await page.getByRole("heading", { name: "Two threads side by side" }).waitFor();
  const table = page.getByRole("table").first();
  await table.getByRole("row", { name: /Files changed 2 2/ }).waitFor();
  expect(await table.getByRole("row", { name: /Cost \$\d/ }).count()).toBe(1);
  await page.getByText("exit code 1", { exact: true }).waitFor();
  await page.getByText("/c.txt").click();
  await page.getByRole("row", { name: /other/ }).waitFor();
  await expectGood(site, "compare");

  const sideOf = (name: string) => page.locator(".compare-side").filter({ hasText: `Thread ${name}` });
  const dialog = page.getByRole("dialog");
  await sideOf("B").getByRole("button", { name: "Undo its changes…" }).click();
  await dialog.getByText("/c.txt").waitFor();
  expect(await dialog.getByText("/a.txt").count()).toBe(0);
  await dialog.getByRole("button", { name: "Put back" }).click();
  await dialog.getByRole("heading", { name: "1 file put back" }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await sideOf("A").getByRole("button", { name: "Apply its changes…" }).click();
  await dialog.getByRole("heading", { name: "2 files on disk will change" }).waitFor();
  expect(site.file("a.txt")).toContain("second");
  await dialog.getByRole("button", { name: "Apply the changes" }).click();
  await dialog.getByText("The changes were applied.").waitFor();
  expect([site.file("a.txt"), site.file("b.txt")]).toEqual(["FIRST\nSECOND\nthird\n", "new\n"]);
  await dialog.getByRole("button", { name: "Undo the restore" }).click();
  await dialog.getByText("The restore was undone.").waitFor();
  expect(site.file("a.txt")).toBe("FIRST\nsecond\nthird\n");
  await page.keyboard.press("Escape");
});

test("everything fits a phone", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  for (const [view, address] of [
    ["history", `t/${original}/s/`],
    ["compare", `compare/${original}/${original}`],
  ]) {
    await page.goto(`${site.server.url}/#/${address}`);
    await page.getByText(view === "history" ? /^Step \d+ of/ : "Choose two different threads.").waitFor();
    if (view === "history") await settled();
    await expectGood(site, `${view}-narrow`);
  }
});
