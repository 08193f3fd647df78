import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@langchain/langgraph-sdk";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { providerServer } from "../test-support/provider-server.ts";
import {
  directoryWith,
  homeOf,
  MAIN,
  type RunningBinary,
  runBinary,
  startBinary,
} from "../test-support/run-binary.ts";
import { startAtTerminal } from "../test-support/terminal.ts";

/** The packages beside the program, as a project has them. */
const module = (path: string): string =>
  JSON.stringify(pathToFileURL(resolve(MAIN, "../../../../deepwright/dist", path)).href);

const AGENT = `
import { createDeepAgent } from ${module("index.js")};
import { say, scriptedModel } from ${module("testing/index.js")};
const model = scriptedModel(({ messages }) => say("echo: " + messages.at(-1).text), { record: false });
`;
const CONFIG = `${AGENT}
interface Typed { readonly echo: unknown }
const agents: Typed = { echo: createDeepAgent({ model }) };
export default { agents };
`;

interface Started extends RunningBinary {
  readonly url: string;
  /** As it was shown; undefined when it was not. */
  readonly token: string | undefined;
  lines(): string;
}

async function started(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Started> {
  const running = startBinary(["serve", "--port", "0", ...args], { cwd, env });
  let lines = "";
  running.child.stderr?.on("data", (text: string) => {
    lines += text;
  });
  onTestFinished(async () => {
    running.child.kill("SIGKILL");
    await running.result;
  });
  await running.shows("Listening on http://127.0.0.1:");
  const url = /Listening on (\S+)\n/.exec(lines)?.[1] as string;
  return { ...running, url, token: /shown only once: (\S+)/.exec(lines)?.[1], lines: () => lines };
}

const answerOf = (values: unknown): unknown =>
  (values as { messages: { content: unknown }[] }).messages.at(-1)?.content;

const hello = { messages: [{ role: "user", content: "hello" }] };

test("a config in TypeScript in a package of modules is served; after SIGTERM the next start has its threads", async () => {
  const cwd = await directoryWith({
    "package.json": '{ "type": "module" }',
    "deepwright.config.ts": CONFIG,
  });
  const first = await started(["deepwright.config.ts"], cwd);
  expect(first.token).toMatch(/^\S{32,}$/);
  expect((await stat(join(homeOf(cwd), "server-token"))).mode & 0o777).toBe(0o600);
  const client = new Client({ apiUrl: first.url, apiKey: first.token as string });
  const thread = await client.threads.create();
  expect(answerOf(await client.runs.wait(thread.thread_id, "echo", { input: hello }))).toBe("echo: hello");
  const wrong = await fetch(`${first.url}/ok`, {
    headers: { authorization: "Bearer wrong-wrong-wrong-wrong" },
  });
  expect(wrong.status).toBe(401);
  first.child.kill("SIGTERM");
  expect(await first.result).toMatchObject({ code: 0, stdout: "" });

  const second = await started([join(cwd, "deepwright.config.ts")], cwd);
  expect(second.token).toBeUndefined();
  expect(second.lines()).not.toContain(first.token);
  const again = new Client({ apiUrl: second.url, apiKey: first.token as string });
  expect(answerOf((await again.threads.getState(thread.thread_id)).values)).toBe("echo: hello");
  second.child.kill("SIGINT");
  expect((await second.result).code).toBe(0);
});

test("a config in TypeScript in a plain directory is served, to Studio and Prometheus on request", async () => {
  const cwd = await directoryWith({ "deepwright.config.ts": CONFIG });
  const { url, token, lines } = await started(["deepwright.config.ts", "--studio", "--open-metrics"], cwd);
  const client = new Client({ apiUrl: url, apiKey: token as string });
  expect(lines()).toContain(
    `Studio: https://smith.langchain.com/studio/?baseUrl=${encodeURIComponent(url)}\n`,
  );
  for (const [origin, status] of [
    ["https://smith.langchain.com", 200],
    ["https://smith.example.com", 403],
  ] as const)
    expect((await fetch(`${url}/metrics`, { headers: { origin } })).status).toBe(status);
  expect(answerOf(await client.runs.wait(null, "echo", { input: hello }))).toBe("echo: hello");
});

test("the graphs of a langgraph.json are served, agents and functions, with its environment", async () => {
  const cwd = await directoryWith({
    "src/graphs.js": `${AGENT}
      export const echo = createDeepAgent({ model });
      export const made = async () => createDeepAgent({ model: scriptedModel([say(process.env.WORD)]) });`,
    "langgraph.json": JSON.stringify({
      graphs: { echo: "./src/graphs.js:echo", made: { path: "./src/graphs.js:made" } },
      env: { WORD: "from env" },
      auth: { path: "./auth.js:auth" },
    }),
    "package.json": '{ "type": "module" }',
  });
  const token = "a-token-of-the-environment";
  const { url, lines, ...running } = await started(["langgraph.json"], cwd, {
    DEEPWRIGHT_SERVER_TOKEN: token,
  });
  expect(lines()).toContain("Agents: echo, made");
  expect(lines()).toContain("Not used of langgraph.json: auth");
  const client = new Client({ apiUrl: url, apiKey: token });
  const input = { messages: [{ role: "user", content: "hi" }] };
  expect(answerOf(await client.runs.wait(null, "made", { input }))).toBe("from env");
  running.child.kill("SIGTERM");
  expect((await running.result).all).not.toContain(token);
});

test("without a file the CLI's own agent works in the directory, its changes wait for approval, and a server of another directory shares the token and no threads", async () => {
  const cwd = await directoryWith({ "notes.md": "# Notes\n" });
  const { url, token, lines } = await started(["--model", "offline"], cwd);
  expect(lines()).toContain("It is not an LLM");
  const client = new Client({ apiUrl: url, apiKey: token as string });
  const thread = await client.threads.create();
  const input = { messages: [{ role: "user", content: "Summarise this project in report.md" }] };
  await client.runs.wait(thread.thread_id, "agent", { input });
  expect(await client.threads.get(thread.thread_id)).toMatchObject({ status: "interrupted" });
  await expect(stat(join(cwd, "report.md"))).rejects.toThrow("ENOENT");
  await client.runs.wait(thread.thread_id, "agent", {
    command: { resume: { decisions: [{ type: "approve" }] } },
  });
  expect((await stat(join(cwd, "report.md"))).isFile()).toBe(true);
  const other = await started(["--model", "offline"], await directoryWith({}), {
    DEEPWRIGHT_HOME: homeOf(cwd),
  });
  const elsewhere = new Client({ apiUrl: other.url, apiKey: token as string });
  expect(await client.threads.search()).toHaveLength(1);
  expect(await elsewhere.threads.search()).toEqual([]);
});

test("settings of the user count for the CLI's own agent: hooks hear of runs and questions, and refuse calls", async () => {
  const cwd = await directoryWith({ "notes.md": "# Notes\n" });
  const log = join(homeOf(cwd), "hooks.jsonl");
  const note = `cat >> '${log}'`;
  const hooks = {
    "run-start": [{ command: note }],
    "run-end": [{ command: note }],
    notification: [{ command: note }],
    "before-approval": [{ command: "! grep -q forbidden || { echo 'not that one' >&2; exit 2; }" }],
  };
  await mkdir(homeOf(cwd), { recursive: true });
  await writeFile(join(homeOf(cwd), "settings.json"), JSON.stringify({ hooks, budget: { maxSteps: 50 } }));
  const { url, token } = await started(["--model", "offline"], cwd);
  const client = new Client({ apiUrl: url, apiKey: token as string });
  const events = async () =>
    (await readFile(log, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).event);
  const runs = async (content: string) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "agent", { input: { messages: [{ role: "user", content }] } });
    return client.threads.get(thread_id);
  };
  expect(await runs("Summarise this in report.md")).toMatchObject({ status: "interrupted" });
  expect(await events()).toEqual(["run-start", "notification"]);
  const refused = await runs("Summarise this in forbidden.md");
  expect(refused).toMatchObject({ status: "idle" });
  expect(JSON.stringify(refused.values)).toContain("did not run, a hook refused it: not that one");
  expect(await events()).toEqual(["run-start", "notification", "run-start", "run-end"]);
});

test("a command of the CLI's own agent waits for approval, runs in a sandbox on the directory, ends with the server, and is not done by a server of another directory on the same database", async () => {
  const [one, other] = [await directoryWith({}), await directoryWith({})];
  const left = `sleep 600.${process.pid}`;
  const command = `echo made > made.txt; echo key=$DEEPWRIGHT_SERVER_TOKEN; ${left} >/dev/null 2>&1 &`;
  const asks = (command: string) => ({ call: { name: "execute", args: { command } } });
  const done = { text: ["Done."] };
  const provider = await providerServer([asks(command), done, asks("echo more > more.txt"), done]);
  onTestFinished(() => provider.close());
  const token = "a-token-of-the-environment";
  const env = {
    ANTHROPIC_API_KEY: "key-key-key",
    ANTHROPIC_BASE_URL: provider.url,
    DEEPWRIGHT_SERVER_TOKEN: token,
  };
  const database = ["--db", `${one}.db`];
  onTestFinished(() => rm(`${one}.db`, { force: true }));
  const told = () => JSON.stringify(provider.asked().at(-1)?.body);
  const clientOf = ({ url }: Started) => new Client({ apiUrl: url, apiKey: token });
  const input = { messages: [{ role: "user", content: "Make it" }] };
  const approval = { resume: { decisions: [{ type: "approve" }] } };
  // The provider of the test only streams.
  const streamed = async (client: Client, thread: string, payload: object): Promise<unknown> => {
    let values: unknown;
    const streamMode: ["values", "messages-tuple"] = ["values", "messages-tuple"];
    for await (const { event, data } of client.runs.stream(thread, "agent", { ...payload, streamMode })) {
      expect(JSON.stringify(data)).not.toContain(one);
      if (event === "values") values = data;
    }
    return values;
  };
  const first = await started(database, one, env);
  const here = clientOf(first);
  const { thread_id } = await here.threads.create();
  await streamed(here, thread_id, { input });
  expect(await here.threads.get(thread_id)).toMatchObject({ status: "interrupted" });
  await expect(stat(join(one, "made.txt"))).rejects.toThrow("ENOENT");
  expect(answerOf(await streamed(here, thread_id, { command: approval }))).toMatchObject([{ text: "Done." }]);
  expect(await readFile(join(one, "made.txt"), "utf8")).toBe("made\n");
  expect(told()).not.toContain(token);
  const { thread_id: waiting } = await here.threads.create();
  await streamed(here, waiting, { input });
  first.child.kill("SIGTERM");
  expect((await first.result).code).toBe(0);
  await until(() => !spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout.includes(left));

  await streamed(clientOf(await started(database, other, env)), waiting, { command: approval });
  expect([await readdir(one), await readdir(other)]).toEqual([["made.txt"], []]);
  expect(told()).toContain("for another sandbox or directory");
});

test("of several directories each has an agent of its own: with its files, approvals and undo, as a team whose subagents ask, and 25 model calls", async () => {
  const [one, two] = [await directoryWith({ "one.md": "1\n" }), await directoryWith({ "two.md": "2\n" })];
  const ask = (name: string, args: Record<string, unknown>) => ({ call: { name, args } });
  const provider = await providerServer([
    ask("task", { description: "Write it.", subagent_type: "general-purpose" }),
    ask("write_file", { file_path: "/made.md", content: "made\n" }),
    { text: ["Made."] },
    { text: ["All is done."] },
    ...Array.from({ length: 30 }, (_, at) => ask("ls", { path: `/${at}` })),
  ]);
  onTestFinished(() => provider.close());
  const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: provider.url };
  const { url, token, lines } = await started(["--in", one, "--in", two, "--in", one], two, env);
  const [, first, second] = /Agents: (\S+), (\S+)\n/.exec(lines()) as unknown as [string, string, string];
  expect(first).toBe("agent");
  expect(lines()).toContain(`Agent ${second}, in ${await realpath(two)}:`);
  const call = async (path: string, body?: object): Promise<any> => {
    const headers = { "x-api-key": token as string, "content-type": "application/json" };
    const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    return (await fetch(`${url}${path}`, request)).json();
  };
  expect(await call(`/assistants/${second}/facts`)).toMatchObject({
    directory: await realpath(two),
    budget: { max_steps: null, max_steps_per_agent: 25 },
    choices: { agent_kinds: ["cowork", "acp"] },
  });
  const client = new Client({ apiUrl: url, apiKey: token as string });
  const { thread_id: id } = await client.threads.create();
  // The provider of the test only streams.
  const run = async (payload: object) => {
    const config = { configurable: { agent_kind: "acp" } };
    const options = { ...payload, config, streamMode: ["values", "messages-tuple"] as never };
    for await (const { event, data } of client.runs.stream(id, second, options))
      if (event === "error") throw new Error(JSON.stringify(data));
  };
  const says = (content: string) => ({ input: { messages: [{ role: "user", content }] } });
  await run(says("Make it"));
  expect(await client.threads.get(id)).toMatchObject({ status: "interrupted" });
  const systems = provider.asked().map(({ body }) => JSON.stringify(body.system));
  expect(systems.map((text) => text.includes("You lead a group of subagents"))).toEqual([true, false]);
  await run({ command: { resume: { decisions: [{ type: "approve" }] } } });
  expect([await readdir(one), await readdir(two)]).toEqual([["one.md"], ["made.md", "two.md"]]);
  const paths = async (agent: string) =>
    (await call(`/workspace/files?assistant_id=${agent}`)).entries.map(({ path }: { path: string }) => path);
  expect([await paths(first), await paths(second)]).toEqual([["/one.md"], ["/made.md", "/two.md"]]);
  expect((await call(`/threads/${id}/files/blame?path=/made.md`)).lines).toMatchObject([{ text: "made" }]);
  const undone = await call(`/threads/${id}/restore`, { path: "/made.md" });
  expect(undone.restored).toMatchObject([{ path: "/made.md" }]);
  expect(await readdir(two)).toEqual(["two.md"]);
  await call(`/threads/${id}/adopt`, {});
  expect([await readdir(one), await readdir(two)]).toEqual([["one.md"], ["made.md", "two.md"]]);

  const before = provider.asked().length;
  await run(says("Look everywhere"));
  expect(provider.asked()).toHaveLength(before + 25);
  const { values } = await client.threads.getState<{ outcome?: object }>(id);
  expect(values.outcome).toMatchObject({ kind: "budget", used: 25, allowed: 25 });
  await run(says("Continue."));
  expect(provider.asked().length).toBeGreaterThan(before + 25);

  const { code, stderr } = await runBinary(["serve", "x.mjs", "--in", one], { cwd: two });
  expect([code, stderr]).toEqual([2, expect.stringContaining("--in is for the CLI's own agent")]);
});

test("with DATABASE_URL one process begins runs and others execute them, also what a killed one left", async () => {
  const runs = "runs: { claimTtl: Number(process.env.CLAIM_TTL), scanInterval: 0.5 }";
  const quick = SLEEPER.replace("agents:", `${runs}, agents:`);
  const cwd = await directoryWith({ "sleeper.mjs": quick });
  const database = await testDatabase();
  onTestFinished(() => database.drop());
  const token = "a-token-of-the-environment";
  const env = { DATABASE_URL: database.url, DEEPWRIGHT_SERVER_TOKEN: token, SLEEP_MS: "0", CLAIM_TTL: "600" };
  const api = await started(["sleeper.mjs", "--role", "api"], cwd, env);
  expect(api.lines()).toMatch(/^Data: .* · api$/m);
  const client = new Client({ apiUrl: api.url, apiKey: token });
  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: "user", content: "sleep" }] };
  const { run_id } = await client.runs.create(thread_id, "sleeper", { input });

  // Only the claim of the one that is killed has to run out.
  const slow = { ...env, SLEEP_MS: "600000", CLAIM_TTL: "2" };
  const first = await started(["sleeper.mjs", "--role", "worker"], cwd, slow);
  expect(await client.runs.get(thread_id, run_id)).toMatchObject({
    status: expect.stringMatching(/pending|running/),
  });
  await until(() => existsSync(join(cwd, "asked")));
  first.child.kill("SIGKILL");
  await started(["sleeper.mjs", "--role", "worker"], cwd, env);
  expect(answerOf(await client.runs.join(thread_id, run_id))).toBe("slept");
});

test("TR-03 a config that is only found is not run where nobody can be asked", async () => {
  const evil = "import { writeFileSync } from 'node:fs'; writeFileSync('ran', ''); export default {};";
  const places: Record<string, string>[] = [
    { "deepwright.config.mjs": evil },
    { "langgraph.json": '{ "graphs": { "a": "./a.mjs:a" } }', "a.mjs": evil },
  ];
  for (const files of places) {
    const cwd = await directoryWith(files);
    const { code, stderr } = await runBinary(["serve", "--port", "0"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(`Name it: deepwright serve ${Object.keys(files)[0]}`);
    await expect(stat(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  }
});

test("TR-03 at a terminal a config that is found is run after a yes, and not after a no", async () => {
  const cwd = await directoryWith({
    "deepwright.config.mjs": `import { writeFileSync } from "node:fs"; writeFileSync("ran", "");${AGENT}
      export default { agents: { echo: createDeepAgent({ model }) } };`,
  });
  const refused = startAtTerminal(["serve", "--port", "0"], { cwd });
  await refused.answer("Serve it? [y/N]", "n\r");
  expect(await refused.ended).toBe(1);
  await expect(stat(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  const agreed = startAtTerminal(["serve", "--port", "0"], { cwd });
  await agreed.answer("Serve it? [y/N]", "y\r");
  await agreed.shows("Listening on");
  agreed.terminate();
  expect(await agreed.ended).toBe(0);
});

const SLEEPER = `
import { createDeepAgent } from ${module("index.js")};
import { say, scriptedModel } from ${module("testing/index.js")};
import { writeFileSync } from "node:fs";
const model = scriptedModel(async () => {
  writeFileSync("asked", "");
  await new Promise((done) => setTimeout(done, Number(process.env.SLEEP_MS)));
  return say("slept");
}, { record: false });
export default { agents: { sleeper: createDeepAgent({ model }) } };
`;

async function atWork(cwd: string, sleepMs: number) {
  const server = await started(["sleeper.mjs"], cwd, { SLEEP_MS: String(sleepMs) });
  const client = new Client({ apiUrl: server.url, apiKey: server.token as string });
  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: "user", content: "sleep" }] };
  const { run_id } = await client.runs.create(thread_id, "sleeper", { input });
  await until(() => existsSync(join(cwd, "asked")));
  return { server, thread_id, run_id };
}

test("a run that a stop comes upon is finished, by this process or by the next", async () => {
  const cwd = await directoryWith({ "sleeper.mjs": SLEEPER });
  const { server, thread_id, run_id } = await atWork(cwd, 1_500);
  server.child.kill("SIGTERM");
  expect((await server.result).code).toBe(0);
  const next = await started(["sleeper.mjs"], cwd, { SLEEP_MS: "0" });
  const client = new Client({ apiUrl: next.url, apiKey: server.token as string });
  expect(answerOf(await client.runs.join(thread_id, run_id))).toBe("slept");
});

test("a second signal ends the process at once", async () => {
  const cwd = await directoryWith({ "sleeper.mjs": SLEEPER });
  const { server } = await atWork(cwd, 600_000);
  server.child.kill("SIGTERM");
  await server.shows("a second signal quits at once");
  server.child.kill("SIGTERM");
  expect((await server.result).code).toBe(143);
});

test("a port in use is named, and what to do", async () => {
  const cwd = await directoryWith({ "deepwright.config.ts": CONFIG });
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((done) => other.once("listening", done));
  const { port } = other.address() as AddressInfo;
  const result = await runBinary(["serve", "deepwright.config.ts", "--port", String(port)], { cwd });
  expect(result.code).toBe(1);
  expect(result.stderr).toContain(
    `Another program listens on port ${port} of 127.0.0.1. Choose another with --port`,
  );
  await expect(stat(join(homeOf(cwd), "server-token"))).rejects.toThrow("ENOENT");
});

test.each([
  ["nothing.ts", "There is no file"],
  ["notes.txt", "'notes.txt' cannot be served."],
  ["broken.mjs", "broken.mjs cannot be loaded: the reason"],
  ["none.mjs", "There are no agents in none.mjs."],
  ["slip.mjs", "options that are not known: authentcate."],
  ["number.mjs", "The agent 'a' of number.mjs is not an agent or a function."],
  ["empty.json", "empty.json has no graphs."],
  ["export.json", "has no export 'b', which export.json names."],
])("%s is refused in words: %s", async (file, words) => {
  const cwd = await directoryWith({
    "notes.txt": "",
    "broken.mjs": 'throw new Error("the reason");',
    "none.mjs": "export default { agents: {} };",
    "slip.mjs": "export default { agents: { a: {} }, authentcate: 1 };",
    "number.mjs": "export default { agents: { a: 1 } };",
    "empty.json": "{}",
    "export.json": '{ "graphs": { "a": "./none.mjs:b" } }',
  });
  const { code, stderr } = await runBinary(["serve", file, "--port", "0"], { cwd });
  expect(stderr).toContain(words);
  expect(stderr).not.toContain("    at ");
  expect([1, 2]).toContain(code);
});

test("beyond this machine nothing is served without authentication", async () => {
  const cwd = await directoryWith({ "deepwright.config.ts": CONFIG });
  const args = ["serve", "deepwright.config.ts", "--port", "0", "--host", "0.0.0.0"];
  const { code, stderr } = await runBinary(args, { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("does not listen on 0.0.0.0 without authentication");
  expect(stderr).toContain("DEEPWRIGHT_SERVER_TOKEN");
});

test("serve has help, and refuses a port that is none", async () => {
  const cwd = await directoryWith({});
  expect((await runBinary(["serve", "--help"], { cwd })).stdout).toContain(
    "deepwright serve deepwright.config.ts --port",
  );
  expect(await runBinary(["serve", "--port", "70000"], { cwd })).toMatchObject({ code: 2 });
});

test("TypeScript that nothing here reads is refused with the line that installs tsx", async () => {
  const cwd = await directoryWith({ "deepwright.config.ts": "export default { agents: {} as object };" });
  const alone = await directoryWith({});
  const program = join(alone, "node_modules/@deepwright/cli");
  await cp(resolve(MAIN, "../.."), program, { recursive: true });
  await symlink(resolve(MAIN, "../../../../deepwright"), join(alone, "node_modules/deepwright"));
  for (const name of ["commander", "picocolors"])
    await symlink(resolve("node_modules", name), join(alone, "node_modules", name));
  const args = [join(program, "dist/main.js"), "serve", "deepwright.config.ts"];
  const { stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  const isRead = Boolean((process.features as { typescript?: unknown }).typescript);
  expect(stderr).toContain(isRead ? "There are no agents" : "npm install --save-dev tsx");
});
