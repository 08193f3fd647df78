/** SECURITY cases SV-07, SV-08, SV-10 to SV-12 and SV-14, over a port. */
import { request } from "node:http";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withinLimit } from "../../../../scripts/test-time.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { auth, expectProblem, json, raw } from "./raw-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ limits: { runs: { burst: 100_000, perSecond: 100_000 } } });
});
afterAll(() => server.close());

/** Sends so many MiB, or until there is an answer: that it is cut off without one fails. */
function sendMany(megabytes: number, headers: Record<string, string>): Promise<number> {
  return new Promise((done, fail) => {
    const sent = request({
      ...{ host: "127.0.0.1", port: server.port, method: "POST", path: "/threads", agent: false },
      // As the clients of SDKs and browsers do.
      headers: { ...auth, ...json, connection: "keep-alive", ...headers },
    });
    let left = megabytes;
    let isAnswered = false;
    sent.on("response", (answer) => {
      isAnswered = true;
      answer.resume();
      done(answer.statusCode ?? 0);
      sent.destroy();
    });
    sent.on("error", (error) => !isAnswered && fail(error));
    const next = () => {
      while (!isAnswered && left-- > 0)
        if (!sent.write(Buffer.alloc(1024 * 1024, 0x20))) {
          sent.once("drain", next);
          return;
        }
      if (!isAnswered) sent.end();
    };
    next();
  });
}

const quickly = <T>(work: () => Promise<T>): Promise<T> =>
  withinLimit("a request that is too large, too deep or too wide is refused", work);

test("SV-07 what is too large, too deep or too many is refused quickly and pollutes nothing", async () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    quickly(() => raw(server, "POST", "/threads", { ...auth, ...json, ...headers }, body));
  // Said to be 200 MB, of which nothing has come; sent whole; sent in pieces whose sum nobody has told.
  expectProblem(await post("", { "content-length": "200000000" }), 413);
  const whole = { "content-length": String(200 * 1024 * 1024) };
  expect(await quickly(() => sendMany(200, whole))).toBe(413);
  expect(await quickly(() => sendMany(200, { "transfer-encoding": "chunked" }))).toBe(413);
  expectProblem(await post(`{"metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`), 400);
  expectProblem(await post("[".repeat(100_000)), 400);
  const wide = `{"metadata":{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(",")}}}`;
  expectProblem(await post(wide), 400, 413);
  const before = Object.getOwnPropertyNames(Object.prototype);
  for (const body of [
    '{"metadata":{"__proto__":{"polluted":true}}}',
    '{"__proto__":{"polluted":true}}',
    '{"metadata":{"a":[{"\\u005f_proto__":{"polluted":true}}]}}',
  ])
    expectProblem(await post(body), 400);
  await post('{"metadata":{"constructor":{"prototype":{"polluted":true}}}}');
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  expect((await quickly(() => raw(server, "GET", "/ok", auth))).status).toBe(200);
});

test("SV-08 filters and pages are data: nothing of them reaches a query", async () => {
  const metadata = { owner: "me", x: 1 };
  const { body: thread } = await server.call("POST", "/threads", { metadata });
  const run = { assistant_id: "echo", input: { messages: [{ role: "user", content: "hi" }] } };
  await server.call("POST", `/threads/${thread.thread_id}/runs/wait`, run);
  await server.call("POST", "/assistants", { graph_id: "echo", metadata });
  await server.call("POST", "/runs/crons", { assistant_id: "echo", schedule: "0 0 1 1 *", metadata });
  for (const key of ["one", "two"])
    await server.call("PUT", "/store/items", { namespace: ["notes"], key, value: metadata });
  const history = `/threads/${thread.thread_id}/history`;
  const searches: [path: string, request: (filter: object) => object, found: (body: any) => unknown[]][] = [
    ["/threads/search", (metadata) => ({ metadata }), (body) => body],
    ["/threads/search", (values) => ({ values }), (body) => body],
    ["/assistants/search", (metadata) => ({ metadata }), (body) => body],
    ["/runs/crons/search", (metadata) => ({ metadata }), (body) => body],
    [history, (metadata) => ({ metadata }), (body) => body],
    ["/store/items/search", (filter) => ({ namespace_prefix: [], filter }), ({ items }) => items],
  ];
  for (const [path, request, found] of searches) {
    // Without the filter there is something to be found.
    const everything = await server.call("POST", path, { ...request({}) });
    expect(found(everything.body).length, path).toBeGreaterThan(0);
    for (const key of ["x') OR '1'='1", "a[", "$.x", 'owner"', "x' --", "\\", "a.b", "%", ""])
      for (const value of [1, "1' OR '1'='1", { $eq: 1 }, { "$gt'": 0 }]) {
        const answer = await server.call("POST", path, request({ [key]: value }));
        expect([200, 400], JSON.stringify(answer.body)).toContain(answer.status);
        if (answer.status === 200) expect(found(answer.body), `${path} ${key}`).toEqual([]);
      }
  }
  const known = await server.call("POST", "/store/items/search", { namespace_prefix: [], filter: { x: 1 } });
  expect(known.body.items).toHaveLength(2);
  for (const limit of ["1; DROP", -1, 1e9, 0, 1.5, null, "1e9"]) {
    for (const [path, more] of [
      ["/threads/search", {}],
      ["/assistants/search", {}],
      ["/runs/crons/search", {}],
      [history, {}],
      ["/store/items/search", { namespace_prefix: [] }],
      ["/store/namespaces", {}],
    ] as const) {
      const answer = await server.call("POST", path, { ...more, limit });
      expect(answer.status, `${path} ${limit} ${JSON.stringify(answer.body)}`).toBe(400);
    }
    const list = await server.call(
      "GET",
      `/threads/${thread.thread_id}/runs?limit=${encodeURIComponent(String(limit))}`,
    );
    expect(list.status).toBe(400);
    const query = `${history}?limit=${encodeURIComponent(String(limit))}`;
    expect([400, 404]).toContain((await server.call("GET", query)).status);
  }
  for (const sort of ["created_at; DROP TABLE", "owner", "1"])
    for (const path of ["/threads/search", "/assistants/search", "/runs/crons/search"])
      expect((await server.call("POST", path, { sort_by: sort })).status).toBe(400);
});

test("SV-10 clients send no engine commands, no engine keys, no system or tool messages", async () => {
  const { body: thread } = await server.call("POST", "/threads", { metadata: { graph_id: "echo" } });
  const say = (role: string) => ({ input: { messages: [{ role, content: "x", tool_call_id: "1" }] } });
  const requests = [
    { command: { update: { files: {} } } },
    { command: { goto: "tools" } },
    { command: { resume: 1, goto: ["tools"] } },
    { command: { lg_name: "Command", resume: 1, goto: [], update: { files: {} } } },
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
      `/threads/${thread.thread_id}/runs/wait`,
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

test("SV-10 what is refused at the beginning cannot be put into a cron or an assistant later", async () => {
  const schedule = "0 0 1 1 *";
  const { body: cron } = await server.call("POST", "/runs/crons", { assistant_id: "echo", schedule });
  const { body: assistant } = await server.call("POST", "/assistants", { graph_id: "echo" });
  const keys = [{ __pregel_resuming: true }, { checkpoint_ns: "x" }, { langgraph_auth_user_id: "root" }];
  for (const configurable of keys) {
    const change = { config: { configurable } };
    for (const path of [`/runs/crons/${cron.cron_id}`, `/assistants/${assistant.assistant_id}`])
      expect((await server.call("PATCH", path, change)).status, JSON.stringify(configurable)).toBe(400);
  }
  for (const input of [{ messages: [{ role: "system", content: "x" }] }, { messages: [["system", "x"]] }])
    expect((await server.call("PATCH", `/runs/crons/${cron.cron_id}`, { input })).status).toBe(400);
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
    "%252e",
    "/%252e%252e/etc/passwd",
    "/a%252f..%252fb",
    "/a%255cb",
    "/a%2500b",
  ]) {
    expectProblem(await raw(server, "GET", at(path), auth), 400);
    const listed = `/threads/${thread.thread_id}/files?path=${path}`;
    if (path !== "") expectProblem(await raw(server, "GET", listed, auth), 400);
  }
  for (const path of ["/etc/passwd", "/__proto__", "/constructor"])
    expectProblem(await raw(server, "GET", at(path), auth), 404);
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
  const busy = await startServer({ limits: { runs: { burst: 200, perSecond: 1 } } });
  try {
    const body = JSON.stringify({
      assistant_id: "echo",
      input: { messages: [{ role: "user", content: "hi" }] },
    });
    const counts = new Map<number, number>();
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
    let served = 0;
    while (!done) {
      expect((await raw(busy, "GET", "/ok", auth)).status).toBe(200);
      served += 1;
      await new Promise((go) => setTimeout(go, 50));
    }
    await work;
    expect([...counts.keys()].sort()).toEqual([200, 429]);
    expect(counts.get(429)).toBeGreaterThan(100);
    expect(served).toBeGreaterThan(3);
  } finally {
    await busy.close();
  }
});
