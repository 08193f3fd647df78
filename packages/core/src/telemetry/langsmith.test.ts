/** LangSmith is turned on by the environment alone; here a server on the loopback stands in its place. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { anyTool, ask, onThread } from "../loop/fixtures/agents.ts";
import { createModelRetryMiddleware } from "../middleware/model-retry.ts";
import { taskCall } from "../subagents/children-for-tests.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";

interface Run {
  readonly id: string;
  readonly name?: string;
  readonly run_type?: string;
  readonly parent_run_id?: string;
  readonly trace_id?: string;
  readonly session_name?: string;
  readonly extra?: { readonly metadata?: Record<string, unknown> };
  readonly end_time?: number | string;
}

interface Received {
  readonly path: string;
  readonly key: string;
  readonly body: string;
}

const TRACING_KEY = "lsv2-canary-of-langsmith";
const MODEL_KEY = "model-key-canary";
const ENVIRONMENT_KEY = "environment-canary";

let server: Server;
let received: Received[] = [];

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await textOf(request);
    received.push({ path: request.url ?? "", key: String(request.headers["x-api-key"]), body });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ batch_ingest_config: { use_multipart_endpoint: false } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  process.env.LANGSMITH_ENDPOINT = `http://127.0.0.1:${port}`;
  process.env.LANGSMITH_API_KEY = TRACING_KEY;
  process.env.LANGSMITH_PROJECT = "my-deepagent";
  process.env.OPENAI_API_KEY = ENVIRONMENT_KEY;
});
afterAll(() => server.close());
beforeEach(() => {
  received = [];
});
afterEach(() => vi.unstubAllEnvs());

/** Posted runs, with later updates merged over the first. */
function runs(): Run[] {
  const all = new Map<string, Run>();
  for (const { path, body } of received.filter((one) => one.path.startsWith("/runs"))) {
    const batch = JSON.parse(body) as { post?: Run[]; patch?: Run[] } & Run;
    const news = path === "/runs/batch" ? [...(batch.post ?? []), ...(batch.patch ?? [])] : [batch];
    for (const run of news) all.set(run.id, { ...all.get(run.id), ...run });
  }
  return [...all.values()];
}

async function ended(name: string): Promise<Run> {
  await awaitAllCallbacks();
  const isThere = (run: Run): boolean => run.name === name && run.end_time !== undefined;
  await expect.poll(() => runs().some(isThere)).toBe(true);
  return runs().find(isThere) as Run;
}

const secretive = anyTool("noop", () => "done");

function team(name: string) {
  const child = scriptedModel([callTool("noop"), say("found")], { modelName: "child-model" });
  const one = { name: "researcher", description: "Finds.", systemPrompt: "Find.", model: child };
  return createDeepAgent({
    name,
    model: scriptedModel([callTool("task", taskCall("Go.", "researcher").args), say("ok")]),
    subagents: [{ ...one, tools: [secretive] }] as never,
  });
}

test("a run with a subagent is one tree of named runs in the project", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  await team("boss").invoke(ask() as never, onThread("thread-7") as never);
  const root = await ended("boss");
  expect(root).toMatchObject({ session_name: "my-deepagent", run_type: "chain" });
  expect(root.parent_run_id ?? undefined).toBeUndefined();
  expect(root.extra?.metadata).toMatchObject({ thread_id: "thread-7", lc_agent_name: "boss" });
  const known = new Map(runs().map((run) => [run.id, run]));
  const above = (run: Run | undefined): string[] =>
    run === undefined ? [] : [...above(known.get(run.parent_run_id ?? "")), run.name ?? ""];
  const paths = runs().map((run) => above(run).join(" > "));
  expect(paths).toEqual(
    expect.arrayContaining([
      "boss",
      "boss > model_request",
      "boss > model_request > ScriptedModel",
      "boss > tools > task > researcher",
      "boss > tools > task > researcher > model_request > ScriptedModel",
      "boss > tools > task > researcher > tools > noop",
    ]),
  );
  expect(new Set(runs().map((run) => run.trace_id)).size).toBe(1);
  expect(runs().filter((run) => run.end_time === undefined)).toEqual([]);
  const inside = runs().find((run) => run.name === "researcher");
  expect(inside?.extra?.metadata).toMatchObject({ lc_agent_name: "researcher" });
});

test("runName names the run, and tags and metadata of the caller are there", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  const agent = createDeepAgent({ name: "boss", model: scriptedModel([say("ok")]) });
  await agent.invoke(ask() as never, { runName: "nightly", metadata: { customer: "acme" } } as never);
  expect((await ended("nightly")).extra?.metadata).toMatchObject({ customer: "acme", lc_agent_name: "boss" });
});

test("keys of providers are in nothing that is posted, also when a request fails", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  const baseURL = "http://127.0.0.1:9/v1";
  const given = new ChatOpenAI({ model: "given", apiKey: MODEL_KEY, configuration: { baseURL } });
  const found = new ChatOpenAI({ model: "found", configuration: { baseURL } });
  for (const model of [given, found]) {
    const agent = createDeepAgent({
      name: `on ${model.model}`,
      model,
      middleware: [createModelRetryMiddleware({ maxAttempts: 1 })],
    });
    await expect(agent.invoke({ messages: [new HumanMessage("hi")] } as never)).rejects.toThrow();
    await ended(`on ${model.model}`);
  }
  const bodies = received.map(({ body }) => body).join("\n");
  expect(bodies).toContain("ChatOpenAI");
  for (const key of [MODEL_KEY, ENVIRONMENT_KEY, TRACING_KEY]) expect(bodies).not.toContain(key);
  expect(new Set(received.filter(({ path }) => path.startsWith("/runs")).map(({ key }) => key))).toEqual(
    new Set([TRACING_KEY]),
  );
});

test.each([["false"], [undefined]])("nothing is posted with LANGSMITH_TRACING %j", async (value) => {
  vi.stubEnv("LANGSMITH_TRACING", value);
  await team("quiet").invoke(ask() as never);
  await awaitAllCallbacks();
  // A run that is traced comes after it, so that there was time to post this one.
  vi.stubEnv("LANGSMITH_TRACING", "true");
  await createDeepAgent({ name: "loud", model: scriptedModel([say("ok")]) }).invoke(ask() as never);
  await ended("loud");
  expect(
    runs()
      .filter((run) => run.parent_run_id == null)
      .map((run) => run.name),
  ).toEqual(["loud"]);
});
