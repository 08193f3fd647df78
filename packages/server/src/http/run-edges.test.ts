/** Runs that have not begun, streams that nobody reads, ids that look alike. */
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let server: TestServer;
afterEach(() => server.close());

const userSays = (content: string) => ({ messages: [{ role: "user", content }] });
const begin = async (thread: string, content: string, more: object = {}): Promise<string> => {
  const request = { assistant_id: "echo", input: userSays(content), if_not_exists: "create", ...more };
  const { body } = await server.call("POST", `/threads/${thread}/runs`, request);
  return body.run_id;
};
const statusOf = async (thread: string, run: string) =>
  (await server.call("GET", `/threads/${thread}/runs/${run}`)).body.status;
const textsOf = async (thread: string): Promise<string[]> =>
  (await server.call("GET", `/threads/${thread}/state`)).body.values.messages.map(
    (message: { content: string }) => message.content,
  );

test.each(["pending", "all"])(
  "a cancel of all that are %s reaches runs that may not begin yet",
  async (status) => {
    server = await startServer();
    const later = await begin("t1", "later", { after_seconds: 3_600 });
    const waits = await begin("t2", "later", { after_seconds: 3_600 });
    const ended = await begin("t3", "now");
    await until(async () => (await statusOf("t3", ended)) === "success");
    expect((await server.call("POST", "/runs/cancel", { status })).status).toBe(204);
    expect([await statusOf("t1", later), await statusOf("t2", waits)]).toEqual([
      "interrupted",
      "interrupted",
    ]);
    expect(await statusOf("t3", ended)).toBe("success");
  },
);

test("a thread that is at work is not pruned, and can still be rolled back", async () => {
  server = await startServer();
  const first = await begin("t1", "one");
  await until(async () => (await statusOf("t1", first)) === "success");
  const run = await begin("t1", "wait 600000");
  await until(async () => (await textsOf("t1")).length > 2);
  const prune = { thread_ids: ["t1"], strategy: "keep_latest" };
  expect((await server.call("POST", "/threads/prune", prune)).body).toEqual({ pruned_count: 0 });
  await server.call("POST", `/threads/t1/runs/${run}/cancel?action=rollback&wait=1`);
  expect(await textsOf("t1")).toEqual(["one", "echo: one"]);
  expect((await server.call("POST", "/threads/prune", prune)).body).toEqual({ pruned_count: 1 });
});

describe("the stream of a run", () => {
  test("goes on behind an event of it, and behind none of another run", async () => {
    server = await startServer();
    const [one, two] = [await begin("t1", "one"), await begin("t1", "two")];
    await until(async () => (await statusOf("t1", two)) === "success");
    const read = (id: string) =>
      server.call("GET", `/threads/t1/runs/${two}/stream`, undefined, { "last-event-id": id });
    expect(await read(`${one}:1.1`)).toMatchObject({ status: 400 });
    const { body: all } = await read("-1");
    for (const id of ["1", `${two}:1`, `${two}:1.2`]) {
      const { status, body } = await read(id);
      expect([status, all.endsWith(body), body.length < all.length]).toEqual([200, true, true]);
    }
  });

  test("is held open by nobody who asks for its head alone", async () => {
    server = await startServer({ limits: { streams: 2 } });
    const run = await begin("t1", "wait 2000");
    for (const path of [`runs/${run}/stream`, `runs/${run}/join`, "stream"])
      for (let again = 0; again < 3; again += 1) {
        const head = await fetch(`${server.url}/threads/t1/${path}`, {
          method: "HEAD",
          headers: { authorization: `Bearer ${TOKEN}` },
        });
        expect([path, head.status, await head.text()]).toEqual([path, 200, ""]);
      }
    const outcome = await server.call("GET", `/threads/t1/runs/${run}/join`);
    expect(outcome).toMatchObject({ status: 200, body: { messages: expect.any(Array) } });
  });
});

test("ids of threads and messages that look alike together are told apart", async () => {
  server = await startServer();
  for (const [thread, before] of [
    ["a", "b:"],
    ["a:b", ""],
  ] as const) {
    const first = await begin(thread, "one");
    await until(async () => (await statusOf(thread, first)) === "success");
    for (const kind of ["steer", "follow-up"]) {
      const mail = { id: `${before}${kind}`, kind, content: `say ${kind}` };
      const sent = await server.call("POST", `/threads/${thread}/messages`, mail);
      expect([sent.status, sent.body.run_id]).toEqual([200, expect.any(String)]);
      await until(async () => (await textsOf(thread)).includes(kind));
    }
  }
});
