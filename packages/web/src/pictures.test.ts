/** How the main views look, wide, narrow, in light and dark: compared with pictures that a person has looked at. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sized } from "../../../scripts/test-size.ts";
import { openPage, type TestPage, tell } from "./page-for-tests.ts";
import { differenceTo, isUpdate, keepPicture } from "./picture-for-tests.ts";

let site: TestPage;
let page: Page;

/** Share of cells that may differ. */
const TOLERANCE = 0.12;

const LOOKS = [
  ["wide-light", 1280, 800, "light"],
  ["wide-dark", 1280, 800, "dark"],
  ["narrow-light", 360, 800, "light"],
] as const;

beforeAll(async () => {
  site = await openPage();
  page = site.page;
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
});
afterAll(() => site?.close());

async function expectLooks(view: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  for (const [look, width, height, theme] of LOOKS.slice(
    0,
    isUpdate ? LOOKS.length : sized(2, LOOKS.length),
  )) {
    await page.setViewportSize({ width, height });
    const sidebar = page.getByRole("button", { name: "Hide threads" });
    if (width < 760 && (await sidebar.isVisible())) await sidebar.click();
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    if (isUpdate) await keepPicture(`${view}-${look}`, page);
    expect(await differenceTo(`${view}-${look}`, page), `${view}, ${look}`).toBeLessThan(TOLERANCE);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  const threads = page.getByRole("button", { name: "Show threads" });
  if (await threads.isVisible()) await threads.click();
}

test("the main views look as they did", async () => {
  await expectLooks("new-thread");
  await tell(page, "report");
  await page.getByRole("cell", { name: "1,204" }).waitFor();
  await page.locator(".hl-keyword").first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Hide work" }).click();
  await expectLooks("conversation");
  await tell(page, "edit");
  await page.getByText("2 calls wait for you").waitFor();
  await expect.poll(() => page.locator(".approval .diff").count()).toBe(2);
  await page.goto(`${site.server.url}/#/inbox`);
  await page.getByRole("group", { name: /^edit_file/ }).waitFor();
  await expect.poll(() => page.locator(".approval .diff").count()).toBe(2);
  await expectLooks("approvals");
});

test("a view without its list, or in other colours, is noticed", async () => {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
  await page.evaluate(() => {
    document.documentElement.dataset.theme = "light";
  });
  await expect.poll(() => differenceTo("new-thread-wide-light", page)).toBeLessThan(TOLERANCE);
  await page.locator("nav").evaluate((list) => list.remove());
  expect(await differenceTo("new-thread-wide-light", page)).toBeGreaterThan(TOLERANCE);
  expect(await differenceTo("new-thread-wide-dark", page)).toBeGreaterThan(TOLERANCE);
});
