/** Two threads side by side, and changes that are made again. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forkThread } from "@deepwright/checkpoint";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../http/app.ts";
import { commandsIn } from "./commands-in.ts";

/** The agent runs the message as a command. */
async function serverFor({ hasRoot = true } = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-compare-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "a.txt"), "first\nsecond\nthird\n");
  const agentIn = (rootDir: string) => {
    const model = scriptedModel(
      ({ messages }) => {
        const last = messages.at(-1);
        return last?.getType() === "human" ? callTool("execute", { command: last.text }) : say("Done.");
      },
      { record: false },
    );
    return { model, backend: new LocalShellBackend({ rootDir, virtualMode: true }), budget: {} } as const;
  };
  const app = await createApp({
    agents: { agent: createDeepAgent(agentIn(directory)) as never },
    authenticate: (request) => ({ identity: request.headers.get("x-key") ?? "" }),
    restoreRoots: hasRoot ? [directory] : [],
    drainMs: 1_000,
  });
  onTestFinished(() => app.close());
  const call = async (key: string, method: string, path: string, body?: object) => {
    const response = await app.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { "x-key": key, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, body: await response.json() };
  };
  const ask = async (threadId: string, content: string) => {
    const input = { messages: [{ role: "user", content }] };
    await call("ada", "POST", `/threads/${threadId}/runs/wait`, { assistant_id: "agent", input });
  };
  const begin = async (content: string): Promise<string> => {
    const { body: thread } = await call("ada", "POST", "/threads", { metadata: { graph_id: "agent" } });
    await ask(thread.thread_id, content);
    return thread.thread_id;
  };
  const file = (name: string) => readFileSync(join(directory, name), "utf8");
  return { app, call, ask, begin, file, directory, agentIn };
}

test("two threads are compared by answer, files, commands and usage; nobody else sees them", async () => {
  const { call, begin } = await serverFor();
  const one = await begin("sed -i s/first/FIRST/ a.txt; echo new > b.txt");
  const two = await begin("echo said; false");
  const { status, body } = await call("ada", "GET", `/threads/${one}/compare/${two}`);
  expect(status).toBe(200);
  expect(body.threads).toMatchObject([
    {
      thread_id: one,
      status: "idle",
      answer: "Done.",
      usage: { runs: 1, calls: 2 },
      commands: [{ exit_code: 0 }],
      changes: [
        { path: "/a.txt", place: "outside", kind: "changed", added: 1, removed: 1 },
        { path: "/b.txt", kind: "created", added: 1, removed: 0 },
      ],
    },
    { thread_id: two, commands: [{ command: "echo said; false", exit_code: 1 }], changes: [] },
  ]);
  expect(body.threads[0].usage.tokens).toBeGreaterThan(0);
  const { body: empty } = await call("ada", "POST", "/threads");
  const { body: withEmpty } = await call("ada", "GET", `/threads/${two}/compare/${empty.thread_id}`);
  expect(withEmpty.threads[1]).toMatchObject({ answer: "", steps: 0, changes: [] });

  const { body: his } = await call("ben", "POST", "/threads");
  for (const [mine, other] of [
    [one, two],
    [his.thread_id, one],
    [one, his.thread_id],
  ])
    expect((await call("ben", "GET", `/threads/${mine}/compare/${other}`)).status).toBe(404);
  expect((await call("ben", "POST", `/threads/${one}/adopt`, {})).status).toBe(404);
});

test("changes that were taken back are made again, beside a person's own, and taken back once more", async () => {
  const { call, begin, file, directory } = await serverFor();
  const id = await begin("sed -i s/first/FIRST/ a.txt; echo new > b.txt");
  const { body: steps } = await call("ada", "GET", `/threads/${id}/steps`);
  const since = steps.steps[0].checkpoint_id;
  await call("ada", "POST", `/threads/${id}/restore`, { since });
  writeFileSync(join(directory, "a.txt"), "first\nsecond\nthird\nmine\n");
  const plan = await call("ada", "POST", `/threads/${id}/adopt`, { dry_run: true });
  expect(plan.body).toMatchObject({ restored: [{ path: "/a.txt" }, { path: "/b.txt" }], call: null });
  expect(file("a.txt")).toContain("first");
  const done = await call("ada", "POST", `/threads/${id}/adopt`, {});
  expect([done.status, file("a.txt"), file("b.txt")]).toEqual([200, "FIRST\nsecond\nthird\nmine\n", "new\n"]);
  expect((await call("ada", "POST", `/threads/${id}/adopt`, {})).body).toMatchObject({
    restored: [],
    call: null,
  });
  await call("ada", "POST", `/threads/${id}/restore`, { call: done.body.call });
  expect(file("a.txt")).toBe("first\nsecond\nthird\nmine\n");
});

test("a copy from an earlier step has the changes until there, and adopts its own", async () => {
  const { call, ask, begin, file } = await serverFor();
  const id = await begin("echo one > one.txt");
  const { body: first } = await call("ada", "GET", `/threads/${id}/steps`);
  await ask(id, "echo two > two.txt");
  const from = first.steps.at(-1).checkpoint_id;
  const { body: copy } = await call("ada", "POST", `/threads/${id}/copy?checkpoint_id=${from}`);
  await call("ada", "POST", `/threads/${id}/restore`, { since: from });
  await ask(copy.thread_id, "echo other > two.txt");
  const { body } = await call("ada", "GET", `/threads/${id}/compare/${copy.thread_id}`);
  expect(body.threads[1]).toMatchObject({
    changes: [{ path: "/one.txt" }, { path: "/two.txt" }],
    usage: { runs: 1 },
  });
  await call("ada", "POST", `/threads/${copy.thread_id}/restore`, { path: "/two.txt" });
  await call("ada", "POST", `/threads/${id}/adopt`, {});
  expect(file("two.txt")).toBe("two\n");
});

test("a finished fork brings its check, and is adopted into its directory; without directories nothing is", async () => {
  const { app, call, begin, file, directory, agentIn } = await serverFor();
  const id = await begin("echo one > one.txt");
  const { saver } = app.storage;
  const { body: copy } = await call("ada", "POST", `/threads/${id}/copy`);
  const fork = await forkThread(saver as never, undefined, { root: directory });
  const agent = createDeepAgent({ ...agentIn(fork.directory), checkpointer: saver });
  const config = { configurable: { thread_id: copy.thread_id } };
  await agent.invoke({ messages: "echo forked > two.txt" }, config);
  const check = { command: "npm test", exitCode: 1, output: "no" };
  await fork.finish({ threadId: copy.thread_id, check });
  const { body } = await call("ada", "GET", `/threads/${id}/compare/${copy.thread_id}`);
  expect(body.threads[1].commands.at(-1)).toEqual({ command: "npm test", exit_code: 1, is_check: true });
  expect(body.threads[1].changes).toMatchObject([{ path: "/two.txt" }]);
  await call("ada", "POST", `/threads/${copy.thread_id}/adopt`, {});
  expect(file("two.txt")).toBe("forked\n");

  const closed = await serverFor({ hasRoot: false });
  const other = await closed.begin("echo one > one.txt");
  expect((await closed.call("ada", "POST", `/threads/${other}/adopt`, {})).status).toBe(501);
});

test("exit codes are read from the ending of an answer alone, whatever the messages are", () => {
  const asks = (id: string, command: unknown) => ({
    tool_calls: [{ id, name: "execute", args: { command } }, { name: "other" }, null],
  });
  const says = (id: string, content: unknown) => ({ tool_call_id: id, content });
  expect(
    commandsIn([
      asks("1", "true"),
      says("1", "ok\n[Succeeded: exit code 0]"),
      asks("2", "echo"),
      says("2", "[Succeeded: exit code 0]\n[Failed: exit code 3]"),
      asks("3", "sleep"),
      asks("4", 7),
      asks("5", "rejected"),
      says("5", "The user said: [exit code 0] no"),
      null,
    ]),
  ).toEqual([
    { command: "true", exit_code: 0 },
    { command: "echo", exit_code: 3 },
    { command: "sleep", exit_code: null },
    { command: "rejected", exit_code: null },
  ]);
  expect(commandsIn("nothing")).toEqual([]);
  // Output that repeats the words of an ending is not searched again and again.
  const content = `[${"exit code 1 ".repeat(200_000)}\n\n[Command failed with exit code 3]`;
  const call = { id: "long", name: "execute", args: { command: "x" } };
  const found = commandsIn([{ tool_calls: [call] }, { tool_call_id: "long", content }]);
  expect(found).toEqual([{ command: "x", exit_code: 3 }]);
  const cut = content.slice(0, content.indexOf("\n"));
  expect(commandsIn([{ tool_calls: [call] }, { tool_call_id: "long", content: cut }])).toEqual([
    { command: "x", exit_code: null },
  ]);
});
