/** SECURITY cases SV-07, SV-08, SV-10 to SV-12 and SV-14, over a port. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { auth, expectProblem, json, raw } from "./raw-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ limits: { runs: { burst: 100_000, perSecond: 100_000 } } });
});
afterAll(() => server.close());

/** So many MB of white space, one after the other. */
function pieces(count: number): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((go) => setImmediate(go));
      if (left-- > 0) controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      else controller.close();
    },
  });
}

test("SV-07 what is too large, too deep or too many is refused quickly and pollutes nothing", async () => {
  const began = performance.now();
  const declared = await raw(server, "POST", "/threads", {
    ...auth,
    ...json,
    "content-length": "200000000",
  }).catch((error) => error as Error);
  if (!(declared instanceof Error)) expect(declared.status).toBe(413);
  const sent = await fetch(`${server.url}/threads`, {
    method: "POST",
    headers: { ...auth, ...json },
    body: pieces(200),
    duplex: "half",
  } as RequestInit).then(
    ({ status }) => status,
    () => 413,
  );
  expect(sent).toBe(413);
  const deep = `{"metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
  expectProblem(await raw(server, "POST", "/threads", { ...auth, ...json }, deep), 400);
  const wide = `{"metadata":{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(",")}}}`;
  expectProblem(await raw(server, "POST", "/threads", { ...auth, ...json }, wide), 400, 413);
  const proto = '{"metadata":{"__proto__":{"polluted":true}}}';
  expectProblem(await raw(server, "POST", "/threads", { ...auth, ...json }, proto), 400);
  await raw(
    server,
    "POST",
    "/threads",
    { ...auth, ...json },
    '{"metadata":{"constructor":{"prototype":{"polluted":true}}}}',
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((await raw(server, "GET", "/ok", auth)).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(20_000);
}, 30_000);

test("SV-08 filters and pages are data: nothing of them reaches a query", async () => {
  const { body: thread } = await server.call("POST", "/threads", { metadata: { owner: "me", x: 1 } });
  const run = { assistant_id: "echo", input: { messages: [{ role: "user", content: "hi" }] } };
  await server.call("POST", `/threads/${thread.thread_id}/runs/wait`, run);
  for (const key of ["x') OR '1'='1", "a[", "$.x", 'owner"', "x' --", "\\", "a.b", "%", ""]) {
    for (const path of ["/threads/search", "/assistants/search", "/runs/crons/search"]) {
      const answer = await server.call("POST", path, { metadata: { [key]: 1 } });
      expect([200, 400], JSON.stringify(answer.body)).toContain(answer.status);
      if (answer.status === 200) expect(answer.body).toEqual([]);
    }
    const values = await server.call("POST", "/threads/search", { values: { [key]: 1 } });
    expect([200, 400]).toContain(values.status);
    if (values.status === 200) expect(values.body).toEqual([]);
    const history = await server.call("POST", `/threads/${thread.thread_id}/history`, {
      metadata: { [key]: 1 },
    });
    expect([200, 400], JSON.stringify(history.body)).toContain(history.status);
    if (history.status === 200) expect(history.body).toEqual([]);
    const items = await server.call("POST", "/store/items/search", {
      namespace_prefix: [],
      filter: { [key]: 1 },
    });
    expect([200, 400], JSON.stringify(items.body)).toContain(items.status);
  }
  for (const limit of ["1; DROP", -1, 1e9, 0, 1.5, null, "1e9"]) {
    expect((await server.call("POST", "/threads/search", { limit })).status).toBe(400);
    const list = await server.call(
      "GET",
      `/threads/${thread.thread_id}/runs?limit=${encodeURIComponent(String(limit))}`,
    );
    expect(list.status).toBe(400);
  }
  for (const sort of ["created_at; DROP TABLE", "owner", "1"])
    expect((await server.call("POST", "/threads/search", { sort_by: sort })).status).toBe(400);
});

test("SV-10 clients send no engine commands, no engine keys, no system or tool messages", async () => {
  const { body: thread } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
  const say = (role: string) => ({ input: { messages: [{ role, content: "x", tool_call_id: "1" }] } });
  const requests = [
    { command: { update: { files: {} } } },
    { command: { goto: "tools" } },
    { command: { resume: 1, goto: [] } },
    { config: { configurable: { __pregel_resuming: true } } },
    { config: { configurable: { checkpoint_ns: "x" } } },
    { config: { configurable: { langgraph_auth_user_id: "root" } } },
    { checkpoint: { checkpoint_ns: "tools:1", checkpoint_id: "c1" } },
    say("system"),
    say("tool"),
    say("developer"),
  ];
  for (const request of requests) {
    const body = { assistant_id: "echo", ...request };
    for (const path of [
      "/runs",
      "/runs/wait",
      "/runs/stream",
      `/threads/${thread.thread_id}/runs`,
      `/threads/${thread.thread_id}/runs/stream`,
    ]) {
      const answer = await server.call("POST", path, body);
      expect(answer.status, `${path} ${JSON.stringify(body)}`).toBe(400);
    }
    expect((await server.call("POST", "/runs/batch", [body])).status).toBe(400);
    expect((await server.call("POST", "/runs/crons", { ...body, schedule: "* * * * *" })).status).toBe(400);
  }
  const update = (values: unknown, rest = {}) =>
    server.call("POST", `/threads/${thread.thread_id}/state`, { values, ...rest });
  for (const values of [
    say("system").input,
    say("tool").input,
    { _budget: {} },
    { outcome: {} },
    { unknown: 1 },
    { __start__: {} },
    [],
  ])
    expect((await update(values)).status, JSON.stringify(values)).toBe(400);
  expect((await update({ messages: [] }, { as_node: "tools" })).status).toBe(400);
  const steps = [{ updates: [{ values: {}, as_node: "model_request" }] }];
  expect((await server.call("POST", "/threads", { supersteps: steps })).status).toBe(400);
  expect(
    (
      await server.call("POST", "/assistants", {
        graph_id: "echo",
        config: { configurable: { __pregel_x: 1 } },
      })
    ).status,
  ).toBe(400);
  expect((await server.call("GET", `/threads/${thread.thread_id}/runs`)).body).toEqual([]);
});

test("SV-11 files are named exactly and never shown in the server's own origin", async () => {
  const { body: thread } = await server.call("POST", "/threads");
  const write = async (path: string, text: string) =>
    server.call("POST", `/threads/${thread.thread_id}/runs/wait`, {
      assistant_id: "echo",
      input: { messages: [{ role: "user", content: `write ${path} ${text}` }] },
    });
  await write("/page.html", "<script>alert(1)</script>");
  await write("/picture.svg", "<svg onload='alert(1)'/>");
  const at = (path: string) => `/threads/${thread.thread_id}/files/content?path=${path}`;
  for (const path of [
    "../",
    "../../etc/passwd",
    "/../etc/passwd",
    "%2e%2e%2fetc",
    "/..%5cetc",
    "/%2e%2e/etc",
    "/a%00b",
    "etc",
    "",
    "%5cetc",
  ])
    expect((await raw(server, "GET", at(path), auth)).status, path).toBe(400);
  for (const path of ["/%252e%252e/etc/passwd", "/etc/passwd", "/__proto__", "/constructor"])
    expect([400, 404], path).toContain((await raw(server, "GET", at(path), auth)).status);
  for (const path of ["/page.html", "/picture.svg"]) {
    const { status, headers } = await raw(server, "GET", at(path), auth);
    expect(status).toBe(200);
    expect(headers["content-disposition"]).toMatch(/^attachment/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["content-security-policy"]).toMatch(/sandbox/);
    expect(headers["content-type"]).toMatch(/^text\/plain/);
  }
});

test("SV-12 text of the model that looks like an event is text", async () => {
  const client = new Client({ apiUrl: server.url, apiKey: TOKEN });
  const text = "a\n\nevent: x\ndata: y\n\nid: 99\r\r\n: b\u2028c";
  const { thread_id } = await client.threads.create();
  const names = new Set<string>();
  let last: { messages: { content: string }[] } | undefined;
  for await (const { event, data } of client.runs.stream(thread_id, "echo", {
    input: { messages: [{ role: "user", content: text }] },
    streamMode: ["values", "messages-tuple"],
  })) {
    names.add(event);
    if (event === "values") last = data as typeof last;
  }
  expect([...names].sort()).toEqual(["end", "messages", "metadata", "values"]);
  expect(last?.messages.at(-1)?.content).toBe(`echo: ${text}`);
});

test("SV-14 a caller that starts runs without end is told to wait, and others are served", async () => {
  const busy = await startServer();
  try {
    const body = JSON.stringify({
      assistant_id: "echo",
      input: { messages: [{ role: "user", content: "hi" }] },
    });
    const counts = new Map<number, number>();
    let slowest = 0;
    let left = 1_000;
    const start = async () => {
      while (left-- > 0) {
        const { status, headers } = await raw(busy, "POST", "/runs", { ...auth, ...json }, body);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        if (status === 429) expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
      }
    };
    const work = Promise.all(Array.from({ length: 16 }, start));
    let done = false;
    void work.finally(() => {
      done = true;
    });
    while (!done) {
      const began = performance.now();
      expect((await raw(busy, "GET", "/ok", auth)).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - began);
      await new Promise((go) => setTimeout(go, 50));
    }
    await work;
    expect([...counts.keys()].sort()).toEqual([200, 429]);
    expect(counts.get(429)).toBeGreaterThan(100);
    expect(slowest).toBeLessThan(5_000);
  } finally {
    await busy.close();
  }
}, 60_000);
