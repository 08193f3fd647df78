import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../packages/checkpoint/src/test-support/postgres.ts";

const run = promisify(execFile);

/** What an example prints: a pattern for all of it, or each line; lines in a list of their own come in any order. */
const printed: Record<string, RegExp | readonly (string | RegExp | readonly string[])[]> = {
  "api-with-curl.sh": [
    /^== Without a token/,
    '{"code":"UNAUTHENTICATED","message":"A valid token is needed."}',
    '{"ok":true}',
    /^== An assistant/,
    '{"name":"Writer","graph_id":"agent","version":1}',
    /^== A thread, and a run on it; the connection is cut/,
    ...["id: 1", "id: 2", "id: 3"],
    /^== The run went on/,
    "id: 4",
    '{"status":"interrupted"}',
    /^== It waits for an approval/,
    '{"name":"write_file","file":"/report.md"}',
    '{"type":"ai","words":true}',
    '{"status":"idle","metadata":{"topic":"walk"}}',
    /^== A second answer/,
    '{"code":"NOTHING_TO_RESUME"}',
    /^== What was there at each step/,
    '{"next":[],"messages":true}',
    '{"next":["model_request"],"messages":true}',
    '{"next":["tools"],"messages":true}',
    /^== Files/,
    '[{"path":"/report.md","kind":"created"}]',
    '[{"path":"/brief.md","size":9}]',
    "Be brief.",
    /^== A run that is not wanted/,
    '{"status":"interrupted"}',
    /^== The store/,
    '{"text":"kept"}',
    /^== A cron/,
    '[{"schedule":"0 */6 * * *","enabled":true,"due":true}]',
    /^== Everything goes/,
    '{"code":"NOT_FOUND"}',
  ],
  "approval.ts": [
    'main asks: pay {"amount":500} approve',
    'main asks: send_mail {"to":"all@example.com","text":"Hello"} edit',
    "main asks: close_account {} reject",
    'main asks: ask_person {"question":"When?"} respond',
    'main → clerk asks: send_mail {"to":"ann@example.com","text":"Hi"} approve',
    'tool: pay: {"amount":20}',
    'tool: pay: {"amount":500}',
    'tool: send_mail: {"to":"team@example.com","text":"Hello"}',
    /^tool: .*rejected by a person and did not run: Keep it\.$/,
    "tool: On Friday.",
    'tool: pay: {"amount":500}',
    "tool: Ann has mail.",
    "ai: All is done.",
  ],
  "async-research.ts": [
    "person: Look into whales and tides.",
    "supervisor: I have two researchers at work. What else?",
    "person: What is six times seven?",
    "supervisor: Forty-two.",
    "person: Rather dolphins than whales.",
    "supervisor: They look into dolphins now.",
    "supervisor: Report: A page about tides.",
    "supervisor: Report: A page about dolphins.",
    "Research whales: success",
    "Research tides: success",
  ],
  "async-research-server.ts": [
    "supervisor: Two researchers are at work.",
    "The server is stopped, and another one started.",
    "supervisor: I have heard: A page about tides. A page about whales.",
    ["Research whales: success", "Research tides: success"],
  ],
  "budgets.ts": [
    /^budget: The budget of 3 model calls is used up: .* Files: \/sea\.md$/,
    /^ {2}main: 1 of 3 calls, \$0\.00[1-9]$/,
    /^ {2}main → writer: 2 of 3 calls, \$0\.00[1-9]$/,
    "done: It is deep. Files: /sea.md",
    /^ {2}main: 3 of 5 calls, \$0\.00[1-9]$/,
    /^ {2}main → writer: 2 of 5 calls, \$0\.00[1-9]$/,
  ],
  "coding-agent.ts": [
    /^test: FAILED \(failures=1\)/,
    "test: OK",
    "The merge sort is in /workspace/sort.py, and its test passes.",
  ],
  "completion-checks.ts": [
    "unverified: I wrote it, all done!",
    "Completion checks failed:",
    "- hello.sh prints Hello: `sh hello.sh | grep Hello` exits with 0",
    "done: Now the script is there.",
  ],
  "cron-consolidation.ts": [
    "person: A report, please.",
    "assistant: Let me begin with the history of all reports, and what led to them.",
    "person: That was long. I like brief answers.",
    "assistant: I will keep it in mind.",
    "done: /memories/AGENTS.md - The user wants brief answers.",
    "person: Another report, please.",
    "assistant: All is well.",
  ],
  "delegation.ts": [
    "team: general-purpose, judge, counter, colleague, editor",
    'judge: {"friendly":true,"why":"It greets."}',
    "counter: 2 words",
    "colleague: We were told: Try everybody on a greeting.",
    "editor: Hello, friends.",
    /^translator: Error: There is no subagent 'translator'\. The types are: general-purpose, judge, /,
  ],
  "durable-thread.ts":
    /^4 messages: Planned\.\n8 messages: Moved\.\n-Begin on Monday\.\n\+Begin on Friday\.\nput back: \/plan\.md$/,
  "guarded-backend.ts":
    /not allowed under \/policies[\s\S]*notes\.md[\s\S]*error: 'Edits are not allowed under \/archive',\s+code: 'PERMISSION_DENIED'/,
  "host-side-tool.ts": [
    "from the host: [12,30,58]",
    "from the sandbox: 100",
    "the key is in the sandbox: false",
    "the service can be reached from the sandbox: false",
    "The orders make 100.",
  ],
  "mcp.ts": [
    "shop: ready, 10 tools",
    "human: What do three pounds of pears cost?",
    "tool: You can call these now:",
    "- mcp__shop__price_of_pears: What pears cost today, for the pounds that are wanted.",
    "tool: 6 dollars",
    "ai: Three pounds of pears are 6 dollars.",
  ],
  "middleware.ts": /→ ls\n2 turns, outcome done$/,
  "model-switching.ts": [
    "message 2, from quick: About forty.",
    "message 4, from careful: Forty-two.",
    /broken failed \(server\) and is asked again$/,
    /broken does not answer: .*spare is asked$/,
    "I am.",
  ],
  "permissions.ts": [
    "readOnly: r- /workspace/app.ts, r- /workspace/.env, r- /memories/AGENTS.md, r- /etc/passwd",
    "workspaceOnly: rw /workspace/app.ts, rw /workspace/.env, -- /memories/AGENTS.md, -- /etc/passwd",
    "secretsApart: rw /workspace/app.ts, -- /workspace/.env, -- /memories/AGENTS.md, -- /etc/passwd",
    "sharedMemory: rw /workspace/app.ts, rw /workspace/.env, r- /memories/AGENTS.md, rw /etc/passwd",
    "auditor: r- /workspace/app.ts, r- /workspace/.env, -- /memories/AGENTS.md, -- /etc/passwd",
    /^warning: permissions\[1\] \(deny: '\/workspace\/\.env'\) can never match/,
    /^why: Rule 1 of 3 \(deny: '\/workspace\/\.env'\)/,
    "write_file: Successfully wrote to '/workspace/app.ts'",
    "read_file: Error: permission denied for read on /workspace/.env",
    "ls: /workspace/app.ts",
    "task: It should be 2. I cannot mend it: Error: permission denied for write on /workspace/app.ts",
  ],
  "postgres-backend.ts": /^\/100%\/plan\.md[\s\S]*path: '\/100%\/plan\.md', content: 'Begin on Friday\.\\n'/,
  "production.ts": [
    "approved: write_file /workspace/sort.sh",
    /^approved: execute printf /,
    "approved: execute seq 1 2000000 > big",
    "approved: execute seq 1 20000",
    "approved: write_file /notes/result.md",
    "rejected: execute rm -rf /workspace",
    "write_file: Successfully wrote to '/workspace/sort.sh'",
    "execute: 1 9 10  [Succeeded: exit code 0]",
    /^execute: .*File size limit exceeded/,
    /^execute: \[This result is too long to be shown/,
    "write_file: Successfully wrote to '/notes/result.md'",
    /^execute: .*rejected by a person and did not run: Keep the files\.$/,
    "It sorts; the note is in /notes/result.md.",
    /^in the state: .*\/large_tool_results\/.*\/notes\/result\.md$/,
    "in the workspace: big, sort.sh",
  ],
  "profiles.ts": [
    "anthropic:claude-sonnet-4-6: profiles built-in claude; without nothing",
    /^ {2}last words: ./,
    "openai:gpt-5.4: profiles built-in gpt < openai; without grep, task",
    "  last words: Answer briefly.",
    "openai:gpt-4o: profiles built-in gpt < openai < openai:gpt-4o; without grep, task, SummarizationMiddleware",
    "  last words: Answer in one sentence.",
    /^tool: Error: There is no tool 'grep'\. The tools are: /,
    "ai: There is no such tool.",
  ],
  "quickstart.ts": /The haiku is in \/haiku\.md\.\nOld pond/,
  "research-team.ts": [
    ...["coordinator → task", "coordinator → task"],
    [
      ...["researcher → search", "researcher → search", "researcher → write_file", "researcher → write_file"],
      ...["coordinator ← See /research/queues.md.", "coordinator ← See /research/stacks.md."],
    ],
    ...["coordinator → task", "coder → grep", "coder → write_file", "coordinator ← See take.ts."],
    ...["coordinator → task", "reviewer → read_file", "coordinator ← Stacks are missing."],
    "The code is there; the reviewer wants stacks in it too.",
    "Files: queues.md, stacks.md, take.ts",
  ],
  "s3-style-backend.ts": /\/notes\/a\.md[\s\S]*three[\s\S]*\none\nthree$/,
  "streaming.ts": /progress { counted: 2 }[\s\S]*Counted\.[\s\S]*finished model_request$/,
  "structured-output.ts": /good 0\.7$/,
};

test("every example has an expectation here and a line in the README, and says how to use a real model if it can", () => {
  const files = readdirSync("examples").filter(
    (name) => /\.(?:ts|sh)$/.test(name) && !name.includes(".test."),
  );
  expect(files.toSorted()).toEqual(Object.keys(printed).toSorted());
  const readme = readFileSync("examples/README.md", "utf8");
  for (const file of files) {
    const takesModel = readme.includes(`| [${file}](${file}) * |`);
    expect(takesModel || readme.includes(`| [${file}](${file}) |`), file).toBe(true);
    const [header = ""] = readFileSync(`examples/${file}`, "utf8").split("*/");
    expect(/With (a )?real models?: MODEL=/.test(header), file).toBe(takesModel);
  }
});

let database: TestDatabase;
/** The examples beside the packages as they are published, as a user has them. */
let place: string;
beforeAll(async () => {
  database = await testDatabase();
  const main = await (await fetch(`${process.env.TEST_BROKER}/program`)).text();
  place = mkdtempSync(join(main.slice(0, main.indexOf("node_modules/@deepwright")), "examples-"));
  cpSync("examples", place, { recursive: true });
  writeFileSync(join(place, "package.json"), '{"type":"module"}');
  await build({
    entryPoints: readdirSync(place)
      .filter((name) => name.endsWith(".ts") && !name.includes(".test."))
      .map((name) => join(place, name)),
    outdir: place,
    bundle: true,
    packages: "external",
    format: "esm",
    target: "node20.19",
    logLevel: "warning",
  });
});
afterAll(async () => {
  rmSync(place, { recursive: true, force: true });
  await database?.drop();
});

test.each(Object.entries(printed))("%s runs", async (file, expected) => {
  const env = { ...process.env, DATABASE_URL: database.url, MODEL: "", SECOND_MODEL: "" };
  // One is started as the README says; the others without tsx, which takes most of the time they take.
  const isAsInReadme = file === "quickstart.ts";
  const program = isAsInReadme
    ? ["--import", "tsx", join(place, file)]
    : [join(place, file.replace(/ts$/, "js"))];
  const { stdout } = file.endsWith(".sh")
    ? await run(`examples/${file}`, { env })
    : await run(process.execPath, program, { env });
  if (expected instanceof RegExp) return expect(stdout.trim()).toMatch(expected);
  const lines = stdout.trimEnd().split("\n");
  for (const part of expected) {
    if (Array.isArray(part)) expect(lines.splice(0, part.length).toSorted()).toEqual(part.toSorted());
    else
      expect(lines.shift()).toEqual(typeof part === "string" ? part : expect.stringMatching(part as RegExp));
  }
  expect(lines).toEqual([]);
});
