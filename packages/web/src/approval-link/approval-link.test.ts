/** A link to one decision: it works without a session, shows the very calls, and says clearly when it is over. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { expectGood } from "../axe-for-tests.ts";
import { openPage, type TestPage } from "../page-for-tests.ts";

let site: TestPage;
let page: Page;
let receiver: Server;
const heard: Record<string, any>[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    heard.push(JSON.parse(body));
    response.end();
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  site = await openPage({
    signIn: false,
    approvals: { links: { url: "http://page.invalid" } },
    runs: { webhooks: { allowPrivate: true } },
  });
  page = site.page;
});
afterAll(async () => {
  expect(site?.foreign).toEqual([]);
  expect(site?.failures).toEqual([]);
  await site?.close();
  receiver.close();
});

/** A run that waits, and the address of its link on this server. */
async function waiting(
  text: string,
  on?: string,
): Promise<{ readonly threadId: string; readonly address: string }> {
  const { thread_id: threadId } = on ? { thread_id: on } : await site.call("POST", "/threads", {});
  const before = heard.length;
  await site.call("POST", `/threads/${threadId}/runs/wait`, {
    assistant_id: "agent",
    input: { messages: [{ role: "user", content: text }] },
    webhook: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
  });
  const told = () =>
    heard.slice(before).find((one) => one.thread_id === threadId && one.approval_links !== undefined);
  await until(() => told() !== undefined);
  const [link] = told()?.approval_links ?? [];
  return { threadId, address: String(link?.url).replace("http://page.invalid", site.server.url) };
}

async function open(address: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(address);
}

const heading = (name: string) => page.getByRole("heading", { name }).waitFor();
const filesOf = async (threadId: string): Promise<string[]> =>
  (await site.call("GET", `/threads/${threadId}/files`)).files.map(({ path }: { path: string }) => path);
const statusOf = async (threadId: string) => (await site.call("GET", `/threads/${threadId}`)).status;

test("without a session a person sees the calls, decides each of them by keyboard, and the agent goes on", async () => {
  const { threadId, address: first } = await waiting("write");
  await open(first);
  await page.getByRole("button", { name: "Approve" }).click();
  await heading("Your decision was sent");
  await expect.poll(() => statusOf(threadId)).toBe("idle");
  const { address } = await waiting("edit more words", threadId);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await open(address);
  await heading("2 calls wait for you");
  await page.locator(".diff").first().waitFor();
  expect(requests.some((path) => /index-|main-/.test(path) && path.endsWith(".css"))).toBe(false);
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await expectGood(site, `approval link at ${width}`);
  }
  expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
  expect(await page.getByRole("combobox").count()).toBe(0);
  await page.getByRole("group", { name: /^edit_file/ }).focus();
  await page.keyboard.press("a");
  await page.getByRole("group", { name: /^write_file/ }).focus();
  await page.keyboard.press("r");
  await page.keyboard.type("Not this one.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Send decisions" }).press("Enter");
  await heading("Your decision was sent");
  await expectGood(site, "sent");
  await expect.poll(() => statusOf(threadId)).toBe("idle");
  expect(await filesOf(threadId)).toEqual(["/notes.md"]);
});

test("opening it decides nothing; a second use, and an answer from elsewhere, are told in words", async () => {
  const { threadId, address } = await waiting("write");
  await open(address);
  await heading("One call waits for you");
  await open(address);
  expect(await statusOf(threadId)).toBe("interrupted");
  const second = await site.newTab();
  await second.goto(address);
  await second.getByRole("button", { name: "Approve" }).waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await heading("Your decision was sent");
  await expect.poll(() => statusOf(threadId)).toBe("idle");
  await second.getByRole("button", { name: "Approve" }).click();
  await second.getByRole("heading", { name: /^(?:This link was used|Already answered)$/ }).waitFor();
  await second.close();
  await open(address);
  await heading("This link was used");
  const other = await waiting("write");
  await site.call("POST", `/threads/${other.threadId}/runs/wait`, {
    assistant_id: "agent",
    input: { messages: [{ role: "user", content: "say something else" }] },
    multitask_strategy: "interrupt",
  });
  await open(other.address);
  await heading("Already answered");
  await expectGood(site, "answered");
});

test("a link that is too old or not whole says so", async () => {
  const { address } = await waiting("write");
  await open(address.replace(/#[\w-]+\.\d+$/, `#${"a".repeat(43)}.1000`));
  await heading("This link is too old");
  await open(address.replace(/#.*$/, ""));
  await heading("This is not a whole link");
  await page.getByRole("link", { name: "Open the page of the server" }).waitFor();
});
