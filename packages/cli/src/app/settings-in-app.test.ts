/** Settings of the person and of the project in the app, through the real program. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../test-support/app-terminal.ts";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf } from "../test-support/run-binary.ts";

const READY = "offline model, not an LLM";
const ESC = "\x1b";

test("the person is asked whether they trust a project's hooks; keys and vim's keys follow the settings", async () => {
  const hooks = { "run-start": [{ command: "touch started" }] };
  const cwd = await directoryWith({ ".deepwright/settings.json": JSON.stringify({ hooks }) });
  await mkdir(homeOf(cwd), { recursive: true });
  const own = { vim: true, keybindings: { "next-mode": "ctrl+t" } };
  await writeFile(join(homeOf(cwd), "settings.json"), JSON.stringify(own));
  const terminal = startApp(["--model", "offline"], { cwd });
  onTestFinished(() => void terminal.child.kill());
  await terminal.press("Trust these settings as they are now?", "n\r");
  await terminal.press(READY, `What is x here?${ESC}`);
  await terminal.press("NORMAL", "0dw");
  await terminal.press("is x here?", "\x14");
  await terminal.press("accept-edits: files change", "dd");
  await terminal.press(READY, "i!sleep 60; echo late\r");
  await terminal.press("Running sleep 60; echo late…", ESC);
  await terminal.press("NORMAL", ESC);
  await terminal.press("(stopped)", "i/help\r");
  await terminal.press("Ctrl-T", "/quit\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.all()).toContain("hooks");
});

test("permissions, command rules, hooks and the budget of the settings hold in the app", async () => {
  const cwd = await directoryWith({});
  const log = `${cwd}.home/events.jsonl`;
  const settings = {
    mode: "auto",
    permissions: [{ operations: ["write"], paths: ["/secrets/**"], mode: "deny" }],
    commands: { deny: ["curl"] },
    budget: { maxTokens: 5_000 },
    hooks: {
      "run-start": [{ command: `cat >> '${log}'` }],
      "before-tool": [{ command: "grep -q blocked && exit 2; exit 0", tools: ["write_file"] }],
      "run-end": [{ command: `cat >> '${log}'` }],
    },
  };
  await mkdir(homeOf(cwd), { recursive: true });
  await writeFile(join(homeOf(cwd), "settings.json"), JSON.stringify(settings));
  const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } });
  const server = await providerServer([
    call("write_file", { file_path: "/secrets/a.txt", content: "x" }),
    call("write_file", { file_path: "/blocked.txt", content: "x" }),
    call("execute", { command: "curl http://x.test" }),
    { text: ["All three were refused."] },
  ]);
  const model = ["--model", "openai:m1", "--base-url", `${server.url}/v1`];
  const terminal = startApp(model, { cwd, env: { OPENAI_API_KEY: "key" } });
  onTestFinished(async () => {
    terminal.child.kill();
    await server.close();
  });
  await terminal.press("openai:m1 ·", "go\r");
  await terminal.sees("All three were refused.");
  await terminal.press("of 5,000 tokens left", "/quit\r");
  expect(await terminal.ended).toBe(0);
  const messages = JSON.stringify(server.asked()[3]?.body.messages);
  for (const words of [
    "permission denied for write on /secrets/a.txt",
    "a hook refused it",
    "A rule refuses `curl`",
  ])
    expect(messages).toContain(words);
  const events = (await readFile(log, "utf8")).trim().split("\n");
  expect(events.map((line) => JSON.parse(line).event)).toEqual(["run-start", "run-end"]);
});
