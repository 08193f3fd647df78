import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../scripts/test-time.ts";
import { recordMap } from "./file-map.ts";
import { globFrom, grepFrom } from "./file-map-search.ts";

const map = (files: Record<string, string>) =>
  recordMap(
    Object.fromEntries(
      Object.entries(files).map(([path, content]) => [path, { content, created_at: "", modified_at: "" }]),
    ),
  );
const found = (...query: Parameters<typeof grepFrom>) => grepFrom(...query).matches?.map(({ path }) => path);
const listed = (...query: Parameters<typeof globFrom>) => globFrom(...query).files?.map(({ path }) => path);

const files = map({
  "/.gitignore": "*.log\nnode_modules\n/build/\n",
  "/x.log": "hit",
  "/node_modules/p/a.js": "hit",
  "/node_modules/p/a.log": "hit",
  "/build/out.js": "hit",
  "/sub/build/in.js": "hit",
  "/sub/.gitignore": "!keep.log\n",
  "/sub/keep.log": "hit",
  "/sub/other.log": "hit",
  "/.git/config": "hit",
  "/sub/.git/config": "hit",
  "/.env": "hit",
});

describe("searching a map of files", () => {
  it("honours the ignore files in it, and leaves out .git", () => {
    expect(found(files, "hit")).toEqual(["/.env", "/sub/build/in.js", "/sub/keep.log"]);
    expect(listed(files, "**/*.js")).toEqual(["/sub/build/in.js"]);
  });

  it("searches the path it is given even where that is ignored", () => {
    expect(found(files, "hit", "/node_modules/p")).toEqual(["/node_modules/p/a.js"]);
    expect(found(files, "hit", "/x.log")).toEqual(["/x.log"]);
    expect(listed(files, "node_modules/p/*")).toEqual(["/node_modules/p/a.js"]);
    expect(listed(files, "*", "/.git")).toEqual(["/.git/config"]);
  });

  it("reads an ignore file again when it was changed", () => {
    const record = { "/.gitignore": "a", "/a": "hit", "/b": "hit" };
    expect(found(map(record), "hit")).toEqual(["/b"]);
    expect(found(map({ ...record, "/.gitignore": "b" }), "hit")).toEqual(["/a"]);
  });

  it("leaves out text with a zero at its beginning", () => {
    expect(found(map({ "/a": "hit\0", "/b": `${"x".repeat(9000)}\0hit` }), "hit")).toEqual(["/b"]);
  });

  it("refuses patterns that are too long", () => {
    expect(grepFrom(files, "x".repeat(10_001))).toMatchObject({ code: "INVALID_PATTERN" });
  });

  it("searches 5,000 files with ignore files among them quickly", async () => {
    const many: Record<string, string> = { "/.gitignore": "*.log\nout\n!keep\n/d1/f5.ts\n" };
    for (let at = 0; at < 5000; at++) many[`/d${at % 50}/e${at % 7}/f${at}.ts`] = `line ${at}\n`;
    const large = map(many);
    grepFrom(large, "nowhere");
    await withinCpuLimit("ten searches of 5,000 files in a map", () => {
      for (let round = 0; round < 10; round++) grepFrom(large, "nowhere");
    });
  });
});
