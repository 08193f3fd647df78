import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AppTerminal, startApp } from "../test-support/app-terminal.ts";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf } from "../test-support/run-binary.ts";

function started(cwd: string, args: readonly string[] = []): AppTerminal {
  const terminal = startApp(["--model", "offline", ...args], { cwd });
  onTestFinished(() => void terminal.child.kill());
  return terminal;
}

const READY = "offline model, not an LLM";
const CTRL_C = "\x03";
const FOCUS_LOST = "\x1b[O";
const LIGHT_ACCENT = "\x1b[38;5;25m";

test("a question is answered, an edit is approved, undone and done again", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  const first = started(cwd);
  await first.press(READY, "Summarise this project in report.md\r");
  await first.press("yes, run it", "y");
  await first.press("✔ done", "/undo\r");
  await first.sees("Undone. /redo restores it.");
  await expect(readFile(join(cwd, "report.md"))).rejects.toThrow("ENOENT");
  await first.press("Undone. /redo restores it.", "/redo\r");
  await first.sees("Restored.");
  expect(await readFile(join(cwd, "report.md"), "utf8")).toContain("# Report of the offline model");
  await first.press("Restored.", CTRL_C);
  await first.press("Ctrl-C again leaves", CTRL_C);
  expect(await first.ended).toBe(0);
  expect(first.screen()).toMatch(/Come back with: deepwright -r [0-9a-f]{8}/);
  for (const sequence of ["[2J", "[3J", "[?1049h"]) expect(first.screen()).not.toContain(`\x1b${sequence}`);
});

test("plan mode refuses the write of the agent", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  const terminal = started(cwd, ["--mode", "plan"]);
  await terminal.press(READY, "Summarise this project in report.md\r");
  await terminal.press("Carry out the plan?", "\x1b");
  await terminal.press("/help", "/quit\r");
  expect(await terminal.ended).toBe(0);
  await expect(readFile(join(cwd, "report.md"))).rejects.toThrow("ENOENT");
});

test("theme, status line and notifications are those of the settings", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  const looks = { theme: "light", statusLine: ["model", "sandbox"], notifications: "osc777" };
  await mkdir(homeOf(cwd), { recursive: true });
  await writeFile(join(homeOf(cwd), "settings.json"), JSON.stringify(looks));
  const terminal = startApp(["--model", "offline"], { cwd, env: { NO_COLOR: "" } });
  onTestFinished(() => void terminal.child.kill());
  await terminal.press(`${READY} · `, `${FOCUS_LOST}Summarise this project in report.md\r`);
  await terminal.press("yes, run it", "y");
  await terminal.press("✔ done", "/quit\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.all()).not.toContain("ask (Shift-Tab) · offline");
  for (const words of ["waits for your approval", "is done"])
    expect(terminal.screen()).toContain(`\x1b]777;notify;deepwright;deepwright ${words}\x07`);
  expect(terminal.screen()).not.toContain("\x1b]9;");
  expect(terminal.screen()).toContain(LIGHT_ACCENT);
});

test("arguments that are no JSON change nothing, and a result of the person stands for the call", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  const terminal = started(cwd);
  await terminal.press(READY, "Summarise this project in report.md\r");
  await terminal.press("change its arguments", "e");
  await terminal.press("Its arguments (JSON)", "\x15");
  await terminal.press("Its arguments (JSON)", "x\r");
  await terminal.press("not valid JSON", "\x1b");
  await terminal.press("yes, run it", "r");
  await terminal.press("The result that the agent gets", "It is written.\r");
  await terminal.press("✔ done", "/quit\r");
  expect(await terminal.ended).toBe(0);
  await expect(readFile(join(cwd, "report.md"))).rejects.toThrow("ENOENT");
});

test("a message for the run and one for afterwards are named; Esc gives the second back, and the first is read before the next one", async () => {
  const cwd = await directoryWith({});
  let go = (): void => {};
  const hold = new Promise<void>((resolve) => {
    go = resolve;
  });
  const server = await providerServer([
    { text: ["one ", "two ", "three ", "four "], hold },
    { id: "second", text: ["Both are read."] },
  ]);
  onTestFinished(async () => {
    go();
    await server.close();
  });
  const terminal = startApp(["--model", "openai:m1", "--base-url", `${server.url}/v1`], {
    cwd,
    env: { OPENAI_API_KEY: "key" },
  });
  onTestFinished(() => void terminal.child.kill());
  await terminal.press("openai:m1 ·", "count\r");
  await terminal.press("Working", "faster\r");
  await terminal.press("for its next step: faster", "and then stop\x1b\r");
  await terminal.press("for afterwards: and then stop", "\x1b");
  await terminal.press("■ Interrupted", "");
  await terminal.press("› and then stop", CTRL_C);
  await terminal.press("goes before your next message: faster", "from ten\r");
  await terminal.press("Both are read.", "/quit\r");
  expect(await terminal.ended).toBe(0);
  const said: { role: string; content: unknown }[] = server.asked()[1]?.body.messages;
  expect(said.filter(({ role }) => role === "user").map(({ content }) => JSON.stringify(content))).toEqual([
    expect.stringContaining("count"),
    expect.stringContaining("faster"),
    expect.stringContaining("from ten"),
  ]);
});

test("a message that comes while the last answer is written is answered in a run of its own; a command of the person goes behind their words", async () => {
  const cwd = await directoryWith({});
  let go = (): void => {};
  const hold = new Promise<void>((resolve) => {
    go = resolve;
  });
  const server = await providerServer([
    { text: ["one ", "two ", "three ", "four "], hold },
    { text: ["Faster it is."] },
  ]);
  const terminal = startApp(["--model", "openai:m1", "--base-url", `${server.url}/v1`], {
    cwd,
    env: { OPENAI_API_KEY: "key" },
  });
  onTestFinished(async () => {
    go();
    terminal.child.kill();
    await server.close();
  });
  await terminal.press("openai:m1 ·", "!echo from the $((1+1))nd\r");
  await terminal.press("  from the 2nd", "count\r");
  await terminal.sees("+ I ran `echo");
  await terminal.press("Working", "faster\r");
  await terminal.sees("for its next step: faster");
  go();
  await terminal.sees("Faster it is.");
  await terminal.press("✔ done", "/quit\r");
  expect(await terminal.ended).toBe(0);
  expect(JSON.stringify(server.asked()[1]?.body.messages.at(-1))).toContain("faster");
  const said = JSON.stringify(
    server.asked()[0]?.body.messages.findLast(({ role }: { role: string }) => role === "user"),
  );
  expect(said).toMatch(/count\\n\\n<added>\\nI ran `echo.*from the 2nd/);
});
