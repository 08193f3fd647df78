/** A run whose state cannot be made or read ends at once: the same error would come again. */

import { tool } from "@langchain/core/tools";
import { Annotation, Command, END, START, StateGraph } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../../../../scripts/test-time.ts";
import { PROMPT, startServer, type TestServer } from "../server-for-tests.ts";

/** A plain graph whose reducer refuses a value, wherever it comes from. */
function pickyGraph() {
  const State = Annotation.Root({
    said: Annotation<string[], string>({
      default: () => [],
      reducer: (all, one) => {
        if (one === "boom") throw new TypeError("boom cannot be said");
        return [...all, one];
      },
    }),
  });
  return new StateGraph(State)
    .addNode("speak", ({ said }) => ({ said: said.at(-1) === "please" ? "boom" : "heard" }))
    .addEdge(START, "speak")
    .addEdge("speak", END)
    .compile();
}

/** An agent with a tool that writes a file nobody can have. */
function carelessAgent() {
  const spoil = tool(
    (_, { toolCall }: { toolCall?: { id?: string } }) =>
      new Command({
        update: {
          files: { "/../x": { content: "x" } },
          messages: [{ role: "tool", content: "done", tool_call_id: toolCall?.id ?? "" }],
        },
      }),
    { name: "spoil", description: "Spoils.", schema: z.object({}) },
  );
  const model = scriptedModel(
    ({ messages }) => (messages.at(-1)?.text === "spoil" ? callTool("spoil", {}) : say("fine")),
    { record: false },
  );
  return createDeepAgent({ model, tools: [spoil as never] });
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    agents: { picky: pickyGraph(), careless: carelessAgent() },
    onError: () => {},
    runs: { ...PROMPT, claimTtl: 3 },
  });
});
afterAll(() => server.close());

const words = (content: string) => ({ messages: [{ role: "user", content }] });
const CASES = {
  "input that a reducer refuses": { assistant_id: "picky", bad: { said: "boom" }, good: { said: "hi" } },
  "a node whose result a reducer refuses": {
    assistant_id: "picky",
    bad: { said: "please" },
    good: { said: "hi" },
  },
  "a tool that writes what the state refuses": { assistant_id: "careless", bad: words("spoil") },
};

describe.each(Object.entries<{ assistant_id: string; bad: object; good?: object }>(CASES))(
  "%s",
  (_, { assistant_id, bad, good }) => {
    test("fails its run once, and the thread can be read", async () => {
      const { body: thread } = await server.call("POST", "/threads", {});
      const path = `/threads/${thread.thread_id}`;
      const { body: run } = await server.call("POST", `${path}/runs`, { assistant_id, input: bad });
      const { body: outcome } = await server.call("GET", `${path}/runs/${run.run_id}/join`);
      expect(outcome.__error__.message).toMatch(/boom cannot be said|unusable path/);
      const record = await server.app.storage.records.runs.get("local", run.run_id);
      expect(record).toMatchObject({ status: "error", attempts: 1 });
      for (const [method, place] of [
        ["GET", "/state"],
        ["GET", "/state?subgraphs=true"],
        ["POST", "/history"],
        ["GET", "/interrupts"],
        ["GET", "/files"],
      ] as const)
        expect(
          (await server.call(method, `${path}${place}`, method === "POST" ? {} : undefined)).status,
        ).toBe(200);
      expect((await server.call("GET", path)).body).toMatchObject({ status: "error" });
      if (good === undefined) return;
      const again = await server.call("POST", `${path}/runs/wait`, { assistant_id, input: good });
      expect(again.body.__error__).toBeUndefined();
      expect((await server.call("GET", path)).body.status).toBe("idle");
    });

    test("can be cancelled and taken back, before its worker comes and while it ends", async () => {
      for (const action of ["interrupt", "rollback"]) {
        const { body: thread } = await server.call("POST", "/threads", {});
        const path = `/threads/${thread.thread_id}`;
        const { body: run } = await server.call("POST", `${path}/runs`, { assistant_id, input: bad });
        const cancelled = await server.call(
          "POST",
          `${path}/runs/${run.run_id}/cancel?wait=true&action=${action}`,
        );
        expect([204, 404]).toContain(cancelled.status);
        expect((await server.call("GET", path)).body.status).not.toBe("busy");
        expect((await server.call("GET", `${path}/state`)).status).toBe(200);
        expect((await server.call("DELETE", path)).status).toBe(204);
      }
    });
  },
);

test("a run that a worker left behind, and whose state cannot be read, is cancelled by the next one", async () => {
  const { runs, events } = server.app.storage.records;
  const { body: thread } = await server.call("POST", "/threads", {});
  const path = `/threads/${thread.thread_id}`;
  const body = { assistant_id: "picky", input: { said: "boom" } };
  await server.call("POST", `${path}/runs/wait`, body);
  const { claimNext } = runs;
  runs.claimNext = async (threadId, ...given) =>
    threadId === thread.thread_id ? undefined : claimNext(threadId, ...given);
  const { body: run } = await server.call("POST", `${path}/runs`, body);
  const claim = await claimNext(thread.thread_id, "a worker that is gone", 1);
  await events.append(claim!, [{ event: "metadata", data: "{}" }]);
  const cancelling = server.call("POST", `${path}/runs/${run.run_id}/cancel?wait=true`);
  await until(async () => (await runs.get("local", run.run_id))?.cancel === "interrupt");
  runs.claimNext = claimNext;
  expect((await cancelling).status).toBe(204);
  expect(await runs.get("local", run.run_id)).toMatchObject({ status: "interrupted", attempts: 2 });
});
