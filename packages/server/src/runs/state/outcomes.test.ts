/** How an agent ended a run, as clients see it: in the stream, the run, the thread and what `wait` answers. */
import { createClient, emptyScreen, foldEvent, type Screen } from "@deepwright/protocol";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createApp, type ServerApp } from "../../http/app.ts";

let app: ServerApp;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  const spender = createDeepAgent({
    model: scriptedModel(({ turn }) => callTool("ls", { path: `/${turn}` })),
    budget: { maxSteps: 3 },
  });
  const cut = createDeepAgent({
    model: scriptedModel(({ turn }) =>
      turn === 0 ? { text: "Once upon", finishReason: "length" } : say("The end."),
    ),
  });
  const structured = createDeepAgent({
    model: scriptedModel(({ tools }) =>
      callTool((tools.at(-1) as { function: { name: string } }).function.name, { city: "Oslo" }),
    ),
    responseFormat: z.object({ city: z.string() }),
  });
  app = await createApp({ agents: { spender, cut, structured } as never, drainMs: 1_000 });
  client = createClient({
    baseUrl: "http://localhost",
    token: app.token as string,
    fetch: ((url: string | URL | Request, init?: RequestInit) =>
      app.fetch(new Request(url, init))) as typeof fetch,
  });
});
afterAll(() => app.close());

const request = (assistant_id: string) => ({
  assistant_id,
  input: { messages: [{ role: "user", content: "Go." }] },
});

async function streamed(thread: string, assistant: string) {
  let screen: Screen = emptyScreen;
  let last: { event: string; data: unknown } | undefined;
  for await (const event of client.runs.stream(thread, request(assistant))) {
    screen = foldEvent(screen, event);
    last = event;
  }
  return { screen, end: last as { event: string; data: unknown } };
}

test("a run that its budget stopped says so in the stream, the run and the thread", async () => {
  const { thread_id } = await client.threads.create({});
  const { screen, end } = await streamed(thread_id, "spender");
  const outcome = { kind: "budget", used: 3, allowed: 3 };
  expect(end).toMatchObject({ event: "end", data: { status: "success", outcome } });
  expect(screen.run).toMatchObject({ status: "success", outcome });
  expect(screen.values).toMatchObject({ outcome });
  expect(await client.runs.list(thread_id)).toMatchObject([{ status: "success", outcome }]);
  expect((await client.threads.getState(thread_id)).values).toMatchObject({ outcome });
  expect((await client.threads.get(thread_id)).values).toMatchObject({ outcome });
});

test("the outcome is of the last run of a thread, and waits for no run to be told", async () => {
  const { thread_id } = await client.threads.create({});
  expect(await client.runs.wait(thread_id, request("cut"))).toMatchObject({ outcome: { kind: "length" } });
  const { end } = await streamed(thread_id, "cut");
  expect(end.data).toMatchObject({ outcome: { kind: "done" } });
  const kinds = (await client.runs.list(thread_id)).map(({ outcome }) => outcome?.kind);
  expect(kinds.toSorted()).toEqual(["done", "length"]);
});

test("a structured response is in what wait answers, in the thread and its state", async () => {
  const { thread_id } = await client.threads.create({});
  const values = await client.runs.wait(thread_id, request("structured"));
  expect(values).toMatchObject({ structuredResponse: { city: "Oslo" }, outcome: { kind: "done" } });
  const [run] = await client.runs.list(thread_id);
  expect(await client.runs.join(thread_id, run?.run_id as string)).toMatchObject({
    structuredResponse: { city: "Oslo" },
  });
  expect((await client.threads.getState(thread_id)).values).toMatchObject({
    structuredResponse: { city: "Oslo" },
  });
});
