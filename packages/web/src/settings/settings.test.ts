/** The settings: what the owner of the machine sees and changes, and what callers of other servers do not. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SettingsOfHost } from "@deepwright/server";
import { explainPermission, MapBackend } from "deepwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { expectGood } from "../axe-for-tests.ts";
import { openPage, type TestPage, tell } from "../page-for-tests.ts";

const PERMISSIONS = [
  { operations: ["write"], paths: ["/private/**"], mode: "deny" },
  { operations: ["read", "write"], paths: ["/drafts/**"], mode: "interrupt" },
] as const;

const memory = new MapBackend({ "/AGENTS.md": "# Style\n- uses tabs\n" });
let allowed = [{ tool: "execute", prefix: ["npm", "test"] }, { tool: "write_file" }];

const settings: SettingsOfHost = {
  directory: "/home/ada/garden",
  facts: async () => ({
    directory: "/home/ada/garden",
    model: "Model: anthropic:claude-sonnet-4-6 (ANTHROPIC_API_KEY is set)",
    providers: [
      { name: "anthropic", key: "ANTHROPIC_API_KEY", is_present: true, model: "claude-sonnet-4-6" },
      { name: "openai", key: "OPENAI_API_KEY", is_present: false, model: "gpt-5.4" },
      { name: "groq", key: "GROQ_API_KEY", is_present: false },
    ],
    model_servers: [{ title: "Ollama", url: "http://127.0.0.1:11434", models: null }],
    approval_mode: "ask",
    sandbox: "os",
    permissions: PERMISSIONS.map(({ operations, paths, mode }) => ({
      operations: [...operations],
      paths: [...paths],
      mode,
    })),
    commands: { allow: ["npm test"], ask: [], deny: ["git push"] },
    allowed,
    settings_files: [{ path: "/home/ada/.deepwright/settings.json", is_there: true, is_trusted: true }],
    mcp_servers: [
      { name: "garden", origin: "project", state: "untrusted", tools: [] },
      { name: "search", origin: "user", state: "ready", tools: ["mcp__search__find"] },
    ],
    skills: [
      { name: "roses", description: "How roses are cut.", path: "/skills/roses/SKILL.md", is_trusted: true },
    ],
    memory: [
      { path: "/AGENTS.md", shown_path: "/home/ada/garden/AGENTS.md", is_there: true, is_trusted: true },
      {
        path: "/.user/0/AGENTS.md",
        shown_path: "/home/ada/.deepwright/AGENTS.md",
        is_there: false,
        is_trusted: true,
      },
    ],
  }),
  explainPath: async (path, operation) => {
    const { mode, reason } = explainPermission(PERMISSIONS, path, operation);
    return { decision: mode === "interrupt" ? "ask" : mode, reason };
  },
  explainCommand: async (command) => ({ decision: "deny", reason: `The settings refuse \`${command}\`.` }),
  forgetAllowed: async ({ tool }) => {
    allowed = allowed.filter((rule) => rule.tool !== tool);
    return true;
  },
  memory,
  propose: async () => {
    const before = await textOf("/AGENTS.md");
    const files = [{ path: "/AGENTS.md", before, after: before.replace("tabs", "spaces") }];
    return { message: "The review proposes this change.", conversations: 2, files };
  },
};

async function textOf(path: string): Promise<string> {
  const [file] = await memory.downloadFiles([path]);
  return new TextDecoder().decode(file?.content ?? undefined);
}

let site: TestPage;
let page: Page;
let receiver: Server;
const heard: unknown[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    heard.push(JSON.parse(body));
    response.end();
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  site = await openPage({ settings, runs: { webhooks: { allowPrivate: true } } });
  page = site.page;
});
afterAll(async () => {
  expect(site?.foreign).toEqual([]);
  expect(site?.failures).toEqual([]);
  await site?.close();
  receiver.close();
});

const panel = () => page.getByRole("tabpanel");
const open = (tab: string) => page.getByRole("tab", { name: tab }).click();

test("tabs are reached by keyboard, and every one is good on wide and narrow screens", async () => {
  await page.goto(`${site.server.url}/#/settings`);
  await panel().getByText("/home/ada/garden", { exact: true }).waitFor();
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    if (width === 360 && (await page.getByRole("navigation").isVisible()))
      await page.getByRole("button", { name: "Hide threads" }).click();
    await page.getByRole("tab", { name: "General" }).focus();
    for (const tab of ["Models", "Permissions", "Tools and skills", "Memory", "Schedules", "Webhooks"]) {
      await page.keyboard.press("ArrowRight");
      await expect
        .poll(() => page.getByRole("tab", { name: tab }).getAttribute("aria-selected"))
        .toBe("true");
      await expectGood(site, `${tab} at ${width}`);
    }
    await page.keyboard.press("ArrowRight");
    await page.getByRole("group", { name: "Theme" }).waitFor();
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("keys are present or missing, servers and skills have their trust", async () => {
  await open("Models");
  await panel().getByRole("row", { name: "anthropic claude-sonnet-4-6 ANTHROPIC_API_KEY present" }).waitFor();
  await panel().getByRole("row", { name: "OPENAI_API_KEY missing" }).waitFor();
  await panel().getByText("1 more provider").click();
  await panel().getByText("GROQ_API_KEY").waitFor();
  await open("Tools and skills");
  await panel().getByRole("listitem").filter({ hasText: "garden" }).getByText("untrusted").waitFor();
  await panel().getByText("How roses are cut.").waitFor();
});

test("the explainer names the rule that decides, and what was allowed is taken back", async () => {
  await open("Permissions");
  const field = panel().getByRole("textbox", { name: "Path or command" });
  const status = panel().getByRole("status");
  await field.fill("/private/key.txt");
  await field.press("Enter");
  await status.getByText("Refused").waitFor();
  expect(await status.textContent()).toContain("Rule 1 of 2 (deny: '/private/**')");
  await panel().getByRole("combobox", { name: "Ask about" }).selectOption("Reading a file");
  await field.fill("drafts/one.md");
  await panel().getByRole("button", { name: "Explain" }).click();
  await status.getByText("Asks you").waitFor();
  await panel().getByRole("combobox", { name: "Ask about" }).selectOption("A command");
  await field.fill("git push");
  await field.press("Enter");
  await status.getByText("The settings refuse `git push`.").waitFor();
  await panel().getByRole("button", { name: "Ask again about all calls of write_file" }).click();
  await expect
    .poll(() =>
      panel()
        .getByRole("button", { name: /^Ask again about/ })
        .count(),
    )
    .toBe(1);
});

test("a memory file is edited, not over somebody else's change, and a proposal is saved after a look", async () => {
  await open("Memory");
  const edit = panel().getByRole("button", { name: "Edit /home/ada/garden/AGENTS.md" });
  await edit.click();
  const field = panel().getByRole("textbox", { name: "Content of /home/ada/garden/AGENTS.md" });
  await expect.poll(() => field.inputValue()).toBe("# Style\n- uses tabs\n");
  await memory.edit("/AGENTS.md", "# Style", "# Our style");
  await field.fill("mine");
  await panel().getByRole("button", { name: "Save" }).click();
  await panel().getByText("The file was changed meanwhile.").waitFor();
  expect(await field.inputValue()).toBe("mine");
  await panel().getByRole("button", { name: "Cancel" }).click();
  await edit.click();
  await expect.poll(() => field.inputValue()).toBe("# Our style\n- uses tabs\n");
  await field.fill("# Our style\n- uses tabs\n- short answers\n");
  await panel().getByRole("button", { name: "Save" }).click();
  await edit.waitFor();
  expect(await textOf("/AGENTS.md")).toContain("- short answers");
  await panel().getByRole("button", { name: "Review threads" }).click();
  await panel().getByText("2 threads reviewed. The review proposes this change.").waitFor();
  await expectGood(site, "proposal");
  expect(await textOf("/AGENTS.md")).toContain("tabs");
  await panel().getByRole("button", { name: "Save this change" }).click();
  await until(async () => (await textOf("/AGENTS.md")).includes("- uses spaces"));
});

test("schedules are paused and deleted", async () => {
  for (const schedule of ["0 7 * * 1", "30 9 * * *"])
    await site.call("POST", "/runs/crons", {
      assistant_id: "agent",
      schedule,
      input: { messages: [{ role: "user", content: "say good morning" }] },
    });
  await open("Schedules");
  const row = panel().getByRole("listitem").filter({ hasText: "0 7 * * 1" });
  await row.getByText("say good morning").waitFor();
  await row.getByText(/^next: /).waitFor();
  await expectGood(site, "schedules");
  await row.getByRole("button", { name: "Pause: 0 7 * * 1" }).click();
  await row.getByText("paused").waitFor();
  await row.getByRole("button", { name: "Resume: 0 7 * * 1" }).click();
  await row.getByText(/^next: /).waitFor();
  await row.getByRole("button", { name: "Delete: 0 7 * * 1" }).click();
  await row.waitFor({ state: "detached" });
  expect(await site.call("POST", "/runs/crons/search", {})).toMatchObject([{ schedule: "30 9 * * *" }]);
});

test("an address hears of the end of runs that the page begins, also after an answer", async () => {
  await open("Webhooks");
  const field = panel().getByRole("textbox", { name: "Address for runs of this page" });
  await field.fill("nonsense");
  await panel().getByText("This is not an http or https address.").waitFor();
  const { port } = receiver.address() as AddressInfo;
  await field.fill(`http://127.0.0.1:${port}/hook`);
  await field.press("Tab");
  await page.goto(`${site.server.url}/#/`);
  await tell(page, "write");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("article", { name: "Agent" }).getByText("Done:").waitFor();
  await until(() => heard.length === 2);
  expect(heard.map((one) => (one as { status: string }).status)).toEqual(["interrupted", "success"]);
  await page.goto(`${site.server.url}/#/settings`);
  await expect.poll(() => panel().getByText("delivered").count()).toBe(2);
  await field.fill("");
  await field.press("Tab");
});

test("a server that offers no settings says so", async () => {
  const other = await openPage();
  try {
    await other.page.goto(`${other.server.url}/#/settings`);
    await other.page.getByRole("tab", { name: "Permissions" }).click();
    await other.page.getByText("This server keeps the settings of its machine to itself.").waitFor();
  } finally {
    await other.close();
  }
});
