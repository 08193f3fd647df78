/** Undo in the page: preview, restore, what a person changed, undo of the restore. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "../axe-for-tests.ts";
import { ask, closeClean, type FolderPage, openFolderPage } from "../folder-page-for-tests.ts";
import { tell } from "../page-for-tests.ts";

let site: FolderPage;
let page: Page;

beforeAll(async () => {
  site = await openFolderPage({ "a.txt": "first\nsecond\nthird\n", "src/kept.txt": "kept\n" });
  page = site.page;
});
afterAll(() => closeClean(site));

const dialog = () => page.getByRole("dialog");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const inDialog = (name: string) => dialog().getByRole("button", { name, exact: true });

test("one file is put back after a preview, and the restore is undone", async () => {
  await page.goto(`${site.server.url}/#/`);
  await ask(page, "run sed -i s/first/FIRST/ a.txt; echo new > src/b.txt");
  await page.getByRole("tab", { name: "Changes" }).click();
  await page.getByRole("button", { name: "Undo changes of /a.txt" }).click();
  await dialog().getByRole("heading", { name: "1 file on disk will change" }).waitFor();
  await dialog().getByRole("row", { name: /FIRST/ }).waitFor();
  expect(site.file("a.txt")).toContain("FIRST");
  await inDialog("Put back").click();
  await dialog().getByRole("heading", { name: "1 file put back" }).waitFor();
  expect([site.file("a.txt"), site.file("src/b.txt")]).toEqual(["first\nsecond\nthird\n", "new\n"]);
  await inDialog("Undo the restore").click();
  await dialog().getByText("The restore was undone.").waitFor();
  expect(site.file("a.txt")).toContain("FIRST");
  await inDialog("Close").click();
  // The button that asked has the focus again, or the conversation where the list was drawn anew.
  await expect.poll(() => page.evaluate(() => document.activeElement === document.body)).toBe(false);
});

test("later edits of a person stay: other lines are merged, the same lines are kept beside", async () => {
  await ask(page, "run sed -i s/second/SECOND/ a.txt; echo agent > c.txt");
  writeFileSync(join(site.folder, "a.txt"), "FIRST\nSECOND\nthird\nmine\n");
  writeFileSync(join(site.folder, "c.txt"), "a person was here\n");
  const card = page.locator(".call").last();
  await card.getByRole("button", { name: /execute/ }).click();
  await card.getByRole("button", { name: "Undo this call…" }).click();
  await dialog().getByText("It was changed since by a person").waitFor();
  await inDialog("Put back").click();
  await dialog().getByRole("heading", { name: "1 file put back" }).waitFor();
  await dialog()
    .getByText(/not overwritten/)
    .waitFor();
  expect([site.file("a.txt"), site.file("c.txt")]).toEqual([
    "FIRST\nsecond\nthird\nmine\n",
    "a person was here\n",
  ]);
  await inDialog("Close").click();
});

test("everything since a message goes back, with the messages if that is wanted", async () => {
  await ask(page, "run echo late > late.txt");
  const said = page.getByRole("article", { name: "You" }).last();
  await said.hover();
  await said.getByRole("button", { name: "Undo from here…" }).click();
  await dialog().getByText("is removed").waitFor();
  await dialog().getByRole("checkbox", { name: "Also take back the messages since then" }).check();
  await inDialog("Put back, with messages").click();
  await dialog().getByText("The messages were taken back.").waitFor();
  expect(() => site.file("late.txt")).toThrow("ENOENT");
  await expect.poll(() => said.getByText("late.txt").count()).toBe(0);
  await inDialog("Undo the restore").click();
  await dialog().getByText("The restore was undone.").waitFor();
  expect(site.file("late.txt")).toBe("late\n");
  await inDialog("Close").click();
  await page.getByRole("article", { name: "You" }).getByText("late.txt").waitFor();
});

test("the palette undoes the last step and everything; axe finds nothing at 1280 and 360 pixels", async () => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("undo last step");
  await page.keyboard.press("Enter");
  await dialog().getByText("is removed").waitFor();
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await expectGood(site, `undo at ${width}`);
  }
  await inDialog("Cancel").click();
  await page.setViewportSize({ width: 1280, height: 800 });
  await button("Undo all…").click();
  await inDialog("Put back").click();
  await dialog()
    .getByRole("heading", { name: /put back$/ })
    .waitFor();
  expect(site.file("a.txt")).toBe("first\nsecond\nthird\nmine\n");
  expect(() => site.file("src/b.txt")).toThrow("ENOENT");
  await inDialog("Close").click();
  await page.getByText("undone", { exact: true }).first().waitFor();
});

test("a file that was opened while the run worked stays open when the run ends", async () => {
  const go = join(site.folder, "go");
  const changes = page.getByRole("tabpanel");
  await page.goto(`${site.server.url}/#/`);
  await tell(page, `write-and-hold ${go}`);
  await page.getByRole("tab", { name: "Changes" }).click();
  await changes.getByText("/kept.md").click();
  await changes.locator(".long-text").getByText("kept", { exact: true }).waitFor();
  writeFileSync(go, "");
  await changes.getByRole("button", { name: "Undo changes of /kept.md" }).waitFor();
  await changes.locator(".diff").getByText("kept", { exact: true }).waitFor();
});
