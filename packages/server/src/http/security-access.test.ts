/** SECURITY cases SV-01 to SV-05 and SV-13, over a port, against every route. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve } from "../serve.ts";
import { echoAgent, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import {
  all,
  auth,
  expectProblem,
  expectProblemOrNone,
  json,
  needsBody,
  pathOf,
  raw,
} from "./raw-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ limits: { runs: { burst: 100_000, perSecond: 100_000 } } });
});
afterAll(() => server.close());

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
  expect(all.filter(({ open }) => open).map(({ name }) => name)).toEqual([
    "approvalLinks.read",
    "approvalLinks.decide",
    "signIn.withCode",
  ]);
  for (const route of all.filter(({ open }) => !open))
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
    for (const route of all) {
      const body = needsBody(route) ? "{}" : undefined;
      const headers = { ...auth, host, ...(body && json) };
      expectProblemOrNone(await raw(server, route.method, pathOf(route), headers, body), 403, 400);
    }
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

test("SV-02 an address that names another host than the Host header is refused", async () => {
  const host = `127.0.0.1:${server.port}`;
  for (const address of [
    "http://evil.com",
    `http://evil.com:${server.port}`,
    "https://evil.com",
    "HTTP://evil.com",
    `http://${host}@evil.com`,
    `http://${host}.evil.com`,
    "http://127.0.0.1",
    `http://localhost:${server.port}`,
    `evil.com:${server.port}`,
    "ftp://evil.com",
  ])
    for (const route of all) {
      const body = needsBody(route) ? "{}" : undefined;
      const headers = { ...auth, host, ...(body && json) };
      const path = `${address}${pathOf(route)}`;
      expectProblemOrNone(await raw(server, route.method, path, headers, body), 400);
    }
  expect((await raw(server, "GET", `http://${host}/ok`, { ...auth, host })).status).toBe(200);
  expect((await raw(server, "GET", `http://evil.com/ok`, { ...auth, host: "evil.com" })).status).toBe(403);
});

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
  for (const route of all.filter(({ open }) => !open))
    for (const name of ["token", "api_key", "x-api-key", "access_token"]) {
      const body = needsBody(route) ? "{}" : undefined;
      const path = `${pathOf(route)}?${name}=${TOKEN}`;
      expectProblem(await raw(server, route.method, path, { ...(body && json) } as never, body), 401);
    }
});

describe("SV-05 ids", () => {
  const wrong = [
    "",
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
  test.each(wrong)("in every place of every address: %j", async (id) => {
    for (const route of all)
      for (const [place] of route.path.matchAll(/:[a-z_]+/g)) {
        const path = route.path
          .split("/")
          .map((part) => (part === place ? id : part.startsWith(":") ? "x1" : part))
          .join("/");
        const body = needsBody(route) ? "{}" : undefined;
        const answer = await raw(server, route.method, path, { ...auth, ...(body && json) }, body);
        // A namespace is the name of a node, which may be any text.
        if (place === ":namespace") expectProblem(answer, 400, 404);
        else expectProblem(answer, 400);
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
    for (const route of all.filter(({ path }) => path.includes(":"))) {
      const path = route.path.replace(/:[a-z_]+/g, "a".repeat(100_000));
      expectProblem(await raw(server, route.method, path, auth), 400);
    }
    expect((await raw(server, "GET", "/ok", auth)).status).toBe(200);
  });
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
