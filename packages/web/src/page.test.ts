/** The page against a real server, in Chromium. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sized } from "../../../scripts/test-size.ts";
import { cuttableWay, openPage, type TestPage, tell } from "./page-for-tests.ts";

let site: TestPage;
let page: Page;

beforeAll(async () => {
  site = await openPage();
  page = site.page;
});
afterAll(async () => {
  expect(site?.foreign).toEqual([]);
  expect(site?.failures).toEqual([]);
  await site?.close();
});

const button = (name: string, on: Page = page) => on.getByRole("button", { name, exact: true });
const answers = (on: Page = page) => on.getByRole("article", { name: "Agent" });

/** Begins a thread with the message and returns its id. */
async function begin(text: string): Promise<string> {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
  await tell(page, text);
  await page.waitForURL(/#\/t\//);
  return decodeURIComponent(page.url().split("#/t/")[1] ?? "");
}

test("the code leaves the address, the cookie is out of reach of scripts, and nothing is kept but the theme", async () => {
  expect(page.url()).not.toContain("code");
  const kept = await page.evaluate(() => [document.cookie, Object.keys(localStorage).join()]);
  expect(kept).toEqual(["", "deepwright-theme"]);
  const [cookie] = await site.context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
});

test("an answer streams as Markdown: tables, colours of code, links with their host", async () => {
  await begin("report");
  await page.getByRole("cell", { name: "1,204" }).waitFor();
  await page.locator(".hl-keyword").first().waitFor();
  const link = page.getByRole("link", { name: "the guide (example.org)" });
  expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
  await page.getByRole("article", { name: "You" }).getByText("report").waitFor();
});

test("a write waits with its diff, is approved by a key, and the file is listed", async () => {
  await begin("write");
  const review = page.getByRole("group", { name: /^write_file/ });
  await review.getByText("three").waitFor();
  await review.press("a");
  await answers().getByText("Done: Successfully wrote").waitFor();
  await page.getByRole("tab", { name: "Changes" }).click();
  await page.getByRole("tabpanel").getByText("/notes.md").waitFor();
  await page.getByRole("tab", { name: "Plan" }).click();
});

test("calls of a batch are decided one by one: one is edited, one rejected with a reason", async () => {
  const id = await begin("write");
  await button("Approve").click();
  await answers().getByText("Done:").waitFor();
  await tell(page, "edit something");
  const [edit, write] = [
    page.getByRole("group", { name: /^edit_file/ }),
    page.getByRole("group", { name: /^write_file/ }),
  ];
  await edit.getByRole("button", { name: "Edit" }).click();
  await edit.getByRole("textbox", { name: "new_string" }).fill("zweitens");
  await edit.getByRole("button", { name: "Approve as edited" }).click();
  await edit.getByRole("row", { name: /zweitens/ }).waitFor();
  await write.getByRole("button", { name: "Reject" }).click();
  await write.getByRole("textbox").fill("not needed");
  await write.getByRole("button", { name: "Reject" }).click();
  await write.getByText("not needed").waitFor();
  await page.getByPlaceholder("A message cancels the waiting calls").waitFor();
  await button("Send decisions").click();
  await expect.poll(() => answers().getByText("Done:").count()).toBe(2);
  await page.locator(".call.rejected").getByText("rejected").waitFor();
  const { values } = await site.call("GET", `/threads/${id}/state`);
  expect(JSON.stringify(values.files["/notes.md"])).toContain("zweitens");
  expect(values.files["/other.md"]).toBeUndefined();
  expect(JSON.stringify(values.messages)).toContain("not needed");
});

test("the inbox and the title show what waits in all threads; what one tab answers vanishes in the other", async () => {
  await begin("write");
  await button("Approve").waitFor();
  const other = await site.newTab();
  await other.goto(`${site.server.url}/#/inbox`);
  await expect.poll(() => other.title()).toBe("(1) Deepwright");
  await other.getByRole("group", { name: /^write_file/ }).waitFor();
  await button("Approve").click();
  await other.getByText("Nothing waits for you.").waitFor();
  await expect.poll(() => other.title()).toBe("Deepwright");
  await other.close();
});

test("who answers second is told that it was answered", async () => {
  const id = await begin("write");
  await button("Approve").waitFor();
  const [waiting] = await site.call("GET", `/threads/${id}/interrupts`);
  const other = await site.newTab();
  // This tab never hears of a change.
  await other.route(/approvals\?after/, () => {});
  await other.goto(`${site.server.url}/#/inbox`);
  await button("Approve", other).waitFor();
  const value = { decisions: [{ type: "reject" }] };
  await site.call("POST", `/threads/${id}/interrupts/${waiting.id}`, { value });
  await expect.poll(async () => (await site.call("GET", `/threads/${id}`)).status).toBe("idle");
  await button("Approve", other).click();
  await other.getByText("This was answered somewhere else.").waitFor();
  await other.close();
  expect((await site.call("GET", `/threads/${id}/state`)).values.files?.["/notes.md"]).toBeUndefined();
});

test("a message is told to a run at work, another waits for its end, and a new tab shows the same", async () => {
  const gate = join(site.directory, "gate");
  await begin(`hold ${gate}`);
  await page.locator(".call.running").waitFor();
  await tell(page, "say steered");
  await page.getByText("on its way").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("say queued");
  await page.getByRole("textbox", { name: "Message" }).press("Alt+Enter");
  await page.locator(".pending").getByText("queued", { exact: true }).waitFor();
  await writeFile(gate, "");
  await answers().getByText("queued", { exact: true }).waitFor();
  await rm(gate);
  const texts = (on: Page) => on.locator(".message .said, .message .markdown").allInnerTexts();
  const fresh = await site.newTab();
  await fresh.goto(page.url());
  await answers(fresh).getByText("queued", { exact: true }).waitFor();
  await expect.poll(() => button("Stop", fresh).count()).toBe(0);
  await expect.poll(() => texts(page)).toEqual(await texts(fresh));
  await fresh.close();
});

test("stop ends the run, and the thread takes the next message", async () => {
  await begin(`hold ${join(site.directory, "never")}`);
  await page.locator(".call.running").waitFor();
  await button("Stop").click();
  await expect.poll(() => button("Stop").count()).toBe(0);
  await tell(page, "say still here");
  await answers().getByText("still here").waitFor();
});

test("a second tab sees the messages and the answer of the first", async () => {
  await begin("say one");
  await answers().getByText("one").waitFor();
  const other = await site.newTab();
  await other.goto(page.url());
  await answers(other).getByText("one").waitFor();
  await tell(page, "say two");
  await answers(other).getByText("two").waitFor();
  await other.getByRole("article", { name: "You" }).getByText("say two").waitFor();
  await other.close();
});

test("a lost connection is said, and the page goes on without a gap", async () => {
  const gate = join(site.directory, "lost");
  const way = await cuttableWay(site.server.port);
  const context = await site.browser.newContext();
  const tab = await context.newPage();
  await tab.goto(`${way.url}/#code=${(await site.server.app.newSignInCode?.())?.code}`);
  await tab.getByRole("heading", { name: "What should be done?" }).waitFor();
  await tell(tab, `hold ${gate}`);
  await tab.locator(".call.running").waitFor();
  way.cut();
  await tab.getByText("The connection is lost").waitFor();
  await tab.waitForTimeout(sized(100, 30_000));
  await writeFile(gate, "");
  way.open();
  await answers(tab).getByText("Done: held").waitFor();
  await expect.poll(() => tab.getByText("The connection is lost").count()).toBe(0);
  expect(await answers(tab).getByText("Done: held").count()).toBe(1);
  await context.close();
  way.close();
});

test("subagents are listed, and each has a conversation of its own", async () => {
  await begin("research");
  await answers().getByText("Done: found").waitFor();
  await page.getByRole("tab", { name: "Agents" }).click();
  const agents = page.getByRole("tabpanel").getByRole("button", { name: /general-purpose/ });
  await expect.poll(() => agents.count()).toBe(2);
  await agents.first().click();
  await page
    .getByRole("article", { name: "general-purpose" })
    .getByText(/^found in the/)
    .waitFor();
  await page.getByPlaceholder("Write to the main agent").waitFor();
  await button("← Back to the main agent").click();
  await answers().getByText("Done: found").waitFor();
  await page.getByRole("tab", { name: "Plan" }).click();
});

test("an edited message branches: the copy goes on from before it, the thread stays", async () => {
  const id = await begin("say first");
  await answers().getByText("first").waitFor();
  await tell(page, "say second");
  await answers().getByText("second").waitFor();
  const second = page.getByRole("article", { name: "You" }).filter({ hasText: "say second" });
  await second.hover();
  await second.getByRole("button", { name: "Edit and branch" }).click();
  const field = page.getByRole("textbox", { name: "Message" });
  await expect.poll(() => field.inputValue()).toBe("say second");
  await field.fill("say other");
  await field.press("Enter");
  await answers().getByText("other").waitFor();
  expect(page.url()).not.toContain(id);
  await expect.poll(() => answers().getByText("second").count()).toBe(0);
  expect(await answers().getByText("first").count()).toBe(1);
  expect(JSON.stringify((await site.call("GET", `/threads/${id}/state`)).values)).toContain("say second");
  const first = page.getByRole("article", { name: "You" }).filter({ hasText: "say first" });
  await first.hover();
  await first.getByRole("button", { name: "Edit and branch" }).click();
  await expect.poll(() => field.inputValue()).toBe("say first");
  await tell(page, "say anew");
  await answers().getByText("anew").waitFor();
  expect(await answers().count()).toBe(1);
});

test("threads are renamed, archived and found; the palette does everything by keyboard", async () => {
  await begin("say rename me");
  await answers().getByText("rename me").waitFor();
  await page.getByRole("button", { name: "Actions: say rename me" }).click();
  await button("Rename").click();
  await page.getByRole("textbox", { name: "New title" }).fill("A better name");
  await page.getByRole("textbox", { name: "New title" }).press("Enter");
  await page.getByRole("link", { name: /A better name/ }).waitFor();
  await page.getByRole("searchbox").fill("better");
  await expect.poll(() => page.locator("nav li.thread").count()).toBe(1);
  await page.getByRole("searchbox").fill("");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("theme dark");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("archive");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("link", { name: /A better name/ }).count()).toBe(0);
  await button("Archive").click();
  await page.getByRole("link", { name: /A better name/ }).waitFor();
  await page.getByRole("button", { name: "Actions: A better name" }).click();
  await page.locator(".thread-menu").getByRole("button", { name: "Delete" }).click();
  await expect.poll(() => page.getByRole("link", { name: /A better name/ }).count()).toBe(0);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: /A better name/ }).waitFor();
  await button("Archive").click();
});

test("the search finds a thread by words of its messages, and says when none fits", async () => {
  const id = await begin("say a first line");
  await answers().getByText("a first line").waitFor();
  await tell(page, "say wolverine");
  await answers().getByText("wolverine").waitFor();
  await expect.poll(async () => (await site.call("GET", `/threads/${id}`)).status).toBe("idle");
  await page.getByRole("searchbox").fill("WOLVERINE");
  const found = page.locator("nav li.thread a");
  await expect
    .poll(() => found.evaluateAll((all) => all.map((one) => one.getAttribute("href"))))
    .toEqual([`#/t/${id}`]);
  await page.getByRole("searchbox").fill("wolverines of the moon");
  await page.getByText("No thread fits.").waitFor();
  await page.getByRole("searchbox").fill("");
});

test("a browser without a session is told how to sign in", async () => {
  const context = await site.browser.newContext();
  const stranger = await context.newPage();
  await stranger.goto(`${site.server.url}/#code=wrong`);
  await stranger.getByText("This link was used before, or is too old.").waitFor();
  await stranger.getByText(`deepwright sign-in --url ${site.server.url}`, { exact: true }).waitFor();
  expect(stranger.url()).not.toContain("wrong");
  const link = async () => `${site.server.url}/#code=${(await site.server.app.newSignInCode?.())?.code}`;
  await stranger.goto(await link());
  await stranger.getByRole("navigation").waitFor();
  expect(stranger.url()).not.toContain("code");
  await stranger.goto(`${site.server.url}/?again#code=wrong`);
  await stranger.getByRole("navigation").waitFor();
  await context.clearCookies();
  await stranger.reload();
  await stranger.getByRole("textbox").fill(await link());
  await button("Sign in", stranger).click();
  await stranger.getByRole("navigation").waitFor();
  await context.close();
});
