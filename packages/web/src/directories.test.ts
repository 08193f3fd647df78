/** Agents that work in different directories, or lead a team: the choice, the list, the files, the settings. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentKinds, type SettingsOfHost } from "@deepwright/server";
import { FilesystemBackend, MapBackend } from "deepwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "./axe-for-tests.ts";
import { openPage, scriptedAgent, type TestPage, tell } from "./page-for-tests.ts";

let site: TestPage;
let page: Page;
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "page-directories-"));
  const places = new Map<string, { backend: FilesystemBackend; settings: SettingsOfHost }>();
  for (const [name, directory] of [
    ["agent", join(root, "old", "shop")],
    ["blog-1", join(root, "blog")],
    ["shop-1", join(root, "new", "shop")],
  ] as const) {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${name}.md`), `of ${name}\n`);
    const backend = new FilesystemBackend({ rootDir: directory, virtualMode: true });
    places.set(name, { backend, settings: settingsOf(directory) });
  }
  const kinds = new AgentKinds({ words: { cowork: "Work.", acp: "Lead." } });
  const agentOf = (name: string) =>
    scriptedAgent({
      backend: places.get(name)?.backend as never,
      middleware: [kinds.guard] as never,
      budget: { maxStepsPerAgent: 1 },
    });
  site = await openPage({
    agents: Object.fromEntries([...places.keys()].map((name) => [name, agentOf(name)])),
    workspace: (_, agent) => places.get(agent)?.backend,
    settings: (agent) => places.get(agent)?.settings,
    onError: () => {},
  });
  page = site.page;
});
afterAll(async () => {
  expect(site?.foreign).toEqual([]);
  expect(site?.failures).toEqual([]);
  await site?.close();
  await rm(root, { recursive: true, force: true });
});

function settingsOf(directory: string): SettingsOfHost {
  return {
    directory,
    facts: async () => ({
      directory,
      model: "Model: scripted",
      providers: [],
      model_servers: [],
      approval_mode: "ask",
      sandbox: "os",
      permissions: [],
      commands: { allow: [], ask: [], deny: [] },
      allowed: [],
      settings_files: [],
      mcp_servers: [],
      skills: [],
      memory: [
        { path: "/AGENTS.md", shown_path: join(directory, "AGENTS.md"), is_there: true, is_trusted: true },
      ],
    }),
    explainPath: async () => ({ decision: "deny", reason: `A rule of ${directory}.` }),
    explainCommand: async () => ({ decision: "ask", reason: "No rule." }),
    memory: new MapBackend({ "/AGENTS.md": `memory of ${directory}\n` }),
    propose: async () => ({ message: "", conversations: 0, files: [] }),
  };
}

const panel = () => page.getByRole("tabpanel");
const answers = () => page.getByRole("article", { name: "Agent" });

async function begin(directory: string, text: string): Promise<void> {
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("combobox", { name: "Directory" }).selectOption(directory);
  await tell(page, text);
  await page.waitForURL(/#\/t\//);
}

test("a thread is begun in a directory; its files, its approvals and its place in the lists are of that one", async () => {
  const choice = page.getByRole("combobox", { name: "Directory" });
  await choice.waitFor();
  expect(await choice.locator("option").allTextContents()).toEqual(["old/shop", "blog", "new/shop"]);
  await page.getByText(`The agent works in ${join(root, "old", "shop")}`).waitFor();
  await choice.selectOption("blog");
  await page.getByText(`The agent works in ${join(root, "blog")}`).waitFor();
  await expectGood(site, "a new thread in a directory");

  await begin("blog", "write");
  await page.locator("header").getByText("in blog").waitFor();
  await page.getByRole("link", { name: /^Approvals/ }).click();
  await page.locator(".inbox-item header").getByText("blog").waitFor();
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await expect.poll(() => readdir(join(root, "blog"))).toEqual(["blog-1.md", "notes.md"]);
  expect(await readdir(join(root, "old", "shop"))).toEqual(["agent.md"]);
  await page.locator("nav li.thread").filter({ hasText: "blog" }).getByRole("link").click();
  await page.getByRole("tab", { name: "Files" }).click();
  await panel().getByRole("button", { name: "notes.md" }).click();
  await panel().getByText("three").waitFor();

  await begin("new/shop", "say hello");
  await answers().getByText("hello").waitFor();
  await panel().getByRole("button", { name: "shop-1.md" }).waitFor();
  expect(await panel().getByText("three").count()).toBe(0);
  await page.getByRole("button", { name: "By directory" }).click();
  await expect.poll(() => page.locator("nav section h2").allTextContents()).toEqual(["new/shop", "blog"]);
  await page.getByRole("button", { name: "By directory" }).click();
});

test("settings are of one directory at a time", async () => {
  await page.goto(`${site.server.url}/#/settings`);
  const choice = page.getByRole("combobox", { name: "Directory" });
  await choice.selectOption("blog");
  await page.getByRole("tab", { name: "Memory" }).click();
  const edit = (place: string) =>
    page.getByRole("button", { name: `Edit ${join(root, place, "AGENTS.md")}` }).click();
  await edit("blog");
  const field = page.getByRole("textbox");
  await expect.poll(() => field.last().inputValue()).toBe(`memory of ${join(root, "blog")}\n`);
  await field.last().fill("changed\n");
  await page.getByRole("button", { name: "Save" }).click();
  await choice.selectOption("old/shop");
  await edit(join("old", "shop"));
  await expect.poll(() => field.last().inputValue()).toBe(`memory of ${join(root, "old", "shop")}\n`);
  await expectGood(site, "settings of a directory");
});

test("a team is shown at work; the agent stops after its own model calls, and continues", async () => {
  await page.goto(`${site.server.url}/#/`);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("as a team");
  await page.keyboard.press("Enter");
  const works = page.getByRole("combobox", { name: "Works" });
  await expect.poll(() => works.inputValue()).toBe("acp");
  await begin("blog", `delegate hold ${join(root, "gate")}`);
  await page.getByRole("tab", { name: "Agents", selected: true }).waitFor();
  await panel().getByRole("button", { name: "general-purpose running" }).waitFor();
  await writeFile(join(root, "gate"), "");
  // The subagent has a count of its own.
  await page.getByText("The budget of 1 model call is used up").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await answers().getByText("You said: Continue.").waitFor();
});

test("a thread whose agent this server does not have says so, and nothing can be sent or approved", async () => {
  const { thread_id: id } = await site.call("POST", "/threads", {});
  const input = { messages: [{ role: "user", content: "write" }] };
  await site.call("POST", `/threads/${id}/runs/wait`, { assistant_id: "blog-1", input });
  const metadata = { assistant_id: "2f7a1c1e-0000-4000-8000-000000000000" };
  await site.call("PATCH", `/threads/${id}`, { metadata });
  await page.goto(`${site.server.url}/#/t/${id}`);
  await page.getByText("The agent of this thread is not on this server.").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("hello");
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  const approve = page.getByRole("button", { name: "Approve", exact: true });
  await approve.waitFor();
  expect(await approve.isDisabled()).toBe(true);
  await page.getByRole("link", { name: /^Approvals/ }).click();
  await page.locator(".inbox-item").getByText("is not on this server").waitFor();
});
