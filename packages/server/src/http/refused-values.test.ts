/** Values of clients that can never become state are refused at once, and leave nothing behind. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROMPT, startServer, type TestServer } from "../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ engineCommands: true, runs: { ...PROMPT, claimTtl: 3 } });
});
afterAll(() => server.close());

const messages = [{ role: "user", content: "hi" }];
const content = { content: "text" };
const BAD: Readonly<Record<string, object>> = {
  "a path that leads up": { files: { "/../x": content } },
  "a path of a home": { files: { "~/x": content } },
  "a path of Windows": { files: { "C:\\x": content } },
  "a path that ends with a dot": { files: { "/a.": content } },
  "the root": { files: { "/": content } },
  "a removal of a bad path": { files: { "/../x": null } },
  "a file that is a number": { files: { "/a": 1 } },
  "files that are a list": { files: [content] },
  "todos that are text": { todos: "do it" },
};

const run = (values: object) => ({ assistant_id: "echo", input: { messages, ...values } });
const command = (values: object) => ({ assistant_id: "echo", command: { update: values } });
const cron = (values: object) => ({ ...run(values), schedule: "0 0 1 1 *" });

type Endpoint = readonly [method: string, path: string, body: (values: object) => unknown];
/** Every way in which a client puts values into a state. */
const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "a run": ["POST", "/threads/:id/runs", run],
  "a run that is streamed": ["POST", "/threads/:id/runs/stream", run],
  "a run that is waited for": ["POST", "/threads/:id/runs/wait", run],
  "a run without a thread": ["POST", "/runs", run],
  "a run without a thread that is streamed": ["POST", "/runs/stream", run],
  "a run without a thread that is waited for": ["POST", "/runs/wait", run],
  "a batch": ["POST", "/runs/batch", (values) => [run({}), run(values)]],
  "a command": ["POST", "/threads/:id/runs/wait", command],
  "an update of the state": ["POST", "/threads/:id/state", (values) => ({ values })],
  "the history of a new thread": [
    "POST",
    "/threads",
    (values) => ({
      metadata: { graph_id: "echo" },
      supersteps: [{ updates: [{ values: { messages, ...values }, as_node: "__start__" }] }],
    }),
  ],
  "a cron": ["POST", "/runs/crons", cron],
  "a cron of a thread": ["POST", "/threads/:id/runs/crons", cron],
};

describe.each(Object.entries(ENDPOINTS))("%s", (_, [method, path, body]) => {
  test.each(Object.entries(BAD))("with %s is refused", async (_, values) => {
    const { body: thread } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
    const { thread_id: id } = thread;
    const before = (await server.call("POST", "/threads/count", {})).body;
    const answer = await server.call(method, path.replace(":id", id), body(values));
    expect(answer.body).toMatchObject({ code: "INVALID_REQUEST" });
    expect(answer.status).toBe(400);
    const key = Object.keys(values)[0] as string;
    expect(answer.body.message).toContain(key);
    expect((await server.call("GET", `/threads/${id}/runs`)).body).toEqual([]);
    expect((await server.call("GET", `/threads/${id}`)).body.status).toBe("idle");
    expect((await server.call("GET", `/threads/${id}/state`)).body.values).toEqual({});
    expect((await server.call("POST", "/threads/count", {})).body).toBe(before);
    expect((await server.call("POST", "/runs/crons/count", {})).body).toBe(0);
  });
});
