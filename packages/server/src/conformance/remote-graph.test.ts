/** LangGraph's RemoteGraph on an agent of the server: questions answered, files given as text, states read. */
import { Command } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { lastText, say } from "./talk-for-tests.ts";

let server: TestServer;
let graph: RemoteGraph;
beforeAll(async () => {
  server = await startServer();
  graph = new RemoteGraph({ graphId: "echo", url: server.url, apiKey: TOKEN });
});
afterAll(() => server.close());

const INTERRUPTED = { name: "GraphInterrupt" };

async function newThread() {
  const { body } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
  return { configurable: { thread_id: body.thread_id as string } };
}

test("an approval is answered with a Command, and once only", async () => {
  const config = await newThread();
  await expect(graph.invoke(say("ask"), config)).rejects.toMatchObject(INTERRUPTED);
  expect((await graph.getState(config)).tasks[0]?.interrupts).toHaveLength(1);
  const answer = () =>
    graph.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }) as never, config);
  expect(lastText(await answer())).toBe("done: asked");
  await expect(answer()).rejects.toThrow(/409|waits for no answer/);
  const { values } = await graph.getState(config);
  expect(lastText(values)).toBe("done: asked");
});

test("a Command with an update or a node to go to is refused", async () => {
  const config = await newThread();
  await expect(graph.invoke(say("ask"), config)).rejects.toMatchObject(INTERRUPTED);
  for (const more of [{ goto: ["tools"] }, { update: { files: { "/a": "x" } } }])
    await expect(
      graph.invoke(new Command({ resume: { decisions: [{ type: "approve" }] }, ...more }) as never, config),
    ).rejects.toThrow(/400|not allowed/);
  expect((await graph.getState(config)).tasks).toHaveLength(1);
});

test("files given as text are files of the thread", async () => {
  const config = await newThread();
  await graph.invoke({ ...say("hi"), files: { "/notes.md": "a note" } } as never, config);
  const { values } = await graph.getState(config);
  expect(values.files).toMatchObject({ "/notes.md": { content: "a note" } });
  const { thread_id: id } = config.configurable;
  expect(await server.call("GET", `/threads/${id}/files/content?path=/notes.md`)).toMatchObject({
    status: 200,
    body: "a note",
  });
});

test("several modes are streamed with their names", async () => {
  const seen = new Set<string>();
  const modes = ["values", "updates"] as const;
  for await (const [mode] of await graph.stream(say("hi"), {
    ...(await newThread()),
    streamMode: [...modes],
  }))
    seen.add(mode as string);
  expect(seen).toEqual(new Set(modes));
});
