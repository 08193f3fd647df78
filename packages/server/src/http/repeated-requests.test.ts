/** over a port: the same thing asked for twice, and clocks that jump between requests. */
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { echoAgent, startServer, type TestServer } from "../server-for-tests.ts";

/** A graph of somebody's, with nothing of ours in it. */
function plainGraph() {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", ({ messages }) => ({
      messages: [new AIMessage(`echo: ${messages.at(-1)?.text}`)],
    }))
    .addEdge(START, "answer")
    .compile();
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    agents: { echo: echoAgent(), plain: plainGraph() },
    limits: { runs: { burst: 10_000, perSecond: 10_000 } },
  });
});
afterAll(() => server.close());
afterEach(() => {
  vi.useRealTimers();
});

const A_DAY = 86_400_000;
const PAIRS = sized(20, 300);
const run = (content: string) => ({
  assistant_id: "echo",
  input: { messages: [{ role: "user", content }] },
});

async function newThread(): Promise<string> {
  return (await server.call("POST", "/threads", {})).body.thread_id;
}

async function textsOf(thread: string): Promise<string[]> {
  const { body } = await server.call("GET", `/threads/${thread}/state`);
  return body.values.messages.map(({ content }: { content: string }) => content);
}

async function answeredTwice(): Promise<{ statuses: number[]; texts: string[] }> {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs/wait`, run("ask"));
  const { body: waiting } = await server.call("GET", `/threads/${thread}/interrupts`);
  const place = `/threads/${thread}/interrupts/${waiting[0].id}`;
  const value = { decisions: [{ type: "approve" }] };
  const answers = await Promise.all([1, 2].map(() => server.call("POST", place, { value })));
  const begun = answers.find(({ status }) => status < 300);
  await server.call("GET", `/threads/${thread}/runs/${begun?.body.run_id}/join`);
  return { statuses: answers.map(({ status }) => status).toSorted(), texts: await textsOf(thread) };
}

test("R-10: of two answers to one question that come at once one counts, and the other gets 409", async () => {
  let left = PAIRS;
  const next = async () => {
    while (left-- > 0) {
      const { statuses, texts } = await answeredTwice();
      expect(statuses).toEqual([200, 409]);
      expect(texts).toEqual(["ask", "", "asked", "done: asked"]);
    }
  };
  await Promise.all(Array.from({ length: 10 }, next));
});

test("R-11: a key that comes twice is answered with the same run, and with other words refused", async () => {
  const thread = await newThread();
  const begin = (content: string, key: string) =>
    server.call("POST", `/threads/${thread}/runs`, run(content), { "idempotency-key": key });
  const [first, again] = await Promise.all([begin("one", "k-1"), begin("one", "k-1")]);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.body.run_id).toBe(first.body.run_id);
  // Almost the whole day for which a key is kept.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + A_DAY - 600_000 });
  expect((await begin("one", "k-1")).body.run_id).toBe(first.body.run_id);
  expect(await begin("two", "k-1")).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
  await server.call("GET", `/threads/${thread}/runs/${first.body.run_id}/join`);
  expect(await textsOf(thread)).toEqual(["one", "echo: one"]);
});

describe("R-35: while the clock jumps by a day to and fro", () => {
  const JUMPS = [0, 1, -1, 0, -1, 1];
  const clockAt = (days: number): void => {
    vi.useFakeTimers({ toFake: ["Date"], now: real + days * A_DAY });
  };
  let real = 0;
  beforeEach(() => {
    real = Date.now();
  });

  test("runs come in the order they were begun in", async () => {
    const thread = await newThread();
    const begun: string[] = [];
    for (const [index, days] of JUMPS.entries()) {
      clockAt(days);
      begun.push((await server.call("POST", `/threads/${thread}/runs`, run(`m${index}`))).body.run_id);
    }
    for (const id of begun) await server.call("GET", `/threads/${thread}/runs/${id}/join`);
    expect(await textsOf(thread)).toEqual(begun.flatMap((_, index) => [`m${index}`, `echo: m${index}`]));
    const { body: listed } = await server.call("GET", `/threads/${thread}/runs`);
    expect(listed.map(({ run_id }: { run_id: string }) => run_id)).toEqual(begun.toReversed());
  });

  test.each(["echo", "plain"])("nothing that a run or an update did is hidden (%s)", async (assistant_id) => {
    const thread = await newThread();
    const expected: string[] = [];
    for (const [index, days] of JUMPS.entries()) {
      clockAt(days);
      await server.call("POST", `/threads/${thread}/runs/wait`, { ...run(`m${index}`), assistant_id });
      clockAt(days - 0.5);
      const messages = [{ role: "user", content: `u${index}` }];
      expect(await server.call("POST", `/threads/${thread}/state`, { values: { messages } })).toMatchObject({
        status: 200,
      });
      expected.push(`m${index}`, `echo: m${index}`, `u${index}`);
    }
    expect(await textsOf(thread)).toEqual(expected);
  });
});
