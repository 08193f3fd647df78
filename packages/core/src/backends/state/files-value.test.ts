import { START, StateGraph, StateSchema } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../scripts/test-time.ts";
import { isMadeByLoop, returnCount, stampOf } from "../../channel-values.ts";
import type { FileData } from "../backend.ts";
import { type FilesStateUpdate, filesReducer, filesValue } from "./files-value.ts";

const a = { content: "a", created_at: "t", modified_at: "t" };
const b = { content: "b", created_at: "t", modified_at: "t" };

describe("filesReducer", () => {
  it("adds, replaces and, with null, removes", () => {
    const left = { "/a": a, "/b": b };
    expect(filesReducer(left, { "/b": null, "/c": b, "/a": b })).toEqual({ "/a": b, "/c": b });
    expect(left).toEqual({ "/a": a, "/b": b });
  });

  it("keeps every file that did not change as the very same object", () => {
    expect(filesReducer({ "/a": a, "/b": b }, { "/b": a })["/a"]).toBe(a);
  });

  it("gives back the files themselves when nothing changes", () => {
    const left = { "/a": a };
    for (const right of [undefined, null, {}, { "/gone": null }])
      expect(filesReducer(left, right as FilesStateUpdate)).toBe(left);
  });

  it("takes a file given again for one that was edited in place", () => {
    const left = filesReducer({}, { "/a": { ...a }, "/b": { ...b } });
    const [given, other] = [left["/a"] as FileData, left["/b"] as FileData];
    const stamps = [stampOf(given), stampOf(other)];
    const returns = returnCount();
    (given as { content: string }).content = "edited";
    const next = filesReducer(left, { "/a": given });
    expect(next).not.toBe(left);
    expect(next["/a"]).toBe(given);
    expect(stampOf(given)).toBeGreaterThan(stamps[0] as number);
    expect(stampOf(other)).toBe(stamps[1]);
    expect(returnCount()).toBe(returns + 1);
  });

  it("counts a file that came from storage and is given again, too", () => {
    const stored = { "/a": { ...a } };
    const returns = returnCount();
    filesReducer(stored, { "/a": stored["/a"] });
    expect(returnCount()).toBe(returns + 1);
  });

  it("tells that the record is its own and that files came in, bytes in the form they are kept", () => {
    const bytes = { content: Buffer.of(1), created_at: "t", modified_at: "t" } as never;
    const files = filesReducer({}, { "/a": { ...a }, "/x": bytes });
    expect(isMadeByLoop(files)).toBe(true);
    expect(Object.values(files).map((file) => stampOf(file))).toEqual([
      expect.any(Number),
      expect.any(Number),
    ]);
    expect(stampOf(bytes)).toBeUndefined();
  });

  it("starts from nothing", () => {
    expect(filesReducer(undefined, undefined)).toEqual({});
    expect(filesReducer(undefined, { "/a": a, "/b": null })).toEqual({ "/a": a });
  });

  it("stores under the canonical path", () => {
    const files = filesReducer(
      {},
      JSON.parse('{"notes//x.md": {"content": "x"}, "__proto__": {"content": "p"}}'),
    );
    expect(Object.keys(files)).toEqual(["/notes/x.md", "/__proto__"]);
    expect(filesReducer(files, { "./notes/x.md": null })).toEqual({ "/__proto__": { content: "p" } });
    expect(Object.getPrototypeOf(files)).toBe(Object.prototype);
  });

  it("keeps bytes as savers do, and those of a text as text", () => {
    const times = { created_at: "t", modified_at: "t" };
    const files = filesReducer(
      {},
      {
        "/x": { content: Uint8Array.of(1, 2, 3), ...times },
        "/buffer": { content: Buffer.of(1, 2), ...times },
        "/view": { content: new Uint8Array(8).subarray(6), ...times },
        "/text": { content: Buffer.from("words"), mimeType: "text/plain", ...times },
      },
    );
    const contents = Object.values(files).map(({ content }) => content as Uint8Array);
    expect(contents).toEqual([Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2), Uint8Array.of(0, 0), "words"]);
    expect(contents[1]?.constructor).toBe(Uint8Array);
    expect(contents[2]?.buffer.byteLength).toBe(2);
  });

  it.each<[string, Record<string, unknown>, string]>([
    [
      "a number instead of a file",
      { "/a": 1 },
      'must be a text or an object like {content: "…"}, not number',
    ],
    ["a file without content", { "/a": {} }, "needs `content`"],
    ["lines that are not text", { "/a": { content: [1] } }, "needs `content`"],
    ["a path that leaves the root", { "/../a": a }, "Path traversal not allowed: /../a"],
    ["the root as a file", { "/": a }, "The root is a directory"],
  ])("refuses %s", (_name, update, words) => {
    expect(() => filesReducer({}, update as never)).toThrow(words);
    expect(() => filesReducer({}, update as never)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });

  it("takes little time for one change among 5,000 files", async () => {
    const left = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`/dir/file-${index}.txt`, a]),
    );
    await withinCpuLimit("fifty changes of one file among 5,000", () => {
      for (let round = 0; round < 50; round++) filesReducer(left, { "/one": b });
    });
  });
});

describe("filesValue", () => {
  const graph = new StateGraph(new StateSchema({ files: filesValue }))
    .addNode("nothing", () => ({}))
    .addEdge(START, "nothing")
    .compile();

  it("begins empty", () => {
    const { files } = new StateSchema({ files: filesValue }).getChannels();
    expect((files as { get(): unknown }).get()).toEqual({});
  });

  it("takes files of either shape as input", async () => {
    const files = { "/a": a, "/old": { content: ["x", "y"], created_at: "t", modified_at: "t" } };
    expect(await graph.invoke({ files })).toEqual({ files });
  });

  it("takes a text for a file with this content", async () => {
    expect(await graph.invoke({ files: { "/a": "hello" } } as never)).toEqual({
      files: { "/a": { content: "hello" } },
    });
  });

  it("says what is wrong with a number given instead of a file", async () => {
    await expect(graph.invoke({ files: { "/a": 1 } } as never)).rejects.toThrow("not number");
  });

  it("describes itself as JSON schema", () => {
    const schema = new StateSchema({ files: filesValue });
    expect(schema.getJsonSchema()).toMatchObject({ properties: { files: { type: "object" } } });
    expect(schema.getInputJsonSchema()).toMatchObject({ properties: { files: { type: "object" } } });
  });
});
