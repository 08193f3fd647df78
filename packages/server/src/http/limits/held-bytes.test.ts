/** Memory that requests hold is counted, for each caller and for the process. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { startServer, type TestServer } from "../../server-for-tests.ts";
import { HeldBytes } from "./held-bytes.ts";

const MB = 1024 * 1024;

test("bytes count for their caller and for all, until they are released", () => {
  const held = new HeldBytes({ caller: 10 * MB, process: 15 * MB });
  const one = held.open("a");
  one.add(6 * MB);
  const two = held.open("a");
  expect(() => two.add(5 * MB)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  const other = held.open("b");
  other.add(9 * MB);
  expect(() => two.add(MB)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  expect(held.total).toBe(15 * MB);
  one.keep(2 * MB);
  two.add(4 * MB);
  for (const each of [one, one, two, other]) each.release();
  expect(held.total).toBe(0);
});

test("a request that holds little is served when there is no room", () => {
  const held = new HeldBytes({ caller: MB, process: 1 });
  held.open("a").add(60_000);
  expect(() => held.open("b").add(70_000)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  held.open("b").add(1_000);
  expect(held.total).toBe(61_000);
});

async function started(held = { caller: 4 * MB, process: 6 * MB }): Promise<TestServer> {
  const server = await startServer({
    authenticate: (asked) => ({ identity: asked.headers.get("x-who") ?? "nobody" }),
    limits: { held },
  });
  onTestFinished(() => server.close());
  return server;
}

interface Unfinished {
  status?: number;
  retryAfter?: string | undefined;
  text: string;
  sent: boolean;
  end(): void;
}

/** Sends 1 MB of a body of 5 MB and no more. */
function unfinished({ port }: TestServer, who: string): Unfinished {
  const asked = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/threads",
    agent: false,
    headers: { "x-who": who, "content-type": "application/json", "content-length": String(5 * MB) },
  });
  const state: Unfinished = { text: "", sent: false, end: () => asked.destroy() };
  asked.on("error", () => {});
  asked.on("response", (answer) => {
    state.status = answer.statusCode ?? 0;
    state.retryAfter = answer.headers["retry-after"];
    answer.on("data", (piece) => {
      state.text += piece;
    });
  });
  asked.write(Buffer.alloc(MB, "["), () => {
    state.sent = true;
  });
  return state;
}

test("bodies that do not end are refused when a caller holds too much, and others are served", async () => {
  const server = await started();
  const bodies = Array.from({ length: 20 }, () => unfinished(server, "eve"));
  await until(() => bodies.filter(({ status }) => status === 429).length >= 16);
  const refused = bodies.filter(({ status }) => status !== undefined);
  expect(refused.length).toBeLessThan(20);
  expect(refused.every(({ retryAfter }) => retryAfter === "1")).toBe(true);
  await until(() => refused.every(({ text }) => text.includes("RATE_LIMITED")));
  expect((await server.call("POST", "/threads", {}, { "x-who": "bob" })).status).toBe(200);
  for (const body of bodies) body.end();
  const body = { metadata: { text: "x".repeat(3 * MB) } };
  await until(async () => (await server.call("POST", "/threads", body, { "x-who": "eve" })).status === 200);
});

test("the process has a bound of its own", async () => {
  const server = await started();
  const bodies = ["a", "b", "c"].flatMap((who) => Array.from({ length: 4 }, () => unfinished(server, who)));
  await until(() => bodies.filter(({ status }) => status === 503).length >= 1);
  expect((await server.call("GET", "/ok", undefined, { "x-who": "d" })).status).toBe(200);
  for (const body of bodies) body.end();
  await until(async () => (await server.call("POST", "/threads", {}, { "x-who": "d" })).status === 200);
});

test("answers count until they are read", async () => {
  const server = await started({ caller: 20 * MB, process: 60 * MB });
  const who = { "x-who": "eve" };
  const text = "x".repeat(7 * MB);
  const { body } = await server.call("POST", "/threads", { metadata: { one: text } }, who);
  const path = `/threads/${body.thread_id}`;
  await server.call("PATCH", path, { metadata: { two: text } }, who);
  const statusOf = async () => (await server.call("GET", path, undefined, who)).status;
  await until(async () => (await statusOf()) === 200);
  const unread = request({ host: "127.0.0.1", port: server.port, path, agent: false, headers: who }).end();
  const [answer] = (await once(unread, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  expect(await statusOf()).toBe(429);
  answer.resume();
  await until(async () => (await statusOf()) === 200);
});
