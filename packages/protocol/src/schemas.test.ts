import { describe, expect, test } from "vitest";
import type { z } from "zod";
import {
  assistantGraphQuery,
  cancelRunQuery,
  cancelRuns,
  createRun,
  createRunBatch,
  createThread,
  filePath,
  formatEventId,
  formatNamespace,
  getItemQuery,
  identifier,
  joinRunStreamQuery,
  listRunsQuery,
  moment,
  parseEventId,
  readQuery,
  searchThreads,
  thread,
  threadHistory,
} from "./index.ts";

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

describe("ids", () => {
  test.each([
    [{ $ne: null }],
    [[]],
    [""],
    ["../.."],
    ["a/b"],
    ["%2e%2e"],
    ["a\0b"],
    ["a..b"],
    ["x".repeat(100_000)],
    [null],
    [7],
  ])("SV-05 %j is no id", (id) => {
    expect(accepts(identifier, id)).toBe(false);
    if (id !== null) expect(accepts(createThread, { thread_id: id })).toBe(false);
  });

  test.each([["0199d6b0-7e3c-7000-8000-000000000000"], ["user@example.com:main"], ["agent"], ["a"]])(
    "%s is one",
    (id) => {
      expect(accepts(identifier, id)).toBe(true);
    },
  );
});

describe("queries", () => {
  const read = (schema: z.ZodType, text: string) => schema.safeParse(readQuery(new URLSearchParams(text)));

  test.each(["1; DROP", "-1", "1e9", "", "10&limit=20", "99999"])("SV-08 limit=%s is refused", (limit) => {
    expect(read(listRunsQuery, `limit=${limit}`).success).toBe(false);
  });

  test("numbers, flags and lists are read from text, in every spelling the SDK has", () => {
    expect(read(listRunsQuery, "limit=5&select=run_id&select=status").data).toEqual({
      limit: 5,
      offset: 0,
      select: ["run_id", "status"],
    });
    expect(read(joinRunStreamQuery, "cancel_on_disconnect=0&stream_mode=values,messages-tuple").data).toEqual(
      {
        cancel_on_disconnect: false,
        stream_mode: ["values", "messages-tuple"],
      },
    );
    expect(read(cancelRunQuery, "wait=1&action=rollback").data).toEqual({ wait: true, action: "rollback" });
    expect(read(assistantGraphQuery, "xray=true").data).toEqual({ xray: true });
    expect(read(assistantGraphQuery, "xray=2").data).toEqual({ xray: 2 });
    expect(read(cancelRunQuery, "action=explode").success).toBe(false);
  });

  test.each([[["a", "b"]], [["a", "b.c"]], [["user@example.com"]], [["[x"]], [[]]])(
    "the namespace %j is read as it was written",
    (labels) => {
      const query = new URLSearchParams({ namespace: formatNamespace(labels), key: "k" });
      expect(read(getItemQuery, query.toString()).data).toEqual({ namespace: labels, key: "k" });
    },
  );

  test.each(["a..b", "a%00", "[", "[1]", '["a"', "[[]]"])("the namespace %s is refused", (text) => {
    expect(read(getItemQuery, `namespace=${text}&key=k`).success).toBe(false);
  });

  test("SV-07 a name like __proto__ pollutes nothing", () => {
    expect(Object.getPrototypeOf(readQuery(new URLSearchParams("__proto__=x&limit=5")))).toBeNull();
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

describe("runs", () => {
  test("what useStream sends is accepted, and unknown fields are left out", () => {
    const body = {
      assistant_id: "agent",
      input: { messages: [{ type: "human", content: "hi" }] },
      stream_mode: ["values", "messages-tuple", "updates", "custom"],
      stream_subgraphs: true,
      on_disconnect: "cancel",
      checkpoint: { checkpoint_ns: "", checkpoint_id: null, checkpoint_map: null },
      future: 1,
    };
    expect(createRun.parse(body)).toEqual({ ...body, future: undefined });
  });

  test("a batch is read in both spellings of its names", () => {
    const read = createRunBatch.parse([
      { assistantId: "a", assistant_id: "b", streamMode: "updates", multitaskStrategy: "reject" },
    ]);
    expect(read).toEqual([{ assistant_id: "b", stream_mode: "updates", multitask_strategy: "reject" }]);
    expect(accepts(createRunBatch, [])).toBe(false);
    expect(accepts(createRunBatch, [null])).toBe(false);
  });

  test("cancelling several needs to say which", () => {
    expect(accepts(cancelRuns, {})).toBe(false);
    expect(accepts(cancelRuns, { thread_id: "t" })).toBe(false);
    expect(accepts(cancelRuns, { thread_id: "t", run_ids: ["r"] })).toBe(true);
    expect(accepts(cancelRuns, { status: "all" })).toBe(true);
  });
});

describe("threads", () => {
  test.each([
    ["0199d6b0-7e3c-7000-8000-000000000000"],
    [{ configurable: { checkpoint_id: "c", thread_id: "t" } }],
    [{ checkpoint_id: "c", checkpoint_ns: "" }],
  ])("history is read from before %j", (before) => {
    expect(threadHistory.parse({ limit: 1000, before })).toMatchObject({ before });
  });

  test("a thread of another server may leave out what it does not know", () => {
    expect(
      thread.parse({
        thread_id: "t",
        created_at: "2026-01-01T00:00:00.123456+00:00",
        updated_at: "2026-01-01T00:00:00Z",
        metadata: {},
        status: "idle",
      }),
    ).toMatchObject({ values: null, interrupts: {}, state_updated_at: "" });
  });

  test("limits and fields of a search are bounded", () => {
    expect(searchThreads.parse({})).toEqual({ limit: 10, offset: 0 });
    expect(accepts(searchThreads, { limit: 1e9 })).toBe(false);
    expect(accepts(searchThreads, { select: ['x" OR 1'] })).toBe(false);
    expect(accepts(searchThreads, { sort_by: "owner" })).toBe(false);
    expect(accepts(moment, "yesterday")).toBe(false);
  });

  test.each([
    ...["../x", "/../x", "/a/../b", "/a/./b", "a", "/a\\b", "/a\0"],
    ...["/%2e%2e/x", "/%2E./x", "/a%2f..%2fb", "/a/%2e", "/a%5cb", "/a%00", "/%2e%2e/%zz"],
  ])("SV-11 %j is no path", (path) => {
    expect(accepts(filePath, path)).toBe(false);
  });

  test.each(["/a b", "/100%", "/50%25.txt", "/a%20b", "/..a/b..", "/a%2eb"])("%j is a path", (path) => {
    expect(accepts(filePath, path)).toBe(true);
  });
});

describe("event ids", () => {
  test.each([
    ["17", { sequence: 17 }],
    ["run:1:17", { sequence: 17, runId: "run:1" }],
    ["-1", { sequence: 0 }],
    ["0", { sequence: 0 }],
    ["", undefined],
    ["1; DROP", undefined],
    ["../x:1", undefined],
    ["1e3", undefined],
    ["9".repeat(40), undefined],
  ])("%s", (id, place) => {
    expect(parseEventId(id)).toEqual(place);
  });

  test("what is written is read", () => {
    for (const place of [
      { sequence: 3 },
      { sequence: 4, runId: "a:b" },
      { sequence: 4, runId: "a.1:2.3", runSequence: 12 },
    ])
      expect(parseEventId(formatEventId(place))).toEqual(place);
  });
});
