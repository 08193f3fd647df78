/** Subagents in the app: listed, opened, told something, stopped. Through the real program. */
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { startApp } from "../test-support/app-terminal.ts";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith } from "../test-support/run-binary.ts";

const TASK = {
  call: { name: "task", args: { description: "Count files.", subagent_type: "general-purpose" } },
};
const READ = { name: "read_file", args: { file_path: "/README.md" } };
const TAB = "\t";
const ESC = "\x1b";

function held() {
  let go = (): void => {};
  const hold = new Promise<void>((resolve) => {
    go = resolve;
  });
  return { hold, go };
}

test("one subagent is told something before its next step, and another is stopped alone", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  const [first, second] = [held(), held()];
  const server = await providerServer([
    TASK,
    { text: ["I look ", "at the files."], call: READ, hold: first.hold },
    { text: ["One file."] },
    { text: ["The first is done."] },
    TASK,
    { text: ["I count ", "again and ", "again."], hold: second.hold },
    { text: ["The second was stopped."] },
  ]);
  const terminal = startApp(["--model", "openai:m1", "--base-url", `${server.url}/v1`], {
    cwd,
    env: { OPENAI_API_KEY: "key" },
  });
  onTestFinished(async () => {
    for (const { go } of [first, second]) go();
    terminal.child.kill();
    await server.close();
  });
  await terminal.press("openai:m1 ·", "count\r");
  await terminal.press("Tab opens them", TAB);
  await terminal.press("── Subagents (1)", "\r");
  await terminal.sees("Count files.");
  await terminal.press("── general-purpose · running", "s");
  await terminal.press("Tell general-purpose", "Only text files.\r");
  await terminal.press("── general-purpose · running", `${ESC}`);
  await terminal.press("── Subagents (1)", `${ESC}`);
  await terminal.sees("for general-purpose: Only text files.");
  first.go();
  await terminal.press("The first is done.", "and again\r");
  const asked = server.asked().map(({ body }) => JSON.stringify(body.messages.at(-1)));
  expect(asked.findIndex((text) => text.includes("Only text files."))).toBe(2);
  await until(() => server.asked().length === 6);
  await terminal.press("Tab opens them", TAB);
  await terminal.press("── Subagents (2)", "x");
  await terminal.sees("The second was stopped.");
  expect(JSON.stringify(server.asked()[6]?.body)).toContain("The user stopped it.");
  await terminal.press("general-purpose did not finish", ESC);
  await terminal.press("/help", "/quit\r");
  expect(await terminal.ended).toBe(0);
});
