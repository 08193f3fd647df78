import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../packages/checkpoint/src/test-support/postgres.ts";

const run = promisify(execFile);
const last: Record<string, RegExp> = {
  "approval.ts": /tool: sent to team@example\.com: Hello\nai: The mail is out\.$/,
  "durable-thread.ts":
    /^4 messages: Planned\.\n8 messages: Moved\.\n-Begin on Monday\.\n\+Begin on Friday\.\nput back: \/plan\.md$/,
  "guarded-backend.ts":
    /not allowed under \/policies[\s\S]*notes\.md[\s\S]*error: 'Edits are not allowed under \/archive',\s+code: 'PERMISSION_DENIED'/,
  "middleware.ts": /→ ls\n2 turns, outcome done$/,
  "postgres-backend.ts": /^\/100%\/plan\.md[\s\S]*path: '\/100%\/plan\.md', content: 'Begin on Friday\.\\n'/,
  "quickstart.ts": /The haiku is in \/haiku\.md\.\nOld pond/,
  "s3-style-backend.ts": /\/notes\/a\.md[\s\S]*three[\s\S]*\none\nthree$/,
  "streaming.ts": /progress { counted: 2 }[\s\S]*Counted\.[\s\S]*finished model_request$/,
  "structured-output.ts": /good 0\.7$/,
};

test("every example has an expectation here", () => {
  const files = readdirSync("examples").filter((name) => name.endsWith(".ts") && !name.includes(".test."));
  expect(files.toSorted()).toEqual(Object.keys(last).toSorted());
});

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

test.each(Object.entries(last))("%s runs", async (file, expected) => {
  const options = { env: { ...process.env, DATABASE_URL: database.url } };
  const program = ["--import", "tsx", "--conditions=source", `examples/${file}`];
  const { stdout } = await run(process.execPath, program, options);
  expect(stdout.trim()).toMatch(expected);
});
