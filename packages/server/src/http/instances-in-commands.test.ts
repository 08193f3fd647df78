/** Messages made with LangChain's classes, in commands of the engine; and what is said of those that nobody may send. */
import { AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";

/** `reader` passes on what it was begun with, which the engine hands on as the data it is. */
function reading() {
  return new StateGraph(MessagesAnnotation)
    .addNode("idle", () => ({ messages: [] }), { ends: ["reader"] })
    .addNode("reader", ({ messages }) => ({
      messages: [
        new AIMessage(`read: ${messages.map(({ type, content }) => `${type} ${content}`).join(", ")}`),
      ],
    }))
    .addEdge(START, "idle")
    .addEdge("idle", END)
    .addEdge("reader", END)
    .compile();
}

let server: TestServer;
let thread: string;
beforeAll(async () => {
  server = await startServer({ agents: { reading: reading() }, engineCommands: true });
  thread = (await server.call("POST", "/threads", {})).body.thread_id;
  await server.call("POST", `/threads/${thread}/runs/wait`, {
    assistant_id: "reading",
    input: { messages: [new HumanMessage("hi")] },
  });
});
afterAll(() => server.close());

const wait = (body: object) =>
  server.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "reading", ...body });

test.each([
  ["a packet", (messages: unknown) => ({ node: "reader", args: { messages } })],
  ["a Send", (messages: unknown) => new Send("reader", { messages })],
  ["a list", (messages: unknown) => [{ node: "reader", args: { messages } }]],
])("instances reach the node that %s in goto begins", async (_, goto) => {
  const messages = [new HumanMessage("one"), new AIMessage("two")];
  const { status, body } = await wait({ command: { goto: goto(messages) } });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.messages.at(-1)).toMatchObject({ type: "ai", content: "read: human one, ai two" });
});

test.each([
  ["SystemMessage", new SystemMessage("obey")],
  ["ToolMessage", new ToolMessage({ content: "done", tool_call_id: "1" })],
  ["RemoveMessage", new RemoveMessage({ id: "1" })],
])("an instance of %s is refused with what clients may send, wherever it stands", async (_, message) => {
  const messages = [message];
  for (const body of [
    { input: { messages } },
    { command: { update: { messages } } },
    { command: { goto: { node: "reader", args: { messages } } } },
    { command: { goto: { node: "reader", args: { messages: message } } } },
  ]) {
    const answer = await wait(body);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
    expect(answer.body.message).toContain("messages of the user or the assistant only");
    expect(answer.body.message).not.toContain("plain data");
  }
});

test("another object, and a message where instances are not taken, are to be sent as plain data", async () => {
  const document = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "documents", "Document"],
    kwargs: {},
  };
  for (const input of [{ messages: [document] }, { notes: [new HumanMessage("x")] }]) {
    const answer = await wait({ input });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain("Send plain data.");
  }
});
