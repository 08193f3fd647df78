import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OlderMapBackend } from "../adapt/older-backend-for-tests.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import { CompositeBackend } from "./composite.ts";

class CommandBackend extends MapBackend {
  readonly id = "commands";
  readonly workingDirectory = "/work";

  async execute(command: string) {
    return { output: `ran ${command}`, exitCode: 0, truncated: false };
  }
}

const names = (result: { files?: readonly { path: string }[] }) => result.files?.map(({ path }) => path);

function sample() {
  const inner = new MapBackend({ "/a.md": "needle in a", "/sub/b.md": "needle in b" });
  const deep = new MapBackend({ "/c.md": "needle in c" });
  const base = new MapBackend({
    "/top.md": "needle at the top",
    "/memories2/x.md": "needle beside",
    "/memories/hidden.md": "needle that is covered",
  });
  const backend = new CompositeBackend(base, { "/memories": inner, "/memories/deep/er/": deep });
  return { backend, inner, deep, base };
}

describe("new CompositeBackend", () => {
  it("takes its parts as one object, too", async () => {
    const inner = new MapBackend({ "/a.md": "inside" });
    const backend = new CompositeBackend({ default: new MapBackend(), routes: { "/memories/": inner } });
    expect(backend.routePrefixes).toEqual(["/memories/"]);
    expect(await backend.read("/memories/a.md")).toMatchObject({ content: "inside" });
    expect(names(await new CompositeBackend({ default: inner }).ls("/"))).toEqual(["/a.md"]);
  });

  it.each<[string, () => CompositeBackend, RegExp]>([
    ["nothing", () => new CompositeBackend(undefined as never), /a backend for each of its places/],
    ["no default", () => new CompositeBackend({ routes: {} } as never), /must be a backend/],
    [
      "a route to nothing",
      () => new CompositeBackend(new MapBackend(), { "/m/": undefined as never }),
      /a backend for each of its places/,
    ],
    ["a name", () => new CompositeBackend("state" as never), /must be a backend .* not 'state'/],
  ])("refuses %s at once", (_name, make, message) => {
    expect(make).toThrow(message);
  });
});

describe("the routes of CompositeBackend", () => {
  it("match whole segments, with or without a slash at the end; the longest wins", async () => {
    const { backend, inner, deep, base } = sample();
    await backend.write("/memories/new.md", "1");
    await backend.write("/memories/deep/er/new.md", "2");
    await backend.write("/memories2/new.md", "3");
    await backend.write("/memories/deep/other.md", "4");
    expect(await inner.read("/new.md")).toMatchObject({ content: "1" });
    expect(await deep.read("/new.md")).toMatchObject({ content: "2" });
    expect(await base.read("/memories2/new.md")).toMatchObject({ content: "3" });
    expect(await inner.read("/deep/other.md")).toMatchObject({ content: "4" });
  });

  it.each([{ "/": null }, { memories: null }, { "/../x": null }, { "/a": null, "/a/": null }])(
    "%j are refused at once",
    (routes) => {
      expect(() => new CompositeBackend(new MapBackend(), routes as never)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
    },
  );

  it("are told, so that the class can be recognised across copies of this module", () => {
    const { backend } = sample();
    expect(backend.routePrefixes).toEqual(["/memories", "/memories/deep/er/"]);
    expect(CompositeBackend.isInstance(backend)).toBe(true);
    expect(CompositeBackend.isInstance({ routePrefixes: [] })).toBe(true);
    expect(CompositeBackend.isInstance(new MapBackend())).toBe(false);
    expect(CompositeBackend.isInstance(null)).toBe(false);
  });
});

describe("CompositeBackend", () => {
  it("gives whole paths back, in results and in what it says of failures", async () => {
    const { backend } = sample();
    expect(await backend.write("/memories/w.md", "x")).toMatchObject({ path: "/memories/w.md" });
    expect(await backend.edit("/memories/w.md", "x", "y")).toMatchObject({ path: "/memories/w.md" });
    expect(await backend.append?.("/memories/w.md", "z")).toMatchObject({ path: "/memories/w.md" });
    expect(await backend.delete?.("/memories/w.md")).toMatchObject({ path: "/memories/w.md" });
    expect(await backend.read("/memories/no.md")).toEqual({
      error: "File '/memories/no.md' not found",
      code: "FILE_NOT_FOUND",
    });
    expect(await backend.write("/memories/a.md", "x")).toMatchObject({
      error: expect.stringContaining("Cannot write to /memories/a.md because it already exists"),
    });
    expect(await backend.write("/memories/a.md/x", "x")).toMatchObject({
      error: "Cannot write to /memories/a.md/x because /memories/a.md is a file",
    });
    expect(await backend.ls("/memories/a.md")).toMatchObject({
      error: "'/memories/a.md' is a file, not a directory",
    });
    expect(await backend.edit("/memories/a.md", "/a.md", "x")).toMatchObject({
      error: expect.stringContaining("String not found in file: '/a.md'"),
    });
  });

  it("shows mounts in ls where they are, also when only the way to them is", async () => {
    const { backend } = sample();
    expect(names(await backend.ls("/"))).toEqual(["/memories/", "/memories2/", "/top.md"]);
    expect(names(await backend.ls("/memories"))).toEqual([
      "/memories/a.md",
      "/memories/deep/",
      "/memories/sub/",
    ]);
    expect(names(await backend.ls("/memories/deep"))).toEqual(["/memories/deep/er/"]);
    expect(names(await backend.ls("/memories/deep/er"))).toEqual(["/memories/deep/er/c.md"]);
  });

  it("aggregates glob and grep from above, sorted as one, without what a mount covers", async () => {
    const { backend } = sample();
    const all = [
      "/memories/a.md",
      "/memories/deep/er/c.md",
      "/memories/sub/b.md",
      "/memories2/x.md",
      "/top.md",
    ];
    expect(names(await backend.glob("*.md"))).toEqual(all);
    expect((await backend.grep("needle")).matches?.map(({ path }) => path)).toEqual(all);
    expect(names(await backend.glob("**/*.md", "/memories"))).toEqual(all.slice(0, 3));
  });

  it.each([
    ["memories/*.md", "/", ["/memories/a.md"]],
    ["/memories/*.md", "/", ["/memories/a.md"]],
    ["/memories/sub/*.md", "/memories/sub", ["/memories/sub/b.md"]],
    ["memories/**", "/", ["/memories/a.md", "/memories/deep/er/c.md", "/memories/sub/b.md"]],
    ["memories/deep/*/c.md", "/", ["/memories/deep/er/c.md"]],
    ["**/er/*.md", "/", ["/memories/deep/er/c.md"]],
    ["{memories,memories2}/*.md", "/", ["/memories/a.md", "/memories2/x.md"]],
    ["d*/**/*.md", "/memories", ["/memories/deep/er/c.md"]],
    ["er/*", "/memories/deep", ["/memories/deep/er/c.md"]],
    ["*", "/memories/deep", ["/memories/deep/er/c.md"]],
    ["/*.md", "/", ["/top.md"]],
    ["m*/x.md", "/", ["/memories2/x.md"]],
    ["memories/", "/", ["/memories/a.md", "/memories/deep/er/c.md", "/memories/sub/b.md"]],
  ])("glob %s in %s means the same across mounts as without them", async (pattern, path, expected) => {
    const { backend } = sample();
    const files = {
      "/memories/a.md": "needle",
      "/memories/sub/b.md": "needle",
      "/memories/deep/er/c.md": "needle",
      "/memories2/x.md": "needle",
      "/top.md": "needle",
    };
    const flat = new MapBackend(files);
    expect(names(await flat.glob(pattern, path))).toEqual(expected);
    expect(names(await backend.glob(pattern, path))).toEqual(expected);
    const found = (await backend.grep("needle", path, pattern)).matches?.map((match) => match.path);
    expect(found).toEqual(expected);
  });

  it.each(["/", "./"])("the pattern %j names nothing, in a mount as elsewhere", async (pattern) => {
    const backend = new CompositeBackend(new MapBackend({ "/b": "x" }), {
      "/a": new MapBackend({ "/c": "x" }),
    });
    expect((await backend.glob(pattern, "/")).files).toEqual([]);
    expect((await backend.glob(pattern, "/a")).files).toEqual([]);
    expect((await backend.grep("x", "/", pattern)).matches).toEqual([]);
  });

  it("shares one cap among all, which what is covered does not use up", async () => {
    const covered = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`/b/${n}.txt`, "hit\nhit"]));
    const base = new MapBackend({ ...covered, "/a.txt": "hit", "/c.txt": "hit" });
    const backend = new CompositeBackend(base, { "/b/": new MapBackend({ "/x.txt": "hit\nhit" }) });
    const search = async (cap: number) => {
      const result = await backend.grep("hit", "/", null, cap);
      if (result.error !== undefined) throw new Error(result.error);
      return [result.matches.map(({ path, line }) => `${path}:${line}`), result.truncated ?? false];
    };
    const all = ["/a.txt:1", "/b/x.txt:1", "/b/x.txt:2", "/c.txt:1"];
    expect(await search(2)).toEqual([all.slice(0, 2), true]);
    expect(await search(3)).toEqual([all.slice(0, 3), true]);
    expect(await search(4)).toEqual([all, false]);
    expect(await search(5)).toEqual([all, false]);
  });

  it("takes a failing mount for a failure, not for an empty directory", async () => {
    class Broken extends MapBackend {
      override async ls(): Promise<never> {
        throw new Error("connection lost");
      }
      override async glob() {
        return { error: "'/' cannot be listed", code: "UNAVAILABLE" } as const;
      }
      override async grep() {
        return { error: "'/' cannot be listed", code: "UNAVAILABLE" } as const;
      }
    }
    const backend = new CompositeBackend(new MapBackend({ "/a": "x" }), { "/broken/": new Broken() });
    const expected = { error: "'/broken' cannot be listed", code: "UNAVAILABLE" };
    expect(await backend.glob("**")).toEqual(expected);
    expect(await backend.grep("x")).toEqual(expected);
    await expect(backend.ls("/broken")).rejects.toThrow("connection lost");
    expect(names(await backend.ls("/"))).toEqual(["/a", "/broken/"]);
  });

  it("passes on what could not be read, with whole paths, and that there is more", async () => {
    class Partial extends MapBackend {
      override async grep() {
        const skipped = [{ path: "/big.bin", code: "TOO_LARGE" }] as const;
        return { matches: [], truncated: true, timedOut: true, skipped: [...skipped] };
      }
    }
    const backend = new CompositeBackend(new MapBackend(), { "/data/": new Partial() });
    expect(await backend.grep("x")).toEqual({
      matches: [],
      truncated: true,
      timedOut: true,
      skipped: [{ path: "/data/big.bin", code: "TOO_LARGE" }],
    });
  });

  it("does not let a mount point, nor a directory that holds one, be deleted or written over", async () => {
    const { backend } = sample();
    expect(await backend.delete?.("/memories/deep/er")).toEqual({
      error: "Cannot delete /memories/deep/er because it is a mount point",
      code: "PERMISSION_DENIED",
    });
    expect(await backend.delete?.("/memories")).toMatchObject({
      error: "Cannot delete /memories because /memories/deep/er in it is a mount point",
    });
    expect(await backend.delete?.("/")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await backend.write("/memories", "x")).toMatchObject({ code: "IS_DIRECTORY" });
    expect(await backend.read("/memories/deep")).toEqual({
      error: "'/memories/deep' is a directory",
      code: "IS_DIRECTORY",
    });
    expect(await backend.delete?.("/memories/sub")).toMatchObject({ path: "/memories/sub" });
    expect(await backend.read("/memories/a.md")).toMatchObject({ content: "needle in a" });
  });

  it("transfers each mount's files together and answers in the order of the input", async () => {
    const { backend } = sample();
    const bytes = new TextEncoder().encode("up");
    const uploads = ["/memories/u1", "/u2", "/memories/deep/er/u3", "/../x", "/memories", "/u4"];
    expect(await backend.uploadFiles?.(uploads.map((path) => [path, bytes] as const))).toEqual([
      { path: "/memories/u1", error: null },
      { path: "/u2", error: null },
      { path: "/memories/deep/er/u3", error: null },
      { path: "/../x", error: "invalid_path" },
      { path: "/memories", error: "is_directory" },
      { path: "/u4", error: null },
    ]);
    const downloads = await backend.downloadFiles?.(["/u4", "/memories/u1", "/memories/no", "/u2"]);
    expect(downloads?.map(({ path, content, error }) => [path, content?.length, error])).toEqual([
      ["/u4", 2, null],
      ["/memories/u1", 2, null],
      ["/memories/no", undefined, "file_not_found"],
      ["/u2", 2, null],
    ]);
  });

  it("says where an ability is missing, and lacks it when all do", async () => {
    const older = new OlderMapBackend({ "/a.txt": "x" });
    Object.assign(older, { delete: undefined, uploadFiles: undefined });
    const backend = new CompositeBackend(new MapBackend(), { "/old/": older });
    expect(await backend.delete?.("/old/a.txt")).toEqual({
      error: "Deleting is not available for /old/a.txt",
      code: "UNAVAILABLE",
    });
    expect(await backend.append?.("/old/a.txt", "x")).toMatchObject({ code: "UNAVAILABLE" });
    expect(await backend.uploadFiles?.([["/old/b", new Uint8Array()]])).toEqual([
      { path: "/old/b", error: "permission_denied" },
    ]);
    expect(await backend.read("/old/a.txt")).toMatchObject({ content: "x" });
    const bare = new CompositeBackend(older, {});
    expect(bare.delete).toBeUndefined();
    expect(bare.append).toBeUndefined();
  });

  it("runs commands in the default, and has no execute when that cannot", async () => {
    const able = new CompositeBackend(new CommandBackend(), { "/m/": new MapBackend() });
    expect(await able.execute?.("ls")).toMatchObject({ output: "ran ls" });
    expect([able.id, able.workingDirectory]).toEqual(["commands", "/work"]);
    const unable = new CompositeBackend(new MapBackend(), { "/m/": new CommandBackend() });
    expect("execute" in unable && unable.execute !== undefined).toBe(false);
    expect(unable.id).toBe("");
  });

  it("follows links of a mount in its own terms", async () => {
    class Linked extends MapBackend {
      realPath(path: string) {
        return path === "/link" ? "/target" : path;
      }
    }
    const backend = new CompositeBackend(new MapBackend(), { "/m/": new Linked() });
    expect(await backend.realPath?.("/m/link")).toBe("/m/target");
    expect(await backend.realPath?.("/link")).toBe("/link");
    expect(sample().backend.realPath).toBeUndefined();
  });

  it("what is written at any path is found there, by read, ls, glob and grep", async () => {
    const segment = fc.constantFrom("a", "b", "mount", "mount2", "x.txt", "y.md");
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join("/")}`);
    const content = fc.constantFrom("one", "two", "three");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(path, content), { maxLength: 12 }), async (writes) => {
        const flat = new MapBackend();
        const backend = new CompositeBackend(new MapBackend(), {
          "/mount": new MapBackend(),
          "/mount/a/b/": new MapBackend(),
          "/b/mount2": new MapBackend(),
        });
        const reserved = ["/mount", "/mount/a", "/mount/a/b", "/b", "/b/mount2"];
        for (const [file, text] of writes) {
          const result = await backend.write(file, text, { overwrite: true });
          if (result.error === undefined) {
            expect(result.path).toBe(file);
            await flat.write(file, text, { overwrite: true });
          } else if (!reserved.includes(file)) expect((await flat.write(file, text)).error).toBeDefined();
        }
        for (const pattern of ["**", "*.txt", "mount/**", "**/b/*", "*/*/*"])
          expect(names(await backend.glob(pattern))).toEqual(names(await flat.glob(pattern)));
        for (const place of ["/", "/mount", "/mount/a", "/b"])
          expect(names(await backend.glob("**", place))).toEqual(names(await flat.glob("**", place)));
        expect(await backend.grep("o", "/", "*.md", 3)).toEqual(await flat.grep("o", "/", "*.md", 3));
        for (const { path: file } of (await flat.glob("**")).files ?? [])
          expect((await backend.read(file)).content).toBe((await flat.read(file)).content);
      }),
      { numRuns: 60 },
    );
  });
});
