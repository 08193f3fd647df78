import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../test-support/app-terminal.ts";
import { directoryWith, startBinary } from "../test-support/run-binary.ts";

async function served(cwd: string): Promise<{ readonly url: string; readonly token: string }> {
  const { child, shows, result } = startBinary(["serve", "--port", "0", "--model", "offline"], { cwd });
  let lines = "";
  child.stderr?.on("data", (text: string) => {
    lines += text;
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await result;
  });
  await shows("Listening on http://127.0.0.1:");
  return {
    url: /Listening on (\S+)\n/.exec(lines)?.[1] as string,
    token: /shown only once: (\S+)/.exec(lines)?.[1] as string,
  };
}

test("on a server elsewhere a write is approved, undone and done again; what works only here says so", async () => {
  const there = await directoryWith({ "README.md": "# Demo\n" });
  const here = await directoryWith({});
  const { url, token } = await served(there);
  const env = { DEEPWRIGHT_SERVER_TOKEN: token };
  const terminal = startApp(["--connect", url], { cwd: here, env });
  onTestFinished(() => void terminal.child.kill());
  await terminal.press("with the files of the server", "Summarise this project in report.md\r");
  await terminal.press("yes, run it", "y");
  await terminal.press("✔ done", "/diff\r");
  await terminal.press("+## Second look by a subagent", "/undo\r");
  await terminal.press("- /report.md in the directory of the server", "");
  await expect(readFile(join(there, "report.md"))).rejects.toThrow("ENOENT");
  await terminal.press("Undone. /redo restores it.", "/redo\r");
  await terminal.press("Restored. /undo undoes it again.", "/blame report.md\r");
  await terminal.press("file tool", "/title The report\r");
  await terminal.press("This thread is named: The report", "!ls\r");
  await terminal.press("run on this machine only", "/skills\r");
  await terminal.press("does not tell", "/resume\r");
  await terminal.press("❯ The report", "\x1b");
  await terminal.press("/help", "/quit\r");
  expect(await terminal.ended).toBe(0);
  expect(await readFile(join(there, "report.md"), "utf8")).toContain("# Report of the offline model");
});
