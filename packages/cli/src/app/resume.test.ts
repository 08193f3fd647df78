import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AppTerminal, startApp } from "../test-support/app-terminal.ts";
import { directoryWith } from "../test-support/run-binary.ts";

function started(cwd: string, args: readonly string[] = []): AppTerminal {
  const terminal = startApp(["--model", "offline", ...args], { cwd });
  onTestFinished(() => void terminal.child.kill());
  return terminal;
}

test("a thread that was left at a question asks it again, and a rejected call does not run", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  const terminal = started(cwd);
  await terminal.press("offline model, not an LLM", "Summarise this project in report.md\r");
  await terminal.press("yes, run it", "\x03");
  await terminal.press("›", "\x04");
  expect(await terminal.ended).toBe(0);
  const again = started(cwd, ["-c"]);
  await again.press("no, and say why", "n");
  await again.press("Why not?", "not this file\r");
  // The offline model tries once more.
  await again.sees("✘ write_file");
  await again.press("yes, run it", "\x03");
  await again.press("›", "\x04");
  expect(await again.ended).toBe(0);
  await expect(readFile(join(cwd, "report.md"))).rejects.toThrow("ENOENT");
});
