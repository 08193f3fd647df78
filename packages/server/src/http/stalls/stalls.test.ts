import { type RouteName, routeOf, routes } from "@deepwright/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { withoutStalls } from "../../../../core/src/backends/stalls-for-tests.ts";
import { startServer, type TestServer, TOKEN } from "../../server-for-tests.ts";

const MESSAGES = sized(2_000, 5_000);
const FILES = sized(500, 2_000);
const THREADS = sized(100, 1_000);
const LONG = "some words ".repeat(sized(300_000, 900_000));
const WIDE = Array.from({ length: 150_000 }, (_, at) => at);
const MANY = { burst: 100_000, perSecond: 100_000 };

let server: TestServer;
/** Values for the parameters of a path. */
let named: Record<string, string>;
/** A thread whose last two states have files with little in common. */
let shuffled: string;

beforeAll(async () => {
  server = await startServer({ limits: { requests: MANY, runs: MANY } });
  const { body: thread } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
  const thread_id: string = thread.thread_id;
  const now = new Date().toISOString();
  const file = (content: string) => ({ content, created_at: now, modified_at: now });
  const files = Array.from({ length: FILES }, (_, at) => [`/d${at % 50}/f${at}`, file("words\n".repeat(80))]);
  const messages = Array.from({ length: MESSAGES }, (_, at) => user(`message ${at} ${"word ".repeat(40)}`));
  const values = { messages, files: { ...Object.fromEntries(files), "/long.txt": file(LONG) } };
  const stored = await server.call("POST", `/threads/${thread_id}/state`, { values });
  expect(stored.status).toBe(200);
  const run = await server.call("POST", `/threads/${thread_id}/runs`, echo("hello"));
  const { run_id } = run.body;
  await server.call("GET", `/threads/${thread_id}/runs/${run_id}/join`);
  await server.call("PUT", "/store/items", { namespace: ["a"], key: "wide", value: { WIDE } });
  for (let at = 0; at < THREADS; at += 1)
    await server.call("POST", "/threads", { metadata: { tag: "many" } });
  shuffled = await shuffledThread();
  const { body: assistants } = await server.call("POST", "/assistants/search", {});
  const { checkpoint_id } = stored.body.checkpoint;
  named = {
    thread_id,
    other_thread_id: thread_id,
    run_id,
    checkpoint_id,
    assistant_id: assistants[0].assistant_id,
  };
});

afterAll(() => server.close());

const user = (content: string) => ({ role: "user", content });
const echo = (content: string) => ({ assistant_id: "echo", input: { messages: [user(content)] } });
const modes = ["values", "updates", "messages", "messages-tuple", "events", "debug", "tasks", "checkpoints"];

/** Every route that works on what may be large, as clients ask. Histories and searches have limits in bytes of their own. */
const REQUESTS: readonly [RouteName, unknown?, string?][] = [
  ["threads.create", { metadata: { text: "words" } }],
  ["threads.get"],
  ["threads.update", { metadata: { a: 1 } }],
  ["threads.getState"],
  ["threads.getStateAtCheckpoint"],
  ["threads.updateState", { values: { messages: [user("one more")] } }],
  ["threads.updateState", { values: { messages: [user(LONG)] } }],
  ["threads.patchState", { metadata: { a: 2 } }],
  ["threads.history", { limit: 1 }],
  ["threads.files"],
  ["threads.readFile", undefined, "?path=/long.txt"],
  ["threads.diffFiles"],
  ["threads.steps"],
  ["threads.compare"],
  ["threads.interrupts"],
  ["threads.search", { limit: 10 }],
  ["threads.search", { limit: THREADS, metadata: { tag: "many" } }],
  ["threads.count", { metadata: { tag: "many" } }],
  ["threads.copy"],
  ["runs.wait", echo("hello")],
  ...modes.map((mode) => ["runs.stream", { ...echo("hello"), stream_mode: [mode] }] as [RouteName, unknown]),
  ["runs.join"],
  ["runs.joinStream"],
  ["runs.list"],
  ["runs.get"],
  ["runs.waitStateless", echo(`say ${LONG}`)],
  ["runs.createBatch", Array.from({ length: 20 }, () => echo("hello"))],
  ["assistants.search", {}],
  ["assistants.graph"],
  ["assistants.schemas"],
  ["assistants.facts"],
  ["crons.create", { ...echo(LONG), schedule: "0 0 1 1 *" }],
  ["crons.search", {}],
  ["store.putItem", { namespace: ["a"], key: "long", value: { LONG } }],
  ["store.putItem", { namespace: ["a"], key: "wide", value: { WIDE } }],
  ["store.getItem", undefined, "?namespace=a&key=wide"],
  ["store.searchItems", { namespace_prefix: ["a"] }],
  ["store.listNamespaces", {}],
  ["approvals.list"],
  ["usage.ofThread"],
  ["usage.report"],
  ["server.openapi"],
  ["server.docs"],
];

/** Routes that work on one small record, or whose work is started by a request above. */
const SMALL: readonly RouteName[] = [
  ...(["assistants.create", "assistants.count", "assistants.get", "assistants.update"] as const),
  ...(["assistants.delete", "assistants.subgraphs", "assistants.subgraph", "assistants.versions"] as const),
  ...(["assistants.setLatest", "threads.prune", "threads.delete", "threads.getStateAt"] as const),
  ...(["threads.stopSubagent", "threads.steerSubagent", "threads.rewind"] as const),
  ...(["threads.restore", "threads.adopt", "threads.blame"] as const),
  ...(["threads.command", "threads.streamEvents", "server.metrics", "a2a.card", "a2a.call"] as const),
  ...(["threads.stream", "threads.postMessage", "threads.answerInterrupt", "runs.create"] as const),
  ...(["runs.delete", "runs.cancel", "runs.cancelMany", "runs.createStateless"] as const),
  ...(["runs.streamStateless", "runs.joinStreamStateless", "crons.createForThread", "crons.count"] as const),
  ...([
    "crons.update",
    "crons.delete",
    "store.deleteItem",
    "approvalLinks.read",
    "approvalLinks.decide",
    "settings.get",
    "settings.explain",
    "settings.forgetAllowed",
    "settings.readMemory",
    "settings.saveMemory",
    "settings.proposals",
    "settings.propose",
    "settings.webhooks",
    "workspace.list",
    "workspace.read",
    "workspace.save",
    "signIn.withCode",
    "signIn.out",
    "signIn.createCode",
    "server.ok",
    "server.ready",
    "server.info",
    "server.metrics",
  ] as const),
];

test("every route is asked here, or works on little", () => {
  const known = new Set([...REQUESTS.map(([name]) => name), ...SMALL]);
  expect(routes.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});

test.each(REQUESTS)("%s of a large thread leaves others their turns", async (name, body, query = "") => {
  const { method, path } = routeOf(name);
  const place = path.replace(/:([a-z_]+)/g, (_, key: string) => named[key] ?? key);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const status = await withoutStalls(name, () => send(method, place + query, text));
  expect(status).toBeLessThan(300);
});

test("comparing files with little in common leaves others their turns", async () => {
  const path = `/threads/${shuffled}/files/diff`;
  const { body } = await server.call("GET", path);
  expect(body.changes).toHaveLength(5);
  expect(await withoutStalls("threads.diffFiles", () => send("GET", path, undefined))).toBe(200);
});

async function shuffledThread(): Promise<string> {
  const { body: thread } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
  for (const seed of [1, 1_000]) {
    const files = Array.from({ length: 5 }, (_, at) => [`/${at}.txt`, { content: shortLines(seed + at) }]);
    const values = { files: Object.fromEntries(files) };
    const { status } = await server.call("POST", `/threads/${thread.thread_id}/state`, { values });
    expect(status).toBe(200);
  }
  return thread.thread_id;
}

/** Short lines that repeat in another order for each seed: the worst case of a diff. */
function shortLines(seed: number): string {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 29;
  };
  return Array.from({ length: 6_000 }, () => "abcdefgh"[next()]).join("\n");
}

/** Reads the answer and keeps nothing of it: what a client does with it is not measured. */
async function send(method: string, path: string, body: string | undefined): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(`${server.url}${path}`, { method, headers, ...(body && { body }) });
  for await (const _ of response.body ?? []);
  return response.status;
}
