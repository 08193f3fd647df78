import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echoAgent, startServer, type TestServer, TOKEN } from "../../server-for-tests.ts";
import { createApp } from "../app.ts";
import { auth, json, type Raw, raw } from "../raw-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const newCode = async () => (await server.app.newSignInCode?.())?.code as string;
const enter = (code: string, headers: Record<string, string> = {}) =>
  raw(server, "POST", "/sign-in", { ...json, ...headers }, JSON.stringify({ code }));
const cookieOf = ({ headers }: Raw) => String(headers["set-cookie"]).split(";")[0] as string;
const own = () => ({ origin: server.url, "sec-fetch-site": "same-origin" });

async function session(): Promise<string> {
  const answer = await enter(await newCode());
  expect(answer.status).toBe(204);
  return cookieOf(answer);
}

test("a code opens one session, whose cookie no script reads and no other site sends", async () => {
  const code = await newCode();
  const answer = await enter(code, own());
  expect(answer.status).toBe(204);
  const [cookie = ""] = answer.headers["set-cookie"] ?? [];
  expect(cookie).toMatch(
    /^deepwright-session-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
  );
  expect((await enter(code)).status).toBe(401);
  const read = await raw(
    server,
    "POST",
    "/threads/search",
    { ...json, ...own(), cookie: cookieOf(answer) },
    "{}",
  );
  expect(read.status).toBe(200);
});

test("over TLS, also behind a proxy, the cookie is Secure", async () => {
  const host = `127.0.0.1:${server.port}`;
  const answer = await enter(await newCode(), { host, origin: `https://${host}` });
  expect(String(answer.headers["set-cookie"])).toContain("; Secure");
});

test.each<[string, Record<string, string>, number, number]>([
  ["the page itself", { "sec-fetch-site": "same-origin" }, 200, 200],
  ["an address typed into the browser", { "sec-fetch-site": "none" }, 200, 401],
  ["a page on another port of this machine", { "sec-fetch-site": "same-site" }, 401, 401],
  ["a page of another site", { "sec-fetch-site": "cross-site" }, 403, 403],
  ["a client that says nothing", {}, 200, 401],
])("a cookie speaks for %s as far as it may", async (_, headers, reads, writes) => {
  const cookie = await session();
  expect((await raw(server, "GET", "/info", { ...headers, cookie })).status).toBe(reads);
  const write = await raw(server, "POST", "/threads", { ...json, ...headers, cookie }, "{}");
  expect(write.status).toBe(writes);
});

test("a page on another port is refused with a cookie, whatever it says of itself", async () => {
  const cookie = await session();
  const headers = { ...json, cookie, origin: "http://127.0.0.1:1", "sec-fetch-site": "same-origin" };
  expect((await raw(server, "POST", "/threads", headers, "{}")).status).toBe(403);
});

test("an allowed origin uses the token and no cookie", async () => {
  const open = await startServer({ allowedOrigins: ["https://app.example.com"] });
  const made = await open.app.newSignInCode?.();
  const origin = "https://app.example.com";
  const entered = await raw(open, "POST", "/sign-in", json, JSON.stringify({ code: made?.code }));
  const cookie = cookieOf(entered);
  expect((await raw(open, "GET", "/info", { cookie, origin })).status).toBe(401);
  expect((await raw(open, "GET", "/info", { ...auth, cookie, origin })).status).toBe(200);
  await open.close();
});

test("signing out ends the session at once", async () => {
  const cookie = await session();
  const out = await raw(server, "DELETE", "/sign-in", { ...own(), cookie });
  expect(out.status).toBe(204);
  expect(String(out.headers["set-cookie"])).toContain("Max-Age=0");
  expect((await raw(server, "GET", "/info", { cookie })).status).toBe(401);
});

test("a code for another browser needs a caller; a wrong token is not saved by a cookie", async () => {
  const body = "{}";
  expect((await raw(server, "POST", "/sign-in/codes", json, body)).status).toBe(401);
  const made = await server.call("POST", "/sign-in/codes", {});
  expect(Date.parse(made.body.expires_at)).toBeGreaterThan(Date.now());
  const cookie = cookieOf(await enter(made.body.code));
  const both = { authorization: "Bearer wrong", cookie };
  expect((await raw(server, "GET", "/info", both)).status).toBe(401);
});

test("attempts are counted, and a large body of someone unknown is not read", async () => {
  const other = await startServer();
  const attempt = () => raw(other, "POST", "/sign-in", json, '{"code":"wrong-code-wrong-code"}');
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await attempt()).status));
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(30);
  expect(statuses).toContain(429);
  const { code } = (await other.app.newSignInCode?.()) ?? {};
  const others = Array.from({ length: 120 }, (_, i) =>
    raw(other, "POST", "/sign-in", json, `{"code":"some-wrong-code-${i}"}`),
  );
  expect((await Promise.all(others)).every(({ status }) => status === 401)).toBe(true);
  // Nobody is kept out by the wrong codes of others.
  expect((await raw(other, "POST", "/sign-in", json, JSON.stringify({ code }))).status).toBe(204);
  const large = JSON.stringify({ code: "x".repeat(100_000) });
  expect((await raw(other, "POST", "/sign-in", json, large)).status).toBe(413);
  await other.close();
});

test("a session outlives the server, and ends when its token changes", async () => {
  const database = `${server.directory}/sessions.db`;
  const options = { agents: { echo: echoAgent() }, database };
  const ask = async (token: string, cookie: string) => {
    const app = await createApp({ ...options, token });
    const { status } = await app.fetch(new Request("http://localhost/info", { headers: { cookie } }));
    await app.close();
    return status;
  };
  const first = await createApp({ ...options, token: TOKEN });
  const made = await first.newSignInCode?.();
  const body = JSON.stringify({ code: made?.code });
  const entered = await first.fetch(
    new Request("http://localhost/sign-in", {
      method: "POST",
      body,
      headers: { ...json, "content-length": String(body.length) },
    }),
  );
  const cookie = (entered.headers.get("set-cookie") ?? "").split(";")[0] as string;
  expect(cookie).toMatch(/^deepwright-session=/);
  await first.close();
  expect(await ask(TOKEN, cookie)).toBe(200);
  expect(await ask("another-token-0123456789", cookie)).toBe(401);
});

test("where callers are told apart there are no codes", async () => {
  const app = await createApp({ agents: {}, authenticate: () => ({ identity: "ada" }) });
  expect(app.newSignInCode).toBeUndefined();
  const ask = (path: string, body: string) =>
    app.fetch(
      new Request(`http://localhost${path}`, {
        method: "POST",
        body,
        headers: { ...json, "content-length": String(body.length) },
      }),
    );
  expect((await ask("/sign-in", '{"code":"x"}')).status).toBe(501);
  expect((await ask("/sign-in/codes", "{}")).status).toBe(501);
  await app.close();
});

test("the token in a cookie or in the address is nobody", async () => {
  const sent = request({ host: "127.0.0.1", port: server.port, path: `/info?token=${TOKEN}` });
  const status = await new Promise((done) => {
    sent.on("response", (answer) => done(answer.statusCode));
    sent.end();
  });
  expect(status).toBe(401);
  const cookie = `deepwright-session-${server.port}=${TOKEN}`;
  expect((await raw(server, "GET", "/info", { cookie })).status).toBe(401);
});
