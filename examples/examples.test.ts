import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const last: Record<string, RegExp> = {
  "approval.ts": /tool: sent to team@example\.com: Hello\nai: The mail is out\.$/,
  "durable-thread.ts":
    /^4 messages: Planned\.\n8 messages: Moved\.\n-Begin on Monday\.\n\+Begin on Friday\.\nput back: \/plan\.md$/,
  "middleware.ts": /→ ls\n2 turns, outcome done$/,
  "quickstart.ts": /The haiku is in \/haiku\.md\.\nOld pond/,
  "streaming.ts": /progress { counted: 2 }[\s\S]*Counted\.[\s\S]*finished model_request$/,
  "structured-output.ts": /good 0\.7$/,
};

test("every example has an expectation here", () => {
  const files = readdirSync("examples").filter((name) => name.endsWith(".ts") && !name.includes(".test."));
  expect(files.toSorted()).toEqual(Object.keys(last).toSorted());
});

test.each(Object.entries(last))("%s runs", async (file, expected) => {
  const { stdout } = await run(process.execPath, [
    "--import",
    "tsx",
    "--conditions=source",
    `examples/${file}`,
  ]);
  expect(stdout.trim()).toMatch(expected);
});
