/** User interfaces made for LangChain's Python servers find an approval on ours, and answer it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Names that deep-agents-ui and agent-chat-ui read, beside the camelCase ones of LangChain's JavaScript packages. */
const BOTH = {
  action_requests: [{ name: "ask", args: {}, description: expect.any(String) }],
  actionRequests: [{ name: "ask", args: {}, description: expect.any(String) }],
  review_configs: [
    {
      action_name: "ask",
      allowed_decisions: ["approve", "edit", "reject", "respond"],
      actionName: "ask",
      allowedDecisions: ["approve", "edit", "reject", "respond"],
    },
  ],
  reviewConfigs: [expect.objectContaining({ action_name: "ask", actionName: "ask" })],
};

async function asked() {
  const { body: thread } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
  const path = `/threads/${thread.thread_id}`;
  const input = { messages: [{ role: "user", content: "ask" }] };
  const run = { assistant_id: "echo", input, stream_mode: ["values", "updates", "tasks"] };
  return { path, stream: (await server.call("POST", `${path}/runs/stream`, run)).body as string };
}

test("an approval has both spellings in streams, states and threads, also inside its entries", async () => {
  const { path, stream } = await asked();
  const events = stream.split("\n").filter((line) => line.startsWith("data: {"));
  const asking = events.map((line) => JSON.parse(line.slice(6))).filter((data) => data.__interrupt__);
  expect(asking.length).toBeGreaterThan(0);
  for (const { __interrupt__: interrupts } of asking) expect(interrupts[0].value).toEqual(BOTH);
  const { body: state } = await server.call("GET", `${path}/state`);
  expect(state.tasks[0].interrupts[0].value).toEqual(BOTH);
  const { body: history } = await server.call("POST", `${path}/history`, {});
  expect(history[0].tasks[0].interrupts[0].value).toEqual(BOTH);
  const { body: thread } = await server.call("GET", path);
  expect(Object.values<any>(thread.interrupts)[0][0].value).toEqual(BOTH);
});

test.each(["editedAction", "edited_action"])("an answer with %s is taken, and once only", async (name) => {
  const { path } = await asked();
  const decisions = [{ type: "edit", [name]: { name: "ask", args: {} } }];
  const answer = () =>
    server.call("POST", `${path}/runs/wait`, { assistant_id: "echo", command: { resume: { decisions } } });
  expect((await answer()).body.messages.at(-1).content).toBe("done: asked");
  expect(await answer()).toMatchObject({ status: 409, body: { code: "NOTHING_TO_RESUME" } });
});
