/** LangGraph's SDK against the table: whatever its client sends has a route, and each schema takes it. */
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, test } from "vitest";
import { encodeEvent, HEARTBEAT, type Route, readQuery, routes } from "./index.ts";

const table: readonly Route[] = routes;

function routeFor(method: string, path: string): { route: Route; parameters: Record<string, string> } {
  for (const route of table) {
    const pattern = new RegExp(`^${route.path.replace(/:([a-z_]+)/g, "(?<$1>[^/]+)")}$`);
    const match = route.method === method ? pattern.exec(path) : null;
    if (match) return { route, parameters: { ...match.groups } };
  }
  throw new Error(`No route for ${method} ${path}.`);
}

const stream = () =>
  new Response(
    [
      HEARTBEAT,
      encodeEvent({ id: "1", event: "metadata", data: '{"run_id":"r","thread_id":"t"}' }),
      HEARTBEAT,
      HEARTBEAT,
      encodeEvent({
        id: "2",
        event: "updates|tools:1",
        data: JSON.stringify({ text: "a\n\nevent: x\r\u2028" }),
      }),
      HEARTBEAT,
      encodeEvent({ id: "3", event: "end", data: '{"status":"success"}' }),
      HEARTBEAT,
    ].join(""),
    { headers: { "content-type": "text/event-stream", "content-location": "/threads/t/runs/r" } },
  );

/** A client whose requests are read as the server would read them. */
function reading() {
  const read: { name: string; body?: unknown; query?: unknown }[] = [];
  const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const { route, parameters } = routeFor(request.method, url.pathname);
    route.parameters?.parse(parameters);
    const text = await request.text();
    if (text !== "") expect(route.body, route.name).toBeDefined();
    else if (route.body) expect(route.bodyOptional, route.name).toBe(true);
    read.push({
      name: route.name,
      ...(route.body && text !== "" ? { body: route.body.parse(JSON.parse(text)) } : {}),
      ...(route.query ? { query: route.query.parse(readQuery(url.searchParams)) } : {}),
    });
    if (!route.query) expect(url.search, route.name).toBe("");
    if (route.answer === "events") return stream();
    if (route.answer === "nothing") return new Response(null, { status: 204 });
    return Response.json(route.name === "store.searchItems" ? { items: [] } : {});
  };
  const client = new Client({
    apiUrl: "http://localhost",
    apiKey: null,
    callerOptions: { fetch: fetch as never, maxRetries: 0 },
  });
  return { client, read };
}

async function drain(events: AsyncIterable<unknown>): Promise<any[]> {
  const list: unknown[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const RUN = {
  input: { messages: [{ role: "user", content: "hi" }] },
  config: { tags: ["a"], recursion_limit: 50, configurable: { mode: "x" } },
  context: { user: "u" },
  metadata: { a: 1 },
  streamMode: [
    "values",
    "messages",
    "messages-tuple",
    "updates",
    "events",
    "debug",
    "tasks",
    "checkpoints",
    "custom",
  ],
  streamSubgraphs: true,
  streamResumable: true,
  interruptBefore: ["tools"],
  interruptAfter: "*",
  checkpoint: { checkpoint_ns: "", checkpoint_id: "c", checkpoint_map: {} },
  checkpointId: "c",
  webhook: "https://example.com/hook",
  multitaskStrategy: "enqueue",
  onCompletion: "continue",
  onDisconnect: "cancel",
  afterSeconds: 1,
  ifNotExists: "create",
  durability: "sync",
  command: { resume: { decisions: [] } },
} as const;
const CRON = {
  schedule: "0 */6 * * *",
  timezone: "Europe/Paris",
  endTime: "2030-01-01T00:00:00Z",
  enabled: true,
};

const CALLS: Readonly<Record<string, readonly [(client: Client) => unknown, ...string[]]>> = {
  "assistants, all options": [
    async ({ assistants: a }) => {
      const options = {
        graphId: "g",
        name: "n",
        description: "d",
        metadata: { a: 1 },
        context: {},
        config: {},
      };
      await a.create({ ...options, assistantId: "a", ifExists: "do_nothing" });
      await a.update("a", options);
      await a.get("a");
      await a.getGraph("a", { xray: 2 });
      await a.getSchemas("a");
      await a.getSubgraphs("a", { recurse: true });
      await a.getSubgraphs("a", { namespace: "tools", recurse: false });
      await a.search({
        graphId: "g",
        metadata: { a: 1 },
        sortBy: "name",
        sortOrder: "asc",
        select: ["name"],
      });
      await a.count({ graphId: "g" });
      await a.getVersions("a", { limit: 5 });
      await a.setLatest("a", 2);
      await a.delete("a", { deleteThreads: true });
    },
    "assistants",
  ],
  "threads, all options": [
    async ({ threads: t }) => {
      const updates = [{ values: { a: 1 }, command: { resume: 1 }, asNode: "n" }];
      await t.create({
        threadId: "t",
        metadata: { a: 1 },
        ifExists: "raise",
        ttl: 5,
        supersteps: [{ updates }],
      });
      await t.create();
      await t.get("t", { include: ["ttl"] });
      await t.copy("t");
      await t.update("t", { metadata: { a: 2 }, ttl: 3 });
      await t.prune(["t"], { strategy: "keep_latest" });
      await t.search({
        status: "busy",
        ids: ["t"],
        select: ["values"],
        extract: { last: "values.messages[-1]" },
      });
      await t.count({ status: "idle" });
      await t.getState("t", undefined, { subgraphs: true });
      await t.getState("t", "checkpoint-1");
      await t.getState("t", { thread_id: "t", checkpoint_ns: "", checkpoint_id: "c", checkpoint_map: null });
      await t.updateState("t", { values: { a: 1 }, asNode: "n", checkpointId: "c" });
      await t.patchState("t", { a: 1 });
      await t.getHistory("t", {
        limit: 3,
        before: { configurable: { checkpoint_id: "c" } },
        metadata: { a: 1 },
      });
      await t.getHistory("t", { checkpoint: { checkpoint_ns: "tools:1" }, limit: 1 });
      await drain(t.joinStream("t", { lastEventId: "r:3", streamMode: ["run_modes", "lifecycle"] }));
      await t.delete("t");
    },
    "threads",
  ],
  "runs, all options": [
    async ({ runs: r }) => {
      await r.create("t", "agent", RUN as never);
      await r.create(null as never, "agent");
      await r.createBatch([{ assistantId: "agent", input: {}, multitaskStrategy: "reject" }]);
      await r.wait("t", "agent", RUN as never);
      await r.wait(null, "agent");
      await drain(r.stream("t", "agent", RUN as never));
      await drain(r.stream(null, "agent"));
      await drain(r.joinStream("t", "r", { streamMode: ["values", "updates"], lastEventId: "-1" }));
      await drain(r.joinStream(null, "r"));
      await r.list("t", { limit: 2, status: "pending", select: ["run_id"] });
      await r.get("t", "r");
      await r.join("t", "r", { cancelOnDisconnect: true });
      await r.cancel("t", "r", true, "rollback");
      await r.cancelMany({ threadId: "t", runIds: ["r"], action: "interrupt" });
      await r.delete("t", "r");
    },
    "runs",
  ],
  "crons, all options": [
    async ({ crons: c }) => {
      await c.create("agent", { ...RUN, ...CRON, onRunCompleted: "keep" } as never);
      await c.createForThread("t", "agent", { ...RUN, ...CRON } as never);
      await c.update("c", { ...CRON, input: { a: 1 } } as never);
      await c.search({ assistantId: "a", enabled: true, sortBy: "next_run_date", select: ["cron_id"] });
      await c.count({ threadId: "t" });
      await c.delete("c");
    },
    "crons",
  ],
  "the store, all options": [
    async ({ store: s }) => {
      await s.putItem(["a", "b"], "k", { v: 1 }, { index: ["v"], ttl: 5 });
      await s.getItem(["a", "b"], "k", { refreshTtl: true });
      await s.deleteItem(["a", "b"], "k");
      await s.searchItems(["a"], { filter: { v: 1 }, query: "words", limit: 3 });
      await s.listNamespaces({ prefix: ["a"], suffix: ["b"], maxDepth: 2 });
    },
    "store",
  ],
};

/** `threads.stream()` of the SDK has a transport of its own: conformance/thread-protocol.test.ts of the server. */
const ELSEWHERE: ReadonlySet<string> = new Set(["threads.command", "threads.streamEvents"]);

describe("what the SDK sends is read", () => {
  test.each(Object.entries(CALLS))("%s", async (_, [calls, resource]) => {
    const { client, read } = reading();
    await calls(client);
    const sent = new Set(read.map(({ name }) => name));
    const known = table.filter(
      ({ name, standard }) => standard && name.startsWith(`${resource}.`) && !ELSEWHERE.has(name),
    );
    expect(known.map(({ name }) => name).filter((name) => !sent.has(name))).toEqual([]);
  });
});

test("SV-12 the SDK reads our streams: one event each, none for a heartbeat, text intact", async () => {
  const { client } = reading();
  const named: unknown[] = [];
  const events = await drain(client.runs.stream("t", "agent", { onRunCreated: (run) => named.push(run) }));
  expect(events).toEqual([
    { id: "1", event: "metadata", data: { run_id: "r", thread_id: "t" } },
    { id: "2", event: "updates|tools:1", data: { text: "a\n\nevent: x\r\u2028" } },
    { id: "3", event: "end", data: { status: "success" } },
  ]);
  expect(named).toEqual([{ run_id: "r", thread_id: "t" }]);
});
