import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../scripts/test-time.ts";
import type { FileData, FilesUpdate } from "../backend.ts";
import { StateBackend } from "./state.ts";

describe("StateBackend without a run", () => {
  const at = { created_at: "2020-01-01T00:00:00.000Z", modified_at: "2020-01-01T00:00:00.000Z" };
  const state = {
    files: {
      "/old.txt": { content: ["first", "second", ""], ...at },
      "/logo.png": { content: "iVBORw==", mimeType: "image/png", ...at },
      "/src/a.ts": { content: "export const a = 1;\n", ...at },
      "/src/deep/b.ts": { content: "import { a } from '../a';\r\nconst b = a;\r\n", ...at },
    },
  };
  const backend = new StateBackend({ state });

  it("returns changes to its caller in the older form and stores nothing", async () => {
    const written = await backend.write("/new.md", "hi");
    expect(written).toMatchObject({
      path: "/new.md",
      filesUpdate: { "/new.md": { content: "hi", mimeType: "text/markdown" } },
    });
    expect(await backend.edit("/src/a.ts", "1", "2")).toMatchObject({
      occurrences: 1,
      filesUpdate: { "/src/a.ts": { content: "export const a = 2;\n", created_at: at.created_at } },
    });
    expect(await backend.delete("/src")).toEqual({
      path: "/src",
      filesUpdate: { "/src/a.ts": null, "/src/deep/b.ts": null },
    });
    expect((await backend.read("/new.md")).error).toBe("File '/new.md' not found");
    expect(state.files["/src/a.ts"].content).toContain("1");
  });

  it("says that it needs a run when it has neither run nor state", () => {
    expect(() => new StateBackend().ls("/")).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(() => new StateBackend({ root: "/" } as never)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_OPTION" }),
    );
  });

  it("lists a directory with its implicit directories, sorted", async () => {
    expect((await backend.ls("/")).files?.map((file) => [file.path, file.is_dir, file.size])).toEqual([
      ["/logo.png", false, 4],
      ["/old.txt", false, 13],
      ["/src/", true, undefined],
    ]);
    expect((await backend.ls("/src/")).files?.map((file) => file.path)).toEqual(["/src/a.ts", "/src/deep/"]);
    expect(await backend.ls("/nowhere")).toEqual({ files: [] });
    expect(await backend.ls("/old.txt")).toMatchObject({ code: "NOT_A_DIRECTORY" });
  });

  it("reads pages, older data, bytes and raw data", async () => {
    expect(await backend.read("/old.txt", 1, 1)).toEqual({
      content: "second\n",
      mimeType: "text/plain",
      startLine: 2,
      endLine: 2,
      totalLines: 2,
    });
    expect(await backend.read("/logo.png")).toEqual({
      content: Uint8Array.of(137, 80, 78, 71),
      mimeType: "image/png",
    });
    expect(await backend.readRaw("/old.txt")).toEqual({
      data: { content: "first\nsecond\n", mimeType: "text/plain", ...at },
    });
    expect(await backend.read("/src")).toMatchObject({ code: "IS_DIRECTORY" });
    expect(await backend.read("/old.txt", 9)).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("finds literal text by file and line", async () => {
    expect(await backend.grep("const")).toEqual({
      matches: [
        { path: "/src/a.ts", line: 1, text: "export const a = 1;" },
        { path: "/src/deep/b.ts", line: 2, text: "const b = a;" },
      ],
    });
    expect(await backend.grep("const", "/", null, 1)).toMatchObject({
      matches: [{ path: "/src/a.ts" }],
      truncated: true,
    });
    expect(await backend.grep("const", "/", null, 2)).not.toHaveProperty("truncated");
    expect((await backend.grep("const", "/src/deep/b.ts")).matches).toHaveLength(1);
    expect((await backend.grep("a", "/", "*.txt")).matches).toEqual([]);
    expect((await backend.grep("a", "/src", "deep/*.ts")).matches).toHaveLength(2);
    expect((await backend.grep("a", "/", "src/**/*.ts")).matches).toHaveLength(3);
    expect((await backend.grep("con.t")).matches).toEqual([]);
    expect(await backend.grep("")).toMatchObject({ code: "INVALID_PATTERN" });
    expect((await backend.grep("iVBOR")).matches).toEqual([]);
  });

  it("globs below a directory", async () => {
    expect((await backend.glob("*.ts", "/src")).files?.map((file) => file.path)).toEqual([
      "/src/a.ts",
      "/src/deep/b.ts",
    ]);
    expect((await backend.glob("src/*.ts")).files?.map((file) => file.path)).toEqual(["/src/a.ts"]);
    expect((await backend.glob("*.nothing")).files).toEqual([]);
    expect(await backend.glob("../*")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.glob("*", "/../etc")).toMatchObject({ code: "INVALID_PATH" });
  });

  it.each<[string, (b: StateBackend) => unknown, string]>([
    ["writing to a directory", (b) => b.write("/src", "x"), "IS_DIRECTORY"],
    ["writing below a file", (b) => b.write("/old.txt/x", "x"), "NOT_A_DIRECTORY"],
    ["writing to the root", (b) => b.write("/", "x"), "IS_DIRECTORY"],
    ["writing to a bad path", (b) => b.write("/ok.txt\0.png", "x"), "INVALID_PATH"],
    ["editing what is not text", (b) => b.edit("/logo.png", "a", "b"), "NOT_TEXT"],
    ["editing nothing", (b) => b.edit("/none", "a", "b"), "FILE_NOT_FOUND"],
    ["editing a missing text", (b) => b.edit("/src/a.ts", "zzz", "b"), "STRING_NOT_FOUND"],
    ["deleting nothing", (b) => b.delete("/none"), "FILE_NOT_FOUND"],
    ["deleting the root", (b) => b.delete("/"), "INVALID_ARGUMENT"],
  ])("answers %s with a code", async (_name, act, code) => {
    expect(await act(backend)).toMatchObject({ code });
  });

  it("overwrites when told to, keeping the time of creation", async () => {
    const { filesUpdate } = (await backend.write("/old.txt", "new", { overwrite: true })) as {
      filesUpdate: Record<string, FileData>;
    };
    expect(filesUpdate["/old.txt"]).toMatchObject({ content: "new", created_at: at.created_at });
    expect(filesUpdate["/old.txt"]?.modified_at).not.toBe(at.modified_at);
  });

  it("appends, creating the file when there is none", async () => {
    expect(await backend.append("/log", "a")).toMatchObject({ filesUpdate: { "/log": { content: "a" } } });
    expect(await backend.append("/src/a.ts", "b")).toMatchObject({
      filesUpdate: { "/src/a.ts": { content: "export const a = 1;\nb" } },
    });
  });

  it("moves bytes in and out, each with its own answer", async () => {
    const bytes = Uint8Array.of(0, 255, 1);
    const uploaded = await backend.uploadFiles([
      ["/x.bin", bytes],
      ["/note.png", new TextEncoder().encode("text after all")],
      ["../x", bytes],
      ["/src", bytes],
    ]);
    expect([...uploaded]).toEqual([
      { path: "/x.bin", error: null },
      { path: "/note.png", error: null },
      { path: "../x", error: "invalid_path" },
      { path: "/src", error: "is_directory" },
    ]);
    expect(uploaded.filesUpdate).toMatchObject({
      "/x.bin": { content: Uint8Array.of(0, 255, 1), mimeType: "application/octet-stream" },
      "/note.png": { content: "text after all", mimeType: "text/plain" },
    });
    const after = new StateBackend({ state: { files: { ...state.files, ...uploaded.filesUpdate } } });
    expect(await after.downloadFiles(["/x.bin", "/src/a.ts", "/none", "/src"])).toEqual([
      { path: "/x.bin", content: bytes, error: null },
      { path: "/src/a.ts", content: new TextEncoder().encode("export const a = 1;\n"), error: null },
      { path: "/none", content: null, error: "file_not_found" },
      { path: "/src", content: null, error: "is_directory" },
    ]);
  });

  it("reads bytes that are kept as they are, with a type or without", () => {
    const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255);
    const files = {
      "/typed.png": { content: png, mimeType: "image/png", ...at },
      "/bare.png": { content: png, ...at },
      "/called-text.txt": { content: png, mimeType: "text/plain", ...at },
    };
    const bytes = new StateBackend({ state: { files } });
    for (const path of Object.keys(files)) {
      expect(bytes.read(path)).toEqual({ content: png, mimeType: "image/png" });
      expect(bytes.readRaw(path)).toEqual({ data: { content: png, mimeType: "image/png", ...at } });
      expect(bytes.downloadFiles([path])).toEqual([{ path, content: png, error: null }]);
      expect(bytes.edit(path, "a", "b")).toMatchObject({ code: "NOT_TEXT" });
    }
    expect(bytes.ls("/")).toMatchObject({ files: [{ size: 10 }, { size: 10 }, { size: 10 }] });
    expect(bytes.grep("P")).toMatchObject({ matches: [] });
    expect(backend.readRaw("/logo.png")).toMatchObject({ data: { content: png.subarray(0, 4) } });
  });

  it("writes base64 under the name of a picture as bytes, and words as text", () => {
    const update = (content: string, path = "/a.png") =>
      (backend.write(path, content) as { filesUpdate: FilesUpdate }).filesUpdate[path];
    expect(update("iVBORw0KGgoA")).toMatchObject({
      content: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0),
      mimeType: "image/png",
    });
    expect(update("a drawing of a cat")).toMatchObject({
      content: "a drawing of a cat",
      mimeType: "text/plain",
    });
    expect(update("iVBORw0KGgoA", "/a.txt")).toMatchObject({ content: "iVBORw0KGgoA" });
  });

  it("keeps text one string a line with fileFormat v1", () => {
    const older = new StateBackend({ state }, { fileFormat: "v1" });
    expect(older.write("/new.json", "{\n}")).toMatchObject({
      filesUpdate: { "/new.json": { content: ["{", "}"] } },
    });
    expect(older.edit("/old.txt", "second", "third")).toMatchObject({
      filesUpdate: { "/old.txt": { content: ["first", "third", ""] } },
    });
    expect(older.readRaw("/old.txt")).toEqual({ data: state.files["/old.txt"] });
    expect(older.readRaw("/src/a.ts")).toMatchObject({ data: { content: ["export const a = 1;", ""] } });
    expect(older.read("/src/a.ts")).toMatchObject({ content: "export const a = 1;\n" });
    const uploaded = older.uploadFiles([
      ["/a.txt", new TextEncoder().encode("a\nb")],
      ["/a.png", Uint8Array.of(0, 255)],
    ]);
    expect(uploaded).toMatchObject({
      filesUpdate: { "/a.txt": { content: ["a", "b"] }, "/a.png": { content: Uint8Array.of(0, 255) } },
    });
    expect(() => new StateBackend({ fileFormat: "v3" } as never)).toThrow(/'v1' or 'v2'/);
  });

  it("goes by the name of older data that has no type", () => {
    const files = { "/a.md": { content: ["# A"], ...at } };
    expect(new StateBackend({ state: { files } }).read("/a.md")).toMatchObject({ mimeType: "text/markdown" });
  });

  it("answers at once, without a promise", () => {
    for (const answer of [
      backend.ls("/"),
      backend.read("/src/a.ts"),
      backend.readRaw("/src/a.ts"),
      backend.write("/now.txt", "x"),
      backend.append("/src/a.ts", "x"),
      backend.edit("/src/a.ts", "1", "2"),
      backend.delete("/src"),
      backend.grep("a"),
      backend.glob("**/*.ts"),
    ])
      expect([answer instanceof Promise, "error" in answer]).toEqual([false, false]);
    expect(backend.uploadFiles([["/u", new Uint8Array()]])).toHaveLength(1);
    expect(backend.downloadFiles(["/none"])).toMatchObject([{ error: "file_not_found" }]);
    expect(backend.read("../x")).toMatchObject({ code: "INVALID_PATH" });
  });

  it("searches 5,000 files in little time", async () => {
    const files: Record<string, FileData> = {};
    for (let index = 0; index < 5000; index++)
      files[`/pkg${index % 50}/src/file${index}.ts`] = {
        content: `// file ${index}\n${"const x = 1;\n".repeat(50)}`,
        ...at,
      };
    const big = new StateBackend({ state: { files } });
    await big.ls("/");
    await withinCpuLimit("searching and listing 5,000 files of the state", async () => {
      expect((await big.grep("file 4999\n")).matches).toHaveLength(1);
      expect((await big.grep("const", "/", "**/*.ts", 200)).matches).toHaveLength(200);
      expect((await big.glob("**/src/*.ts")).files).toHaveLength(5000);
      expect((await big.ls("/pkg3/src")).files).toHaveLength(100);
    });
  });
});
