/** The parts beside the conversation: cost, choices, subagents, settings. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTodoListMiddleware } from "deepwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "./axe-for-tests.ts";
import { openPage, scriptedAgent, type TestPage, tell } from "./page-for-tests.ts";

let site: TestPage;
let page: Page;

beforeAll(async () => {
  const agents = {
    agent: scriptedAgent(),
    careful: scriptedAgent({ interruptOn: { task: true } }),
    checked: scriptedAgent({ middleware: [createTodoListMiddleware({ checks: true })] as never }),
  };
  site = await openPage({ agents, onError: () => {} });
  page = site.page;
});
afterAll(async () => {
  expect(site?.foreign).toEqual([]);
  expect(site?.failures).toEqual([]);
  await site?.close();
});

const answers = () => page.getByRole("article", { name: "Agent" });

async function begin(text: string): Promise<string> {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
  await tell(page, text);
  await page.waitForURL(/#\/t\//);
  return decodeURIComponent(page.url().split("#/t/")[1] ?? "");
}

test("the cost of a thread is shown by model and agent, with the budget and the window, and in the list", async () => {
  await begin("research");
  await answers().getByText("Done: found").waitFor();
  await page.getByRole("tab", { name: "Cost" }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByRole("row", { name: /^general-purpose/ }).waitFor();
  await panel.getByRole("row", { name: /^scripted .* \$0\.\d{4}$/ }).waitFor();
  await panel
    .getByText(/^\$0\.\d{4}$/)
    .first()
    .waitFor();
  await panel.getByRole("meter", { name: "Tokens" }).waitFor();
  await panel.getByText("Instructions").waitFor();
  await page
    .locator("nav li.thread")
    .filter({ hasText: /research.*\$0\.\d{4}/ })
    .first()
    .waitFor();
  await panel.getByRole("img", { name: /^Tokens of each model call/ }).waitFor();
  await expectGood(site, "cost");
  await panel.getByRole("link", { name: "Cost of all threads" }).click();
  await page.getByRole("img", { name: /^Tokens by day/ }).waitFor();
  await page.getByRole("img", { name: /^Cost by day: at most \$0\.\d{4}$/ }).waitFor();
  await page.getByRole("table", { name: "By thread" }).getByRole("link", { name: "research" }).waitFor();
  await page.getByText("As a table").first().click();
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole("table", { name: "Tokens by day" }).getByRole("row", { name: today }).waitFor();
  await expectGood(site, "cost of all threads");
  await page.getByRole("combobox", { name: "Period" }).selectOption("7 days");
  await page.getByRole("table", { name: "By thread" }).getByRole("link", { name: "research" }).click();
  await panel.getByText("Instructions").waitFor();
});

test("before subagents start, the approval says what those of earlier runs used, or that too few did", async () => {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("combobox", { name: "Agent" }).selectOption("careful");
  await tell(page, "research");
  await page.getByText("Fewer than 20 earlier runs had subagents").waitFor();
  const input = { messages: [{ role: "user", content: "delegate say hello" }] };
  const run = () => site.call("POST", "/runs/wait", { assistant_id: "agent", input });
  await Promise.all(Array.from({ length: 20 }, run));
  await page.reload();
  await page
    .getByText(/Subagents of one more run.* Half of them use at most [\d,]+ tokens · \$0\.\d+/)
    .waitFor();
  await page.getByRole("button", { name: "Approve all" }).click();
  await answers().getByText("Done: found").waitFor();
});

test("earlier versions of the plan stay below it", async () => {
  await begin("plan");
  await answers().getByText("Done:").waitFor();
  const panel = page.getByRole("tabpanel");
  await page.getByRole("tab", { name: "Plan" }).click();
  await expect.poll(() => panel.getByRole("img", { name: "done" }).count()).toBe(1);
  expect(await panel.getByText("Earlier versions").count()).toBe(0);
  await tell(page, "plan is done");
  await panel.getByText("Earlier versions: 1").click();
  expect(await panel.locator("ol").first().getByRole("img", { name: "done" }).count()).toBe(3);
  expect(await panel.locator("details ol").getByRole("img", { name: "done" }).count()).toBe(1);
  await page.reload();
  await panel.getByText("Earlier versions: 1").waitFor();
});

test("a new thread is begun with the chosen model, mode and budget; the thread keeps them", async () => {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("combobox", { name: "Model" }).selectOption("scripted:other");
  await page.getByText("Budget: no limit").click();
  await page.getByRole("spinbutton", { name: "At most, in tokens" }).fill("5000");
  await expectGood(site, "choices");
  await tell(page, "say mine");
  await answers().getByText("The other model says so.").waitFor();
  await page.reload();
  await page.getByText("Budget: 5,000 tokens").waitFor();
  const model = page.getByRole("combobox", { name: "Model" });
  await expect.poll(() => model.inputValue()).toBe("scripted:other");
  await model.selectOption("");
  await page.getByRole("combobox", { name: "Approvals" }).selectOption("plan");
  await tell(page, "write");
  await answers().getByText("Done: Error: Plan mode").waitFor();
  await page.getByText("Budget: 5,000 tokens").click();
  await page.getByRole("spinbutton", { name: "At most, in tokens" }).fill("10");
  // The choices are drawn again while somebody types.
  const id = page.url().split("/").at(-1);
  await site.call("PATCH", `/threads/${id}`, { title: "Named meanwhile" });
  await page.getByRole("navigation", { name: "Threads" }).getByText("Named meanwhile").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Budget: 10 tokens").waitFor();
  await tell(page, "say more");
  await page.getByText("The budget is used up.").waitFor();
});

test("a run whose completion checks fail is shown as not proven, with the checks, and can go on", async () => {
  const { thread_id: id } = await site.call("POST", "/threads", {});
  const input = {
    messages: [{ role: "user", content: "say finished" }],
    todos: [{ content: "Report is written", status: "pending", check: { file: "/report.md" } }],
  };
  await page.goto(`${site.server.url}/#/t/${id}`);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await site.call("POST", `/threads/${id}/runs/wait`, { assistant_id: "checked", input });
  const notice = page.getByText("The agent says that it is done, and this is not proven.");
  await notice.waitFor();
  expect(await notice.innerText()).toContain("- Report is written: ");
  await notice.getByRole("button", { name: "Continue" }).waitFor();
  await expectGood(site, "not proven");
});

test("a subagent at work is told something, and stopped", async () => {
  const gate = join(site.directory, "gate");
  const begun = async (): Promise<void> => {
    await begin(`delegate hold ${gate}`);
    await page.getByRole("tab", { name: "Agents" }).click();
    await page.getByRole("button", { name: "Stop it" }).waitFor();
  };
  await begun();
  await page.getByRole("button", { name: `general-purpose running hold ${gate}` }).click();
  await page.getByText("working…").waitFor();
  await page.getByRole("button", { name: "Tell it something" }).click();
  await expectGood(site, "orders");
  await page.getByRole("textbox", { name: "Message for general-purpose" }).fill("say heard");
  await page.keyboard.press("Enter");
  await page.getByText("general-purpose reads it before its next step.").waitFor();
  await page.getByRole("button", { name: "← Back to the main agent" }).click();
  await writeFile(gate, "");
  await answers().getByText("Done: heard").waitFor();
  await rm(gate);
  await begun();
  await page.getByRole("button", { name: "Stop it" }).click();
  await answers()
    .getByText(/^Done: .*stopped/)
    .waitFor();
});

test("a tool is allowed for the thread: nobody is asked again, until it is taken back", async () => {
  await begin("write");
  await page
    .getByRole("combobox", { name: "Ask again" })
    .selectOption("Not about any write_file, in this thread");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await answers().getByText("Done: Successfully").waitFor();
  await tell(page, "write");
  await expect.poll(() => answers().getByText("Done:").count()).toBe(2);
  await page.getByText("Allowed: 1").click();
  await expectGood(site, "allowed");
  await page.getByRole("button", { name: "Ask again about write_file" }).click();
  await expect.poll(() => page.getByText("Allowed: 1").count()).toBe(0);
  await tell(page, "write");
  await page.getByRole("button", { name: "Reject" }).waitFor();
});

test("a failed run is tried again from its last step", async () => {
  const works = join(site.directory, "works");
  await begin(`fail ${works}`);
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await writeFile(works, "");
  await page.getByRole("button", { name: "Try again" }).click();
  await answers().getByText("Works again.").waitFor();
});
