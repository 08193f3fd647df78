/** SECURITY cases SV-01 to SV-14, over a port, against every route of the protocol's table. */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { fillPath, type Route, routes } from "@deepwright/protocol";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve } from "../serve.ts";
import { echoAgent, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

interface Raw {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** As no browser would send it: any header, any path, byte by byte. */
function raw(
  server: { readonly port: number },
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Raw> {
  return new Promise((done, fail) => {
    const sent = httpRequest({
      host: "127.0.0.1",
      port: server.port,
      method,
      path,
      headers: {
        ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
        ...headers,
      },
      setHost: !("host" in headers),
    });
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece) => {
        text += piece;
      });
      answer.on("end", () => done({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

const SAMPLE = {
  thread_id: "t1",
  run_id: "r1",
  assistant_id: "a1",
  cron_id: "c1",
  checkpoint_id: "p1",
  interrupt_id: "i1",
  namespace: "n1",
};
const auth = { authorization: `Bearer ${TOKEN}` };
const json = { "content-type": "application/json" };
const all = routes as readonly Route[];
const pathOf = ({ path }: Route, ids: Record<string, string> = SAMPLE) => fillPath(path, ids);
const needsBody = ({ method }: Route) => method !== "GET";

let server: TestServer;
let secrets: string[];
beforeAll(async () => {
  server = await startServer({ limits: { runs: { burst: 100_000, perSecond: 100_000 } } });
  secrets = [server.directory, process.cwd(), TOKEN];
});
afterAll(() => server.close());

/** Typed JSON, and nothing of the machine in it. */
function expectProblem(answer: Raw, ...statuses: number[]) {
  expect(statuses, answer.text).toContain(answer.status);
  const body = JSON.parse(answer.text);
  expect(body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  expect(answer.text).not.toMatch(/\bat \S+ \(|node_modules|\.ts:\d/);
  for (const secret of secrets) expect(answer.text).not.toContain(secret);
}

test("SV-01 every route refuses requests without a token, with an empty or a wrong one", async () => {
  const bad: Record<string, string>[] = [
    {},
    { authorization: "Bearer " },
    { authorization: "" },
    { "x-api-key": "" },
    { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Basic ${TOKEN}` },
    { authorization: TOKEN },
    { cookie: `token=${TOKEN}` },
  ];
  for (const route of all)
    for (const headers of bad) {
      const body = needsBody(route) ? "{}" : undefined;
      const answer = await raw(server, route.method, pathOf(route), { ...headers, ...(body && json) }, body);
      expectProblem(answer, 401);
    }
  const unknown = await raw(server, "GET", "/nothing/here", {});
  expectProblem(unknown, 401);
});

test("SV-01 both ways to send the token open every route", async () => {
  for (const route of all)
    for (const headers of [auth, { "x-api-key": TOKEN }] as Record<string, string>[]) {
      const body = needsBody(route) ? "{}" : undefined;
      const answer = await raw(server, route.method, pathOf(route), { ...headers, ...(body && json) }, body);
      expect([401, 403, 500], `${route.name} ${answer.text}`).not.toContain(answer.status);
    }
});

test("SV-02 a Host that is not the server's is refused, and so is none", async () => {
  for (const host of [
    "evil.com",
    "127.0.0.1.evil.com",
    `evil.com:${server.port}`,
    "localhost.evil.com",
    "a b",
  ])
    expectProblemOrNone(await raw(server, "GET", "/ok", { ...auth, host }), 403, 400);
  const none = await new Promise<string>((done, fail) => {
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.write(`GET /ok HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`);
    });
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.on("end", () => done(text));
    socket.on("error", fail);
  });
  expect(none).toMatch(/^HTTP\/1\.1 400/);
  expect((await raw(server, "GET", "/ok", { ...auth, host: `localhost:${server.port}` })).status).toBe(200);
});

/** What is refused before it is a request has no body. */
function expectProblemOrNone(answer: Raw, ...statuses: number[]) {
  if (answer.text === "") expect(statuses).toContain(answer.status);
  else expectProblem(answer, ...statuses);
}

test("SV-03 pages of other origins are refused on every route, and may read nothing", async () => {
  const origins = [
    "https://evil.com",
    "null",
    "http://localhost.evil.com",
    "http://localhost:1",
    "http://127.0.0.1",
  ];
  for (const origin of origins) {
    for (const route of all) {
      const body = needsBody(route) ? "{}" : undefined;
      const answer = await raw(
        server,
        route.method,
        pathOf(route),
        { ...auth, origin, ...(body && json) },
        body,
      );
      expectProblem(answer, 403);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
    const preflight = await raw(server, "OPTIONS", "/threads", {
      origin,
      "access-control-request-method": "POST",
    });
    expect(preflight.status).toBe(403);
    expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
  }
  const own = await raw(server, "GET", "/ok", { ...auth, origin: `http://127.0.0.1:${server.port}` });
  expect(own.status).toBe(200);
});

test("SV-03 an allowed origin is named exactly, also when it is told of an error", async () => {
  const origin = "https://app.example.com";
  const open = await startServer({ allowedOrigins: [origin] });
  try {
    const preflight = await raw(open, "OPTIONS", "/threads", {
      origin,
      "access-control-request-method": "POST",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-origin"]).toBe(origin);
    for (const headers of [auth, {}] as Record<string, string>[]) {
      const answer = await raw(open, "GET", "/info", { ...headers, origin });
      expect(answer.status).toBe("authorization" in headers ? 200 : 401);
      expect(answer.headers["access-control-allow-origin"]).toBe(origin);
      expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
      expect(answer.headers.vary).toMatch(/origin/i);
    }
  } finally {
    await open.close();
  }
});

test("SV-04 a body in another type, and a token in the address, are refused on every route", async () => {
  for (const route of all.filter(needsBody)) {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
    ]) {
      const answer = await raw(server, route.method, pathOf(route), { ...auth, "content-type": type }, "{}");
      expectProblem(answer, 415);
    }
    expectProblem(await raw(server, route.method, pathOf(route), { ...auth }, "{}"), 415);
  }
  for (const query of [`token=${TOKEN}`, `api_key=${TOKEN}`, `x-api-key=${TOKEN}`, `access_token=${TOKEN}`])
    expect((await raw(server, "GET", `/ok?${query}`, {})).status).toBe(401);
});

describe("SV-05 ids", () => {
  const wrong = [
    "..",
    "../..",
    "%2e%2e",
    "%2e%2e%2f%2e%2e",
    "a%2fb",
    "a%00b",
    "%7B%22$ne%22:null%7D",
    "[]",
    "a%20b",
    "-a",
    "a..b",
    "a".repeat(129),
  ];
  test.each(wrong)("in the address: %s", async (id) => {
    for (const route of all.filter(({ path }) => path.includes(":"))) {
      const path = route.path
        .replace(/:(?:thread|run|assistant|cron|checkpoint|interrupt)_id/, id)
        .replace(/:[a-z_]+/g, "x1");
      const body = needsBody(route) ? "{}" : undefined;
      const answer = await raw(server, route.method, path, { ...auth, ...(body && json) }, body);
      expectProblemOrNone(answer, 400);
    }
  });

  test("in a body", async () => {
    for (const id of [
      { $ne: null },
      [],
      "",
      "../..",
      "a/b",
      "%2e%2e",
      "a\0b",
      "x".repeat(100_000),
      1,
      true,
    ]) {
      const body = JSON.stringify({ thread_id: id });
      expectProblem(await raw(server, "POST", "/threads", { ...auth, ...json }, body), 400);
      const run = JSON.stringify({ assistant_id: id, input: null });
      expectProblem(await raw(server, "POST", "/runs", { ...auth, ...json }, run), 400);
      const many = JSON.stringify({ thread_ids: [id] });
      expectProblem(await raw(server, "POST", "/threads/prune", { ...auth, ...json }, many), 400);
    }
  });

  test("far too long in the address", async () => {
    const answer = await raw(server, "GET", `/threads/${"a".repeat(100_000)}`, auth).catch(() => undefined);
    if (answer) expect([400, 414, 431]).toContain(answer.status);
    expect((await raw(server, "GET", "/ok", auth)).status).toBe(200);
  });
});

describe("SV-06, SV-09 tenants", () => {
  let shared: TestServer;
  const as = (name: string) => ({ "x-api-key": name });
  beforeAll(async () => {
    shared = await startServer({
      authenticate: ({ headers }) => {
        const name = headers.get("x-api-key");
        return name === "alice" || name === "bob" ? { identity: name } : undefined;
      },
    });
  });
  afterAll(() => shared.close());

  test("SV-06 what belongs to another is not there, on every route", async () => {
    const client = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const { thread_id } = await client.threads.create();
    const messages = [{ role: "user", content: "write /secret.txt mine" }];
    const { run_id } = await client.runs.create(thread_id, "echo", { input: { messages } });
    await client.runs.join(thread_id, run_id);
    const state = await client.threads.getState(thread_id);
    const { assistant_id } = await client.assistants.create({ graphId: "echo" });
    const { cron_id } = (await client.crons.create("echo", { schedule: "0 0 1 1 *", input: {} })) as {
      cron_id: string;
    };
    const ids = {
      ...SAMPLE,
      thread_id,
      run_id,
      assistant_id,
      cron_id,
      checkpoint_id: state.checkpoint.checkpoint_id as string,
    };
    const bodies: Record<string, unknown> = {
      "threads.getStateAt": { checkpoint: state.checkpoint },
      "threads.updateState": { values: { messages } },
      "threads.patchState": { metadata: { a: 1 } },
      "threads.postMessage": { kind: "steer", content: "hi" },
      "threads.answerInterrupt": { value: 1 },
      "runs.create": { assistant_id: "echo", input: { messages } },
      "runs.stream": { assistant_id: "echo", input: { messages } },
      "runs.wait": { assistant_id: "echo", input: { messages } },
      "crons.createForThread": { assistant_id: "echo", schedule: "* * * * *" },
      "assistants.setLatest": { version: 1 },
    };
    for (const route of all.filter(({ path }) => /:(?:thread|run|assistant|cron)_id/.test(path))) {
      const body = needsBody(route) ? JSON.stringify(bodies[route.name] ?? {}) : undefined;
      const query = route.name === "threads.readFile" ? "?path=/secret.txt" : "";
      const path = pathOf(route, ids) + query;
      const answer = await raw(shared, route.method, path, { ...as("bob"), ...(body && json) }, body);
      expect(answer.status, `${route.name}: ${answer.text}`).toBe(404);
      expect(answer.text).not.toContain("mine");
    }
    for (const body of [
      { assistant_id, input: { messages } },
      { assistant_id: "echo", checkpoint: { thread_id }, input: null },
    ])
      expect([400, 404]).toContain(
        (await shared.call("POST", "/runs", body, { authorization: "", ...as("bob") })).status,
      );
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ files: { "/secret.txt": {} } });
    expect((await client.assistants.get(assistant_id)).assistant_id).toBe(assistant_id);
  });

  test("SV-06 another's id cannot be taken over", async () => {
    const alice = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const bob = new Client({ apiUrl: shared.url, apiKey: "bob" });
    const { thread_id } = await alice.threads.create({ threadId: "taken" });
    await expect(bob.threads.create({ threadId: thread_id, ifExists: "do_nothing" })).rejects.toThrow(/409/);
    await expect(
      bob.runs.wait(thread_id, "echo", { input: { messages: [] }, ifNotExists: "create" }),
    ).rejects.toThrow(/404/);
    expect(await bob.threads.prune([thread_id])).toEqual({ pruned_count: 0 });
    expect((await alice.threads.get(thread_id)).thread_id).toBe(thread_id);
  });

  test("SV-09 listings without a filter show what is the caller's alone", async () => {
    const alice = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const bob = new Client({ apiUrl: shared.url, apiKey: "bob" });
    await alice.threads.create();
    await alice.crons.create("echo", { schedule: "0 0 1 1 *", input: {} });
    await alice.store.putItem(["alice", "notes"], "k", { secret: 1 });
    const own = await bob.threads.create();
    expect((await bob.threads.search({ limit: 1000 })).map(({ thread_id }) => thread_id)).toEqual([
      own.thread_id,
    ]);
    expect(await bob.threads.count()).toBe(1);
    expect(await bob.crons.search()).toEqual([]);
    expect(await bob.crons.count()).toBe(0);
    expect((await bob.assistants.search()).every(({ metadata }) => metadata?.created_by === "system")).toBe(
      true,
    );
    expect((await bob.store.searchItems([])).items).toEqual([]);
    expect((await bob.store.listNamespaces()).namespaces).toEqual([]);
    await expect(bob.store.getItem(["alice", "notes"], "k")).rejects.toThrow(/403/);
    await expect(bob.store.searchItems(["alice"])).rejects.toThrow(/403/);
    expect((await alice.store.searchItems([])).items).toHaveLength(1);
  });
});

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

test("SV-13 the server does not listen beyond this machine without authentication", async () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com"])
    await expect(
      serve({ agents: { echo: echoAgent() }, port: 0, host, database: ":memory:" }),
    ).rejects.toThrow(/does not listen on .* without authentication/);
  const open = await startServer({ host: "0.0.0.0" });
  try {
    expect((await raw(open, "GET", "/ok", {})).status).toBe(401);
    expect((await raw(open, "GET", "/ok", auth)).status).toBe(200);
  } finally {
    await open.close();
  }
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
