import { describe, expect, it } from "vitest";
import type { BackendProtocol } from "../backend.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import { isSandboxBackend } from "../is-sandbox.ts";
import { resolveBackend } from "../resolve.ts";
import { type BackendProtocolV1, currentProtocol } from "./adapt.ts";
import { adaptBackendProtocol, adaptSandboxProtocol } from "./adapt-protocol.ts";
import { OlderMapBackend } from "./older-backend-for-tests.ts";

/** A backend of which only the text of `read` is known; answers at once. */
function reading(
  read: (path: string, offset: number, limit: number) => string,
  more: object = {},
): BackendProtocol {
  const older: BackendProtocolV1 = {
    lsInfo: () => [],
    read: (path, offset = 0, limit = 2000) => read(path, offset, limit),
    grepRaw: () => [],
    globInfo: () => [],
    write: (path) => ({ path }),
    edit: (path) => ({ path }),
  };
  return adaptBackendProtocol({ ...older, ...more });
}

describe("adaptBackendProtocol", () => {
  it("keeps one adapter of an older backend inside the library", () => {
    const today = new MapBackend();
    expect(currentProtocol(today)).toBe(today);
    const older = new OlderMapBackend();
    expect(currentProtocol(older)).toBe(currentProtocol(older));
  });

  it("does what resolveBackend does: instances, factories and classes of the older protocol serve", async () => {
    const runtime = { state: {} };
    for (const source of [
      new OlderMapBackend({ "/a.txt": "x" }),
      () => new OlderMapBackend({ "/a.txt": "x" }),
      async () => new OlderMapBackend({ "/a.txt": "x" }),
    ])
      expect(await (await resolveBackend(source, runtime)).read("/a.txt")).toMatchObject({ content: "x" });
    class Planted extends OlderMapBackend {
      constructor() {
        super({ "/a.txt": "x" });
      }
    }
    expect(await (await resolveBackend(Planted as never, runtime)).ls("/")).toMatchObject({ files: [{}] });
  });

  it.each([
    ["     1\tone\n     2\ttwo", "one\ntwo"],
    ["     1│one\n     2│\ttwo", "one\n\ttwo"],
    ["     1→one", "one"],
    ["     1\tstart\n   1.1\t and end\n     2\ttwo", "start and end\ntwo"],
    ["     1│cut\n… line 1 goes on for 9 characters: offset=0, column=3\n     2│two", "cut\ntwo"],
    ["one\ntwo", "one\ntwo"],
    ["1\tone\n3\tthree", "1\tone\n3\tthree"],
    ["Error: not alone\nmore", "Error: not alone\nmore"],
  ])("reads %j as %j", async (text, content) => {
    expect(await reading(() => text).read("/a.txt")).toMatchObject({ content, mimeType: "text/plain" });
  });

  it.each([
    ["Error: File '/x' not found", "File '/x' not found", "FILE_NOT_FOUND"],
    ["Error: permission denied", "permission denied", "PERMISSION_DENIED"],
    ["Error: '/x' is a directory", "'/x' is a directory", "IS_DIRECTORY"],
    [
      "Error: Line offset 9 exceeds file length (2 lines)",
      "Line offset 9 exceeds file length (2 lines)",
      "INVALID_ARGUMENT",
    ],
    ["Error: the moon is full", "the moon is full", "UNAVAILABLE"],
  ])("takes the text %j for the failure it is", async (text, error, code) => {
    expect(await reading(() => text).read("/x")).toEqual({ error, code });
    expect(await reading(() => text).readRaw?.("/x")).toEqual({ error, code });
  });

  it("takes the reminder for an empty file", async () => {
    const backend = reading(() => "System reminder: File exists but has empty contents");
    expect(await backend.read("/x.md")).toEqual({ content: "", mimeType: "text/markdown", totalLines: 0 });
    const tagged = reading(
      () => "<system-reminder>\nSystem reminder: File exists but has empty contents\n</system-reminder>",
    );
    expect(await tagged.read("/x")).toMatchObject({ content: "" });
  });

  it("says of a page only what is known: that there is more, or how many lines there are", async () => {
    const lines = ["a", "b", "c", "d"];
    const backend = reading((_path, offset, limit) => {
      const page = lines.slice(offset, offset + limit);
      if (page.length === 0) return `Error: Line offset ${offset} exceeds file length (4 lines)`;
      return page.map((line, index) => `${offset + index + 1}\t${line}`).join("\n");
    });
    expect(await backend.read("/x", 0, 2)).toEqual({
      content: "a\nb",
      mimeType: "text/plain",
      startLine: 1,
      endLine: 2,
      nextOffset: 2,
    });
    expect(await backend.read("/x", 2, 2)).toMatchObject({ startLine: 3, endLine: 4, totalLines: 4 });
    expect(await backend.read("/x", 1, 9)).toMatchObject({ content: "b\nc\nd", totalLines: 4 });
    expect(await backend.readRaw?.("/x")).toMatchObject({ data: { content: "a\nb\nc\nd" } });
  });

  it("lets the raw file decide where there is one: a file may look like anything", async () => {
    const texts = [
      "Error: File '/x' not found",
      "     1\tone",
      "System reminder: File exists but has empty contents",
    ];
    for (const text of texts) {
      const raw = { content: text.split("\n"), created_at: "t", modified_at: "t" };
      const backend = reading(() => text, { readRaw: () => raw });
      expect(await backend.read("/x")).toMatchObject({ content: text, totalLines: 1 });
    }
    const thrown = reading(() => "", {
      readRaw: () => {
        throw new Error("File '/x' not found");
      },
    });
    expect(await thrown.readRaw?.("/x")).toEqual({ error: "File '/x' not found", code: "FILE_NOT_FOUND" });
    const lost = reading(() => "", { readRaw: () => Promise.reject(new Error("connection lost")) });
    await expect(lost.read("/x")).rejects.toThrow("connection lost");
  });

  it("makes typed results of what a grep says, sorted and capped", async () => {
    const grep = (grepRaw: () => unknown) => reading(() => "", { grepRaw }).grep("x", "/dir", null, 2);
    expect(await grep(() => "Invalid regex pattern: (")).toEqual({
      error: "Invalid regex pattern: (",
      code: "INVALID_PATTERN",
    });
    expect(await grep(() => "No matches found for pattern 'x'")).toEqual({ matches: [] });
    const match = (path: string, line: number) => ({ path, line, text: "x" });
    expect(await grep(() => [match("/dir/b", 2), match("a", 1), match("/dir/b", 1)])).toEqual({
      matches: [match("/dir/a", 1), match("/dir/b", 1)],
      truncated: true,
    });
  });

  it("makes whole, sorted paths of listings", async () => {
    const files = [{ path: "sub", is_dir: true }, { path: "./b.txt" }, { path: "/dir/a.txt" }];
    const backend = reading(() => "Error: File '/dir' not found", {
      lsInfo: () => files,
      globInfo: async () => files,
    });
    const whole = ["/dir/a.txt", "/dir/b.txt", "/dir/sub/"];
    expect((await backend.ls("/dir")).files?.map(({ path }) => path)).toEqual(whole);
    expect((await backend.glob("*", "/dir")).files?.map(({ path }) => path)).toEqual(whole);
  });

  it("creates only where nothing is, though the older backend would overwrite", async () => {
    const files = new Map<string, string>();
    const backend = reading((path) => files.get(path) ?? `Error: File '${path}' not found`, {
      write: async (path: string, content: string) => {
        await Promise.resolve();
        files.set(path, content);
        return { path, error: null, filesUpdate: null };
      },
    });
    const results = await Promise.all([1, 2, 3].map((n) => backend.write("/a", `text ${n}`)));
    expect(results.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(results.find(({ error }) => error !== undefined)).toMatchObject({ code: "FILE_EXISTS" });
    expect(await backend.write("/a", "again", { overwrite: true })).toEqual({
      path: "/a",
      filesUpdate: null,
    });
  });

  it("overwrites by deleting first where the older backend only creates", async () => {
    const backend = adaptBackendProtocol(new OlderMapBackend({ "/a.txt": "old" }));
    expect(await backend.write("/a.txt", "new", { overwrite: true })).toMatchObject({ path: "/a.txt" });
    expect(await backend.read("/a.txt")).toMatchObject({ content: "new" });
    expect(await backend.edit("/a.txt", "zzz", "y")).toMatchObject({ code: "STRING_NOT_FOUND" });
    expect(await backend.edit("/no.txt", "a", "y")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("FS-09 never passes a path on that is none", async () => {
    const asked: string[] = [];
    const backend = reading((path) => {
      asked.push(path);
      return "x";
    });
    for (const path of ["/ok.txt\0.png", "/../x", "C:\\x"])
      expect(await backend.read(path)).toMatchObject({ code: "INVALID_PATH" });
    await backend.read("//a/./b/");
    expect(asked).toEqual(["/a/b"]);
  });
});

describe("adaptSandboxProtocol", () => {
  const older = (execute: (command: string) => unknown) =>
    adaptSandboxProtocol(Object.assign(new OlderMapBackend(), { id: "box", execute: execute as never }));

  it("keeps the id and the commands", async () => {
    const sandbox = older((command) => ({ output: `ran ${command}`, exit_code: 3 }));
    expect(isSandboxBackend(sandbox)).toBe(true);
    expect(sandbox.id).toBe("box");
    expect(await sandbox.execute("ls")).toEqual({ output: "ran ls", exitCode: 3, truncated: false });
    expect(await older(() => ({ output: "x" })).execute("ls")).toMatchObject({ exitCode: null });
  });

  it("does not wait for a command once it was stopped", async () => {
    const stop = new AbortController();
    const running = older(() => new Promise(() => {})).execute("sleep", { signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
  });
});
