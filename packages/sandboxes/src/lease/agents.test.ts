import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { CompositeBackend, createDeepAgent, StateBackend } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { eventually, until } from "../../../../scripts/test-time.ts";
import { createSandbox } from "../index.ts";
import { processProvider } from "./process-provider-for-tests.ts";
import { opensOf, runOf, sandboxesRoot, testProvider } from "./sandboxes-for-tests.ts";

type Result = {
  readonly messages: readonly { readonly type: string; readonly name?: string; readonly text: string }[];
};

const thread = { configurable: { thread_id: "t" } };
const run = (command: string) => callTool("execute", { command });
const resultsOf = ({ messages }: Result): string[] =>
  messages.filter(({ type }) => type === "tool").map(({ text }) => text);

describe("an agent in a sandbox", () => {
  test("has execute and files there, from the first run to the last of a thread", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    const agent = createDeepAgent({
      backend: source,
      checkpointer: new MemorySaver(),
      model: scriptedModel([
        callTool("write_file", { file_path: "/sort.sh", content: "sort -n\n" }),
        "written",
        run("printf '3\\n1\\n2\\n' | sh sort.sh"),
        "sorted",
      ]),
    });
    await agent.invoke({ messages: "write" }, thread);
    const result = await agent.invoke({ messages: "run" }, thread);
    expect(resultsOf(result).at(-1)).toBe("1\n2\n3\n[Succeeded: exit code 0]");
    expect(opensOf(provider)).toBe(1);
  });

  test("that does nothing there opens nothing", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    const agent = createDeepAgent({ backend: source, model: scriptedModel(["hello"]) });
    await agent.invoke({ messages: "hi" }, thread);
    expect(provider.log).toEqual([]);
  });

  test("shares it with its subagents", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    const worker = {
      name: "worker",
      description: "works",
      systemPrompt: "Work.",
      model: scriptedModel([run("cat note; echo child >> note"), "done"]),
    };
    const agent = createDeepAgent({
      backend: source,
      subagents: [worker],
      model: scriptedModel([
        run("echo parent > note"),
        callTool("task", { description: "go", subagent_type: "worker" }),
        run("cat note"),
        "done",
      ]),
    });
    const result = await agent.invoke({ messages: "go" }, thread);
    expect(resultsOf(result).at(-1)).toMatch(/^parent\nchild\n/);
    expect(opensOf(provider)).toBe(1);
  });

  test("may have it as the default of a composite, or mounted", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    const agent = createDeepAgent({
      backend: new CompositeBackend(source, { "/notes/": new StateBackend() }),
      model: scriptedModel([
        callTool("write_file", { file_path: "/notes/plan.md", content: "plan" }),
        callTool("write_file", { file_path: "/code.txt", content: "code" }),
        run("cat code.txt; ls"),
        "done",
      ]),
    });
    const result = await agent.invoke({ messages: "go" }, thread);
    expect(resultsOf(result).at(-1)).toBe("codecode.txt\n[Succeeded: exit code 0]");
    expect(Object.keys((result as unknown as { files: object }).files)).toEqual(["/plan.md"]);
  });
});

describe("a sandbox that is gone", () => {
  test("R-38 killed in the middle of a command: the model reads it, the thread goes on in a new one", async () => {
    const provider = testProvider();
    const checkpointer = await SqliteSaver.open(join(sandboxesRoot(), "threads.db"));
    const replaced: unknown[] = [];
    await using source = createSandbox({ provider, onReplaced: (event) => replaced.push(event) });
    const agent = createDeepAgent({
      backend: source,
      checkpointer,
      model: scriptedModel([
        run("echo work > note; echo ready > started; sleep 600"),
        run("ls"),
        run("ls"),
        "went on",
        run("cat note"),
        "resumed",
      ]),
    });
    const running = agent.invoke({ messages: "go" }, thread);
    const [id] = await eventually(async () => {
      const places = provider.places();
      expect(places).toHaveLength(1);
      const other = await provider.reattach?.(places[0] as string, { key: "x", env: {} });
      expect((await other?.sandbox.execute("cat started"))?.output).toBe("ready\n");
      return places;
    });
    await processProvider({ root: provider.root }).destroy?.(id as string);
    const [lost, first, second] = resultsOf(await running);
    expect(lost).toMatch(/^Error: The sandbox is gone\. The sandbox was lost/);
    expect(first).toMatch(/^\[The sandbox of this conversation was replaced by a fresh one: files.*\]\n/);
    expect(second).toBe("(no output)\n[Succeeded: exit code 0]");
    const resumed = await agent.invoke({ messages: "again" }, thread);
    expect(resultsOf(resumed).at(-1)).toMatch(/No such file/);
    expect(resumed.messages.at(-1)?.text).toBe("resumed");
    await checkpointer.close();
    expect(replaced).toEqual([{ key: expect.stringMatching(/^thread-/), id: provider.places()[0] }]);
  });

  test("R-38 gone when another process goes on with the thread: told once, by the conversation itself", async () => {
    const provider = testProvider();
    const checkpointer = new MemorySaver();
    const start = createSandbox({ provider });
    const first = createDeepAgent({
      backend: start,
      checkpointer,
      model: scriptedModel([run("echo x > note"), "ok"]),
    });
    await first.invoke({ messages: "go" }, thread);
    await start.close({ keep: false });
    await using next = createSandbox({ provider: processProvider({ root: provider.root }) });
    const second = createDeepAgent({
      backend: next,
      checkpointer,
      model: scriptedModel([callTool("read_file", { file_path: "/note" }), run("echo after"), "ok"]),
    });
    const results = resultsOf(await second.invoke({ messages: "on" }, thread));
    expect(results[1]).toMatch(
      /^Error: File '\/note' not found\. The sandbox of this conversation was replaced/,
    );
    expect(results[2]).toBe("after\n[Succeeded: exit code 0]");
  });

  test("found again by another process: nothing is told", async () => {
    const provider = testProvider();
    const checkpointer = new MemorySaver();
    const start = createSandbox({ provider });
    const first = createDeepAgent({
      backend: start,
      checkpointer,
      model: scriptedModel([run("echo x > note"), "ok"]),
    });
    await first.invoke({ messages: "go" }, thread);
    await start.close();
    await using next = createSandbox({ provider: processProvider({ root: provider.root }) });
    const second = createDeepAgent({
      backend: next,
      checkpointer,
      model: scriptedModel([run("cat note"), "ok"]),
    });
    expect(resultsOf(await second.invoke({ messages: "on" }, thread)).at(-1)).toBe(
      "x\n[Succeeded: exit code 0]",
    );
  });

  test("a store notes which sandbox a thread had, for places that cannot be found by a key", async () => {
    const provider = testProvider();
    const { find: _, ...unlabelled } = provider;
    const store = new InMemoryStore();
    const sandboxOf = async (state: object = {}) =>
      createSandbox({ provider: unlabelled })(runOf("t", state, store));
    await (await sandboxOf()).execute("echo x > note");
    expect((await (await sandboxOf()).execute("cat note")).output).toBe("x\n");
    await provider.destroy?.(provider.places()[0] as string);
    const state = {
      messages: [
        { id: "1", type: "human" },
        { type: "tool", name: "write_file" },
      ],
    };
    expect((await (await sandboxOf(state)).execute("echo y")).output).toMatch(/^\[The sandbox .* replaced/);
  });

  test("one that is out of reach for a moment is found again with its files", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    const sandbox = await source(runOf("t"));
    await sandbox.execute("echo x > note");
    const { rename } = await import("node:fs/promises");
    const place = `${provider.root}/${provider.places()[0]}`;
    await rename(`${place}/key`, `${place}/away`);
    await expect(sandbox.execute("cat note")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    await rename(`${place}/away`, `${place}/key`);
    expect((await sandbox.execute("cat note")).output).toBe("x\n");
    expect(opensOf(provider)).toBe(1);
  });

  test("one that is there and answers nothing is given up after a second try", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    const sandbox = await source(runOf("t"));
    await sandbox.execute("true");
    const { rename } = await import("node:fs/promises");
    const [id] = provider.places();
    await rename(`${provider.root}/${id}/key`, `${provider.root}/${id}/away`);
    await expect(sandbox.execute("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    await expect(sandbox.execute("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect((await sandbox.execute("echo new")).output).toMatch(/replaced.*\nnew\n$/);
    await source.close({ keep: false });
    expect(provider.log.filter((line) => line === `destroy ${id}`)).toHaveLength(1);
  });

  test("is not missed where its files are lent and outlive it", async () => {
    const provider = { ...testProvider({ forgets: true }), lendsFiles: true };
    const replaced: unknown[] = [];
    await using source = createSandbox({ provider, ttl: 0.05, onReplaced: (event) => replaced.push(event) });
    const sandbox = await source(runOf("t"));
    await sandbox.execute("true");
    await until(() => provider.places().length === 0);
    expect((await sandbox.execute("echo again")).output).toBe("again\n");
    expect(replaced).toEqual([]);
  });

  test("duplicates that a crash left in a thread are ended", async () => {
    const provider = testProvider();
    const start = createSandbox({ provider });
    await start.lease("t");
    const key = (provider.log[0] as string).slice("open ".length);
    await provider.open({ key, env: {} });
    await start.close();
    expect(provider.places()).toHaveLength(2);
    await using next = createSandbox({ provider: processProvider({ root: provider.root }) });
    await (await next(runOf("t"))).execute("true");
    expect(provider.places()).toHaveLength(1);
  });
});
