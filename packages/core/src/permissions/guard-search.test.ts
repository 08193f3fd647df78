import { describe, expect, it } from "vitest";
import type { LsResult, OperationOptions } from "../backends/backend.ts";
import { CompositeBackend } from "../backends/composite/composite.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { directoryWith, guarded, onDisk, rule } from "./backends-for-tests.ts";

const SECRETS = [rule("deny", "/secrets/**")];

/** A place whose search goes through links: it finds the lines of a key under an open name. */
class LinkedBackend extends MapBackend {
  constructor() {
    super({ "/open/alias.txt": "needle in the key", "/open/own.txt": "needle of its own" });
  }

  async realPath(path: string): Promise<string> {
    return path === "/open/alias.txt" ? "/secrets/key.txt" : path;
  }
}

/** A place with a directory that cannot be listed. */
class ShutBackend extends MapBackend {
  override async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    if (path === "/tree/shut") return { error: "It cannot be listed", code: "UNAVAILABLE" };
    return super.ls(path, options);
  }
}

describe("a search that meets a link", () => {
  it("shows no line of a file that leads to what is denied, nor counts it", async () => {
    const backend = guarded(new LinkedBackend(), SECRETS);
    const own = [{ path: "/open/own.txt", line: 1, text: "needle of its own" }];
    expect(await backend.grep("needle", "/open")).toEqual({ matches: own });
    expect(await backend.grep("needle", "/open", null, 1)).toEqual({ matches: own });
    expect(await backend.grep("in the key", "/")).toEqual({ matches: [] });
  });

  it("names a file that leads to what needs approval, and shows no line of it", async () => {
    const backend = guarded(new LinkedBackend(), [rule("interrupt", "/secrets/**")]);
    const { matches, skipped } = await backend.grep("needle");
    expect(matches?.map(({ path }) => path)).toEqual(["/open/own.txt"]);
    expect(skipped).toEqual([{ path: "/open/alias.txt", code: "APPROVAL_REQUIRED" }]);
  });

  it.each(["deny", "interrupt"] as const)(
    "says no size, time or kind of a place whose rule is %s",
    async (mode) => {
      const backend = guarded(
        onDisk({
          "/secrets/key.txt": "key",
          "/open/file": { link: "../secrets/key.txt" },
          "/open/directory": { link: "../secrets" },
          "/open/plain": { link: "../other.txt" },
          "/other.txt": "four",
        }),
        [rule(mode, "/secrets/**")],
      );
      expect((await backend.ls("/open")).files).toEqual([
        { path: "/open/directory", is_dir: false },
        { path: "/open/file", is_dir: false },
        { path: "/open/plain", is_dir: false, size: 4, modified_at: expect.any(String) },
      ]);
      const found = (await backend.glob("**", "/open")).files ?? [];
      expect(
        found.filter(({ path, size, modified_at }) => path !== "/open/plain" && (size ?? modified_at)),
      ).toEqual([]);
    },
  );
});

describe("a directory in a tree to delete that cannot be listed", () => {
  const files = { "/tree/a.txt": "a", "/tree/shut/b.txt": "b", "/other/c.txt": "c" };

  it("may hold something denied: nothing is deleted", async () => {
    const inner = new ShutBackend(files);
    const backend = guarded(inner, [rule("deny", "/**/*.pem", ["write"])]);
    expect(await backend.delete?.("/tree")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await inner.read("/tree/a.txt")).toMatchObject({ content: "a" });
    expect(await backend.delete?.("/other")).toMatchObject({ path: "/other" });
  });

  it("is deleted where no rule can be about what it holds", async () => {
    const backend = guarded(new ShutBackend(files), [rule("deny", "/other/**", ["write"])]);
    expect(await backend.delete?.("/tree")).toMatchObject({ path: "/tree" });
  });
});

describe("names of what could not be read", () => {
  const large = "x".repeat(2000);
  const tree = { "/secrets/large.txt": large, "/open/large.txt": large };
  const disk = () =>
    new FilesystemBackend({ rootDir: directoryWith(tree), virtualMode: true, maxFileSizeMb: 0.001 });

  it.each(["deny", "interrupt"] as const)("are not told where a rule says %s", async (mode) => {
    const backend = guarded(disk(), [rule(mode, "/secrets/**")]);
    expect(await backend.grep("needle")).toEqual({
      matches: [],
      skipped: [{ path: "/open/large.txt", code: "TOO_LARGE" }],
    });
  });

  it("are not told from a mount or through a link either", async () => {
    const mounted = new CompositeBackend(new MapBackend(), { "/disk": disk() });
    const backend = guarded(mounted, [rule("deny", "/disk/secrets/**")]);
    expect((await backend.grep("needle")).skipped).toEqual([
      { path: "/disk/open/large.txt", code: "TOO_LARGE" },
    ]);
    const linked = new FilesystemBackend({
      rootDir: directoryWith({ ...tree, "/up": { link: "." } }),
      virtualMode: true,
      maxFileSizeMb: 0.001,
    });
    expect((await guarded(linked, SECRETS).grep("needle", "/up")).skipped).toEqual([
      { path: "/up/open/large.txt", code: "TOO_LARGE" },
    ]);
  });

  it("keep a tree from being deleted where a rule forbids that", async () => {
    const inner = new MapBackend({ "/tree/a.txt": "a" });
    const ls = inner.ls.bind(inner);
    inner.ls = async (path, options) => ({
      ...((await ls(path, options)) as Extract<LsResult, { error?: undefined }>),
      skipped: [{ path: "/tree/closed.pem", code: "PERMISSION_DENIED" }],
    });
    const backend = guarded(inner, [rule("deny", "/tree/*.pem", ["write"])]);
    expect(await backend.delete?.("/tree")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await inner.read("/tree/a.txt")).toMatchObject({ content: "a" });
  });

  it("keep it from being deleted on a disk too", async () => {
    const inner = onDisk({ "/tree/od\u0001d.pem": "key", "/tree/a.txt": "a" });
    const backend = guarded(inner, [rule("deny", "/tree/*.pem", ["write"])]);
    expect((await inner.ls("/tree")).skipped).toHaveLength(1);
    expect(await backend.delete?.("/tree")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await inner.read("/tree/a.txt")).toMatchObject({ content: "a" });
  });
});
