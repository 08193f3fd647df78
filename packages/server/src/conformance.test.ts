/** LangGraph SDK's Client over every method: what our server must answer, and where LangGraph's servers answer otherwise. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as messages from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import * as langgraph from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newerProtocol, ORDERS, olderProtocol } from "./conformance/both-protocols-for-tests.ts";
import { differencesBetween } from "./conformance/compare-for-tests.ts";
import { DIFFERENCES, OTHER_ROWS, type PeerName } from "./conformance/differences-for-tests.ts";
import { type Peer, startPeer } from "./conformance/peer-for-tests.ts";
import { NOT_SERVED, scenarios, wholeScript } from "./conformance/scenarios-for-tests.ts";
import { collected, type Noted, notesOf, RESOURCES, say } from "./conformance/talk-for-tests.ts";
import { startServer, type TestServer, TOKEN } from "./server-for-tests.ts";

let agent: TestServer;
let graph: TestServer;
beforeAll(async () => {
  agent = await startServer();
  const { echoGraph } = await import(pathToFileURL(resolve("bench", "servers", "echo-graph.mjs")).href);
  const echo = echoGraph({ langgraph, messages, FakeListChatModel });
  graph = await startServer({
    agents: { echo },
    onError: (error) => {
      if (!String(error).includes("told to fail")) console.error(error);
    },
  });
});
afterAll(async () => {
  await agent.close();
  await graph.close();
});

const known = ({ url }: TestServer) => ({ url, apiKey: TOKEN });

describe.each(scenarios)("$name", (scenario) => {
  test("with an agent", async () => {
    await notesOf(scenario, known(agent), true);
  });
});

describe("beside LangGraph's servers, with a graph of LangGraph's", () => {
  const peers: Partial<Record<PeerName, Peer>> = {};
  const scripts = {} as Record<PeerName | "ours", Map<string, Noted[]>>;
  beforeAll(async () => {
    const script = async (name: PeerName, program: Parameters<typeof startPeer>[0]) => {
      peers[name] = await startPeer(program);
      scripts[name] = await wholeScript(peers[name], false);
    };
    await Promise.all([script("development", "langgraph-api"), script("embedded", "langgraph-embedded")]);
    scripts.ours = await wholeScript(known(graph), true);
  });
  afterAll(async () => {
    await Promise.all(Object.values(peers).map((peer) => peer.close()));
  });

  test("every method of the Client was called, or is listed with the reason why not", () => {
    const called = new Set([...scripts.ours.values()].flat().map(({ method }) => method as string));
    const client = new Client({ apiUrl: graph.url });
    const methods = RESOURCES.flatMap((resource) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(client[resource]))
        .filter((name) => name !== "constructor")
        .map((name) => `${resource}.${name}`),
    );
    expect(methods.filter((method) => !called.has(method))).toEqual(Object.keys(NOT_SERVED));
  });

  test.each(["development", "embedded"] as const)("differences to the %s server are those listed", (name) => {
    const found = new Set<string>();
    for (const [scenario, theirs] of scripts[name])
      for (const line of differencesBetween(scripts.ours.get(scenario)!, theirs)) found.add(line);
    const patterns = DIFFERENCES.flatMap((difference) => [
      ...(difference.both ?? []),
      ...(difference[name] ?? []),
    ]);
    const isLike = (pattern: string) => {
      const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      const expression = new RegExp(`^${parts.join(".*")}$`);
      return (line: string) => expression.test(line);
    };
    const lines = [...found];
    expect(lines.filter((line) => !patterns.some((pattern) => isLike(pattern)(line)))).toEqual([]);
    expect(patterns.filter((pattern) => !lines.some(isLike(pattern)))).toEqual([]);
  });

  test.each(ORDERS)("'%s' goes the same way by both stream protocols, here and there", async (order) => {
    const theirs = peers.development as Peer;
    const [newer, ...others] = await Promise.all([
      newerProtocol(known(graph), order),
      olderProtocol(known(graph), order),
      newerProtocol(theirs, order),
    ]);
    expect(others).toEqual([newer, newer]);
    expect(newer.messages).toHaveLength(order === "fail" ? 1 : 2);
    expect(newer.asked).toHaveLength(order === "ask" ? 1 : 0);
  });
});

test("docs/serve.md has a row for each difference, and none that nothing shows", () => {
  const text = readFileSync(resolve("docs", "serve.md"), "utf8");
  const section = text.split("\n## ").find((part) => part.startsWith("Differences to LangGraph's server"));
  const rows = [...section!.matchAll(/^\| (.+?) \| .+ \| .+ \|$/gm)].map(([, first]) => first);
  const listed = [...DIFFERENCES.map(({ row }) => row), ...Object.keys(OTHER_ROWS)];
  expect(rows.toSorted()).toEqual(listed.toSorted());
});

describe("with an agent, and nobody to compare with", () => {
  let client: Client;
  beforeAll(() => {
    client = new Client({ apiUrl: agent.url, apiKey: TOKEN });
  });

  test("the server says who it is", async () => {
    expect((await agent.call("GET", "/ok")).body).toEqual({ ok: true });
    expect((await agent.call("GET", "/info")).body).toMatchObject({
      version: expect.any(String),
      flags: { crons: true },
    });
  });

  test("the Client is told of a run before it has ended, and no private key is in its state", async () => {
    const { thread_id } = await client.threads.create();
    let told: unknown;
    const onRunCreated = (created: unknown) => {
      told = created;
    };
    const run = await client.runs.create(thread_id, "echo", { input: say("hi"), onRunCreated });
    expect(told).toEqual({ thread_id, run_id: run.run_id });
    await client.runs.join(thread_id, run.run_id);
    const { values } = await client.threads.getState(thread_id);
    expect(Object.keys(values).filter((key) => key.startsWith("_"))).toEqual([]);
  });

  test("joinStream goes on behind each event, with or without a thread", async () => {
    const { run_id } = await client.runs.create(null, "echo", {
      input: say("hi"),
      streamMode: ["values", "messages-tuple", "events"],
    });
    const read = (lastEventId?: string) =>
      collected(client.runs.joinStream(null, run_id, { lastEventId }) as never);
    const whole = await read();
    expect(new Set(whole.map(({ event }) => event))).toEqual(
      new Set(["metadata", "values", "messages", "events", "end"]),
    );
    for (const { id } of whole.slice(0, -1)) expect(await read(id)).toEqual(whole.slice(Number(id)));
  });

  test("cancelMany ends all there are", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "echo", { input: say("wait 600000") });
    await client.runs.cancelMany({ status: "all" });
    const status = async () => (await client.runs.get(thread_id, run_id)).status;
    await expect.poll(status).toBe("interrupted");
  });

  test("a run that is cancelled with rollback is gone", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "echo", { input: say("wait 600000") });
    await client.runs.cancel(thread_id, run_id, true, "rollback");
    await expect.poll(() => client.runs.get(thread_id, run_id).catch(String)).toMatch(/404/);
  });

  test("a thread at work is deleted with its runs", async () => {
    const { thread_id } = await client.threads.create({ graphId: "echo" });
    const run = await client.runs.create(thread_id, "echo", { input: say("wait 600000") });
    await client.threads.delete(thread_id);
    await expect(client.runs.get(thread_id, run.run_id)).rejects.toThrow(/404/);
  });
});
