/** The cost of one search is bounded, whatever the query. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { startServer, type TestServer } from "../server-for-tests.ts";

const MB = 1024 * 1024;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ limits: { pageBytes: 6.4 * MB, answerBytes: 12 * MB } });
});
afterAll(() => server.close());

const many = (count: number) => Array.from({ length: count }, (_, index) => index);
const named = (count: number) =>
  Object.fromEntries(many(count).map((index) => [`n${index}`, `values.a${index}`]));
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

describe("a search is refused that", () => {
  test.each([
    ["extracts more than 32 paths", "/threads/search", { extract: named(33) }],
    ["selects more fields than there are", "/threads/search", { select: many(15).map(() => "thread_id") }],
    [
      "selects more fields of assistants than there are",
      "/assistants/search",
      { select: many(11).map(() => "name") },
    ],
    [
      "selects more fields of crons than there are",
      "/runs/crons/search",
      { select: many(16).map(() => "cron_id") },
    ],
    ["looks for more than 64 values", "/threads/search", { metadata: { list: many(65) } }],
    ["looks for more than 64 values of the state", "/threads/search", { values: { list: many(65) } }],
    ["counts by more than 64 values", "/threads/count", { metadata: named(65) }],
    ["looks deeper than 8", "/threads/search", { metadata: { a: nested(9) } }],
    [
      "looks for more than 64 values in the store",
      "/store/items/search",
      { namespace_prefix: ["local"], filter: named(65) },
    ],
    ["looks for a name nobody can have", "/assistants/search", { name: "a".repeat(60_000) }],
  ])("%s", async (_, path, body) => {
    const { status, body: problem } = await server.call("POST", path, body);
    expect([status, JSON.stringify(problem)]).toEqual([400, expect.stringContaining("INVALID_REQUEST")]);
  });

  test("asks for as much as it may is answered", async () => {
    const query = { extract: named(32), metadata: { list: many(64) }, values: { a: nested(7) } };
    expect(await server.call("POST", "/threads/search", query)).toMatchObject({ status: 200, body: [] });
    const names = await server.call("POST", "/assistants/search", { name: "a".repeat(256) });
    expect(names).toMatchObject({ status: 200, body: [] });
  });
});

test("lists are looked through once, however long", async () => {
  const list = many(90_000);
  await server.call("POST", "/threads", { thread_id: "long", metadata: { list, kind: "long" } });
  const wanted = many(64).map((index) => 89_999 - index);
  const found = await withinCpuLimit("a search for 64 values in a list of 90,000", () =>
    server.call("POST", "/threads/search", { metadata: { list: wanted }, select: ["thread_id"] }),
  );
  expect(found.body).toEqual([{ thread_id: "long" }]);
  const none = await server.call("POST", "/threads/search", { metadata: { list: [90_000] } });
  expect(none.body).toEqual([]);
});

test("what is extracted is there, whatever is selected", async () => {
  const input = { messages: [{ role: "user", content: "hello" }] };
  await server.call("POST", "/threads", { thread_id: "t1" });
  await server.call("POST", "/threads/t1/runs/wait", { assistant_id: "echo", input });
  const search = async (more: object) =>
    (await server.call("POST", "/threads/search", { ids: ["t1"], ...more })).body[0];
  const extract = { last: "values.messages[-1].content", none: "values.other", id: "thread_id" };
  const extracted = { last: "echo: hello", none: null, id: "t1" };
  expect(await search({ extract, select: ["thread_id"] })).toEqual({ thread_id: "t1", extracted });
  expect(await search({ extract, select: ["values"] })).toMatchObject({
    extracted,
    values: { messages: [{}, {}] },
  });
  expect(await search({ extract })).toMatchObject({
    extracted,
    thread_id: "t1",
    values: { messages: [{}, {}] },
  });
  expect(await search({ select: ["status", "interrupts"] })).toEqual({ status: "idle", interrupts: {} });
});

test("a page of threads with much in them is shorter, and says where the next one begins", async () => {
  const { threads } = server.app.storage.records;
  const now = new Date().toISOString();
  const text = "x".repeat(3 * MB);
  for (const id of ["large-1", "large-2", "large-3"])
    await threads.put(
      "local",
      {
        owner: "local",
        thread_id: id,
        created_at: now,
        updated_at: now,
        state_updated_at: now,
        metadata: { kind: "large" },
        status: "idle",
        values: { text },
        interrupts: {},
      },
      { ifExists: "raise" },
    );
  const search = async (more: object) => {
    const query = { metadata: { kind: "large" }, sort_by: "thread_id", sort_order: "asc", ...more };
    const { headers, body } = await server.call("POST", "/threads/search", query);
    return [body.map((thread: { thread_id: string }) => thread.thread_id), headers.get("x-pagination-next")];
  };
  expect(await search({ select: ["thread_id"] })).toEqual([["large-1", "large-2", "large-3"], null]);
  expect(await search({})).toEqual([["large-1", "large-2"], "2"]);
  expect(await search({ offset: 2 })).toEqual([["large-3"], null]);
  const extract = { one: "values.text", two: "values.text", three: "values.text" };
  expect(await search({ select: ["thread_id"], extract })).toEqual([["large-1"], "1"]);
});
