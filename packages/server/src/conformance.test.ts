/** Every method of LangGraph SDK's Client that the server answers, called by that Client. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer, TOKEN } from "./server-for-tests.ts";

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  client = new Client({ apiUrl: server.url, apiKey: TOKEN });
});
afterAll(() => server.close());

const say = (content: string) => ({ messages: [{ role: "user", content }] });
const lastText = (values: unknown) =>
  (values as { messages: { content: string }[] }).messages.at(-1)?.content;
const MISSING = "00000000-0000-4000-8000-000000000000";

async function collected(stream: AsyncIterable<{ id?: string; event: string; data: unknown }>) {
  const parts: { id?: string; event: string; data: any }[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe("assistants", () => {
  test("search, count, get, getGraph, getSchemas, getSubgraphs of the server's own", async () => {
    const [own] = await client.assistants.search({ graphId: "echo" });
    expect(own).toMatchObject({ graph_id: "echo", name: "echo", version: 1 });
    expect(await client.assistants.count({ graphId: "echo" })).toBeGreaterThanOrEqual(1);
    expect((await client.assistants.get("echo")).assistant_id).toBe(own?.assistant_id);
    const graph = await client.assistants.getGraph("echo");
    expect(graph.nodes.map(({ id }) => id)).toContain("model_request");
    const schemas = await client.assistants.getSchemas(own!.assistant_id);
    expect(schemas).toMatchObject({ graph_id: "echo", input_schema: { properties: { messages: {} } } });
    expect(await client.assistants.getSubgraphs("echo")).toBeTypeOf("object");
    expect(await client.assistants.getSubgraphs("echo", { namespace: "tools" })).toBeTypeOf("object");
  });

  test("create, update, getVersions, setLatest, delete", async () => {
    const made = await client.assistants.create({
      graphId: "echo",
      name: "mine",
      metadata: { team: "a" },
      context: { locale: "de" },
    });
    expect(made).toMatchObject({ graph_id: "echo", name: "mine", version: 1, metadata: { team: "a" } });
    const id = made.assistant_id;
    await expect(client.assistants.create({ graphId: "echo", assistantId: id })).rejects.toThrow(/409/);
    const same = await client.assistants.create({ graphId: "echo", assistantId: id, ifExists: "do_nothing" });
    expect(same.name).toBe("mine");
    expect(await client.assistants.update(id, { name: "better" })).toMatchObject({
      name: "better",
      version: 2,
    });
    const versions = await client.assistants.getVersions(id);
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
    expect(await client.assistants.setLatest(id, 1)).toMatchObject({ name: "mine", version: 1 });
    const page = await client.assistants.search({ limit: 1, includePagination: true });
    expect(page.assistants).toHaveLength(1);
    expect(page.next).toBe("1");
    const values = await client.runs.wait(null, id, { input: say("hi") });
    expect(lastText(values)).toBe("echo: hi");
    await client.assistants.delete(id);
    await expect(client.assistants.get(id)).rejects.toThrow(/404/);
  });

  test("an unknown one is not there", async () => {
    await expect(client.assistants.get(MISSING)).rejects.toThrow(/404/);
    await expect(client.assistants.create({ graphId: "nothing" })).rejects.toThrow(/404/);
  });
});

describe("threads", () => {
  test("create, get, update, search, count, delete", async () => {
    const made = await client.threads.create({ metadata: { kind: "conformance" }, threadId: "my-thread" });
    expect(made).toMatchObject({ thread_id: "my-thread", status: "idle", metadata: { kind: "conformance" } });
    await expect(client.threads.create({ threadId: "my-thread" })).rejects.toThrow(/409/);
    expect(await client.threads.create({ threadId: "my-thread", ifExists: "do_nothing" })).toMatchObject({
      thread_id: "my-thread",
    });
    const changed = await client.threads.update("my-thread", { metadata: { more: 1 } });
    expect(changed.metadata).toMatchObject({ kind: "conformance", more: 1 });
    expect(
      await client.threads.update("my-thread", { metadata: { more: 2 }, returnMinimal: true }),
    ).toBeUndefined();
    const found = await client.threads.search({ metadata: { kind: "conformance" }, select: ["thread_id"] });
    expect(found).toEqual([{ thread_id: "my-thread" }]);
    expect(await client.threads.search({ ids: ["my-thread"] })).toHaveLength(1);
    expect(await client.threads.count({ metadata: { kind: "conformance" } })).toBe(1);
    await client.threads.delete("my-thread");
    await expect(client.threads.get("my-thread")).rejects.toThrow(/404/);
    await expect(client.threads.delete("my-thread")).rejects.toThrow(/404/);
  });

  test("getState, getHistory, updateState, patchState, copy, prune", async () => {
    const { thread_id } = await client.threads.create({ graphId: "echo" });
    expect((await client.threads.getState(thread_id)).next).toEqual([]);
    await client.runs.wait(thread_id, "echo", { input: say("one") });
    await client.runs.wait(thread_id, "echo", { input: say("two") });
    const state = await client.threads.getState(thread_id);
    expect(lastText(state.values)).toBe("echo: two");
    expect(Object.keys(state.values).some((key) => key.startsWith("_"))).toBe(false);
    const history = await client.threads.getHistory<{ messages?: unknown[] }>(thread_id, { limit: 100 });
    expect(history[0]?.checkpoint.checkpoint_id).toBe(state.checkpoint.checkpoint_id);
    const older = history.find(({ values }) => values.messages?.length === 2)!;
    const byId = await client.threads.getState(thread_id, older.checkpoint.checkpoint_id as string);
    expect(lastText(byId.values)).toBe("echo: one");
    const byPlace = await client.threads.getState(thread_id, older.checkpoint as never, { subgraphs: true });
    expect(lastText(byPlace.values)).toBe("echo: one");
    const before = await client.threads.getHistory(thread_id, {
      before: { configurable: older.checkpoint } as never,
    });
    expect(
      before.every(({ checkpoint }) => checkpoint.checkpoint_id! < older.checkpoint.checkpoint_id!),
    ).toBe(true);

    const updated = await client.threads.updateState(thread_id, { values: say("by hand") });
    expect(updated.configurable ?? updated).toMatchObject({});
    expect(lastText((await client.threads.getState(thread_id)).values)).toBe("by hand");
    await client.threads.patchState(thread_id, { seen: true });
    expect((await client.threads.get(thread_id)).metadata).toMatchObject({ seen: true });

    const fork = await client.runs.wait(thread_id, "echo", {
      input: say("fork"),
      checkpoint: older.checkpoint as never,
    });
    expect((fork as { messages: unknown[] }).messages).toHaveLength(4);

    const copy = await client.threads.copy(thread_id);
    expect(copy.thread_id).not.toBe(thread_id);
    expect(lastText((await client.threads.getState(copy.thread_id)).values)).toBe("echo: fork");
    expect(await client.threads.prune([copy.thread_id], { strategy: "keep_latest" })).toEqual({
      pruned_count: 1,
    });
    expect(await client.threads.getHistory(copy.thread_id)).toHaveLength(1);
    expect(await client.threads.prune([copy.thread_id, MISSING])).toEqual({ pruned_count: 1 });
    await expect(client.threads.get(copy.thread_id)).rejects.toThrow(/404/);
  });

  test("search extracts and filters by what a run left", async () => {
    const { thread_id } = await client.threads.create({ metadata: { kind: "extract" } });
    await client.runs.wait(thread_id, "echo", { input: say("hello") });
    const [found] = (await client.threads.search({
      metadata: { kind: "extract" },
      status: "idle",
      extract: { last: "values.messages[-1].content", none: "values.nothing.here" },
    } as never)) as unknown as [{ extracted: unknown }];
    expect(found?.extracted).toEqual({ last: "echo: hello", none: null });
  });

  test("joinStream follows one run after the other", async () => {
    const { thread_id } = await client.threads.create();
    const leave = new AbortController();
    const ends: string[] = [];
    const reading = (async () => {
      for await (const { event, id } of client.threads.joinStream(thread_id, { signal: leave.signal }))
        if (event === "end" && ends.push(id as string) === 2) return leave.abort();
    })().catch(() => {});
    const first = await client.runs.create(thread_id, "echo", { input: say("one") });
    const second = await client.runs.create(thread_id, "echo", { input: say("two") });
    await reading;
    expect(ends.map((id) => id.split(":")[0])).toEqual([first.run_id, second.run_id]);
  });
});

describe("runs", () => {
  test("create, get, list, join, delete", async () => {
    const { thread_id } = await client.threads.create();
    let told: unknown;
    const run = await client.runs.create(thread_id, "echo", {
      input: say("hi"),
      metadata: { a: 1 },
      onRunCreated: (created) => {
        told = created;
      },
    });
    expect(told).toEqual({ thread_id, run_id: run.run_id });
    expect(run).toMatchObject({ thread_id, status: "pending", metadata: { a: 1 } });
    expect(lastText(await client.runs.join(thread_id, run.run_id))).toBe("echo: hi");
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: "success" });
    expect(await client.runs.list(thread_id, { status: "success" })).toHaveLength(1);
    expect(await client.runs.list(thread_id, { select: ["run_id"] })).toEqual([{ run_id: run.run_id }]);
    await client.runs.delete(thread_id, run.run_id);
    await expect(client.runs.get(thread_id, run.run_id)).rejects.toThrow(/404/);
  });

  test.each([
    ["values", ["values"]],
    ["updates", ["updates"]],
    ["messages", ["messages/complete", "messages/metadata", "messages/partial"]],
    ["messages-tuple", ["messages"]],
    ["tasks", ["tasks"]],
    ["checkpoints", ["checkpoints"]],
    ["debug", ["debug"]],
    ["events", ["events"]],
  ] as const)("stream in the mode %s", async (mode, names) => {
    const { thread_id } = await client.threads.create();
    const parts = await collected(
      client.runs.stream(thread_id, "echo", { input: say("hi"), streamMode: mode as never }) as never,
    );
    expect(parts[0]?.event).toBe("metadata");
    expect(parts.at(-1)?.event).toBe("end");
    expect([...new Set(parts.slice(1, -1).map(({ event }) => event))].sort()).toEqual(names);
    expect(parts.map(({ id }) => Number(id))).toEqual(parts.map((_, index) => index + 1));
  });

  test("stream, wait and create without a thread, and a batch of them", async () => {
    const parts = await collected(client.runs.stream(null, "echo", { input: say("hi") }) as never);
    expect(lastText(parts.findLast(({ event }) => event === "values")?.data)).toBe("echo: hi");
    expect(lastText(await client.runs.wait(null, "echo", { input: say("hi") }))).toBe("echo: hi");
    const alone = await client.runs.create(null as never, "echo", { input: say("hi") });
    expect((await collected(client.runs.joinStream(null, alone.run_id) as never)).at(-1)?.event).toBe("end");
    const batch = await client.runs.createBatch([
      { assistantId: "echo", input: say("a") },
      { assistantId: "echo", input: say("b") },
    ]);
    expect(batch).toHaveLength(2);
    for (const { thread_id, run_id } of batch) await client.runs.join(thread_id, run_id);
  });

  test("joinStream resumes behind the last event without gap or repetition", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "echo", {
      input: say("hi"),
      streamMode: ["values", "messages-tuple"],
      streamResumable: true,
    });
    const whole = await collected(client.runs.joinStream(thread_id, run_id) as never);
    for (const { id } of whole.slice(0, -1)) {
      const rest = await collected(client.runs.joinStream(thread_id, run_id, { lastEventId: id }) as never);
      expect(rest).toEqual(whole.slice(Number(id)));
    }
    const values = await collected(
      client.runs.joinStream(thread_id, run_id, { streamMode: "values" }) as never,
    );
    expect(new Set(values.map(({ event }) => event))).toEqual(new Set(["metadata", "values", "end"]));
  });

  test("cancel, with and without waiting, and cancelMany", async () => {
    const { thread_id } = await client.threads.create();
    const slow = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
    await expect.poll(async () => (await client.runs.get(thread_id, slow.run_id)).status).toBe("running");
    await client.runs.cancel(thread_id, slow.run_id, true);
    expect((await client.runs.get(thread_id, slow.run_id)).status).toBe("interrupted");
    const other = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
    await client.runs.cancelMany({ threadId: thread_id, runIds: [other.run_id] });
    await expect
      .poll(async () => (await client.runs.get(thread_id, other.run_id)).status)
      .toBe("interrupted");
    const third = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
    await client.runs.cancelMany({ status: "all" });
    await expect
      .poll(async () => (await client.runs.get(thread_id, third.run_id)).status)
      .toBe("interrupted");
    const fourth = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
    await client.runs.cancel(thread_id, fourth.run_id, true, "rollback");
    await expect.poll(() => client.runs.get(thread_id, fourth.run_id).catch(String)).toMatch(/404/);
  });

  test("two runs on one thread: reject, enqueue, interrupt", async () => {
    const { thread_id } = await client.threads.create();
    const first = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
    await expect(
      client.runs.create(thread_id, "echo", { input: say("no"), multitaskStrategy: "reject" }),
    ).rejects.toThrow(/409/);
    const queued = await client.runs.create(thread_id, "echo", { input: say("later") });
    expect((await client.runs.get(thread_id, queued.run_id)).status).toBe("pending");
    const now = await client.runs.wait(thread_id, "echo", {
      input: say("now"),
      multitaskStrategy: "interrupt",
    });
    expect(lastText(now)).toBe("echo: now");
    expect((await client.runs.get(thread_id, first.run_id)).status).toBe("interrupted");
  });

  test("an interrupt is seen, and answered by command.resume", async () => {
    const { thread_id } = await client.threads.create();
    const asked = (await client.runs.wait(thread_id, "echo", { input: say("ask") })) as {
      __interrupt__?: unknown[];
    };
    expect(asked.__interrupt__).toHaveLength(1);
    const thread = await client.threads.get(thread_id);
    expect(thread.status).toBe("interrupted");
    expect(Object.values(thread.interrupts).flat()).toHaveLength(1);
    const answer = { decisions: [{ type: "approve" }] };
    const done = await client.runs.wait(thread_id, "echo", { command: { resume: answer } });
    expect(lastText(done)).toBe("done: asked");
    await expect(client.runs.wait(thread_id, "echo", { command: { resume: answer } })).rejects.toThrow(/409/);
  });

  test("a run on a thread that is not there, or of an agent that is not there", async () => {
    await expect(client.runs.wait(MISSING, "echo", { input: say("hi") })).rejects.toThrow(/404/);
    await expect(client.runs.wait(null, "nothing", { input: say("hi") })).rejects.toThrow(/404/);
    const made = await client.runs.wait("made-by-run", "echo", { input: say("hi"), ifNotExists: "create" });
    expect(lastText(made)).toBe("echo: hi");
  });
});

describe("store", () => {
  test("putItem, getItem, searchItems, listNamespaces, deleteItem", async () => {
    await client.store.putItem(["notes", "a"], "k1", { text: "one", rank: 1 });
    await client.store.putItem(["notes", "b"], "k2", { text: "two", rank: 2 });
    expect(await client.store.getItem(["notes", "a"], "k1")).toMatchObject({
      key: "k1",
      value: { text: "one" },
    });
    expect(await client.store.getItem(["notes", "a"], "none")).toBeNull();
    const { items } = await client.store.searchItems(["notes"], { filter: { rank: 2 } });
    expect(items.map(({ key }) => key)).toEqual(["k2"]);
    expect((await client.store.listNamespaces({ prefix: ["notes"] })).namespaces.sort()).toEqual([
      ["notes", "a"],
      ["notes", "b"],
    ]);
    await client.store.deleteItem(["notes", "a"], "k1");
    expect(await client.store.getItem(["notes", "a"], "k1")).toBeNull();
  });
});

describe("crons", () => {
  test("create, createForThread, search, count, update, delete", async () => {
    const { thread_id } = await client.threads.create();
    const cron = (await client.crons.create("echo", { schedule: "0 3 * * *", input: say("hi") })) as any;
    expect(cron).toMatchObject({ schedule: "0 3 * * *", enabled: true, thread_id: null });
    expect(new Date(cron.next_run_date).getUTCHours()).toBe(3);
    const onThread = (await client.crons.createForThread(thread_id, "echo", {
      schedule: "*/5 * * * *",
      timezone: "Europe/Berlin",
      input: say("hi"),
    })) as any;
    expect(onThread.thread_id).toBe(thread_id);
    expect(await client.crons.count()).toBe(2);
    expect(await client.crons.search({ threadId: thread_id })).toHaveLength(1);
    const changed = (await client.crons.update(cron.cron_id, {
      schedule: "0 4 * * *",
      enabled: false,
    })) as any;
    expect(changed).toMatchObject({ schedule: "0 4 * * *", enabled: false, next_run_date: null });
    await expect(client.crons.create("echo", { schedule: "often", input: {} })).rejects.toThrow(/400/);
    await client.crons.delete(cron.cron_id);
    await client.crons.delete(onThread.cron_id);
    expect(await client.crons.count()).toBe(0);
  });
});

test("the server says who it is", async () => {
  expect((await server.call("GET", "/ok")).body).toEqual({ ok: true });
  expect((await server.call("GET", "/info")).body).toMatchObject({
    version: expect.any(String),
    flags: { crons: true },
  });
});

test("the state of a thread at work is not changed from outside", async () => {
  const { thread_id } = await client.threads.create({ graphId: "echo" });
  const run = await client.runs.create(thread_id, "echo", { input: say("wait 60000") });
  await expect.poll(async () => (await client.runs.get(thread_id, run.run_id)).status).toBe("running");
  await expect(client.threads.updateState(thread_id, { values: say("x") })).rejects.toThrow(/409/);
  await client.threads.delete(thread_id);
  await expect(client.runs.get(thread_id, run.run_id)).rejects.toThrow(/404/);
});
