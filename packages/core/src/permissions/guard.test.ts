import { describe, expect, it } from "vitest";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import type { BackendProtocol, GrepResult } from "../backends/backend.ts";
import { CompositeBackend } from "../backends/composite/composite.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { asHarness } from "../backends/harness-call.ts";
import { mayExecute, mayUseState, resolveBackend } from "../backends/resolve.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { StateBackend } from "../backends/state/state.ts";
import { BACKENDS, CALLS, FILES, guarded, onDisk, rule, verdictOf } from "./backends-for-tests.ts";
import { guardBackend } from "./guard.ts";

const SECRETS = [rule("deny", "/secrets/**")];
const SPELLINGS = ["/secrets/./key.txt", "/./secrets/key.txt", "//secrets//key.txt", "/secrets/key.txt/"];
const pathsOf = (result: unknown): string[] =>
  (
    (result as { files?: { path: string }[]; matches?: { path: string }[] }).files ??
    (result as { matches?: { path: string }[] }).matches ??
    []
  ).map(({ path }) => path);

describe.each(Object.entries(BACKENDS))("on %s", (_, make) => {
  it("PM-01 a denied file is not read by any spelling of its path", async () => {
    const backend = guarded(make(), SECRETS);
    for (const path of SPELLINGS)
      expect(await backend.read(path)).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("PM-02 nor reached by any other road", async () => {
    const inner = make();
    const backend = guarded(inner, SECRETS);
    for (const path of [...SPELLINGS, "/secrets", "/secrets/", "/secrets/nothing/there"])
      for (const [road, call] of Object.entries({ ...CALLS.read, ...CALLS.write }))
        expect([road, path, verdictOf(await call(backend, path))]).toEqual([road, path, "deny"]);
    expect(await inner.read("/secrets/key.txt")).toMatchObject({ content: FILES["/secrets/key.txt"] });
  });

  it("PM-04 listings and searches from above do not show what is denied", async () => {
    const backend = guarded(make(), SECRETS);
    const shown = [
      ...pathsOf(await backend.ls("/")),
      ...pathsOf(await backend.glob("**")),
      ...pathsOf(await backend.glob("/secrets/**", "/")),
      ...pathsOf(await backend.grep("needle", "/")),
    ];
    expect(shown).toContain("/workspace/a.txt");
    expect(shown.filter((path) => /^\/secrets(\/|$)/.test(path))).toEqual([]);
    expect(JSON.stringify(await backend.grep("needle", "/"))).not.toContain("key");
  });

  it("PM-05 a directory is denied with its tree, and one whose name only begins alike is not", async () => {
    const backend = guarded(make(), SECRETS);
    const modes = ["/secrets", "/secrets/", "/secretsX/a"].map(async (path) =>
      verdictOf(await backend.ls(path)),
    );
    expect(await Promise.all(modes)).toEqual(["deny", "deny", "allow"]);
    expect(await backend.read("/secretsX/a")).toMatchObject({ content: FILES["/secretsX/a"] });
  });

  it("PM-07 a directory that holds something denied is not deleted, and nothing of it is", async () => {
    const inner = make();
    for (const denied of ["/workspace/sub/**", "/**/b.txt", "/workspace/sub/b.txt"]) {
      const backend = guarded(inner, [rule("deny", denied, ["write"])]);
      expect(await backend.delete?.("/workspace")).toEqual({
        error: "Error: permission denied for write on /workspace",
        code: "PERMISSION_DENIED",
      });
    }
    expect(pathsOf(await inner.glob("**", "/workspace"))).toEqual([
      "/workspace/.env",
      "/workspace/a.txt",
      "/workspace/sub/b.txt",
    ]);
    const harmless = guarded(inner, [rule("deny", "/workspace/**/*.pem", ["write"])]);
    expect(await harmless.delete?.("/workspace")).toMatchObject({ path: "/workspace" });
  });

  it("a closed directory on the way to an open one shows the way and nothing else", async () => {
    const rules = [rule("allow", "/workspace/**"), rule("deny", "/**")];
    const backend = guarded(make(), rules);
    expect(pathsOf(await backend.ls("/"))).toEqual(["/workspace/"]);
    expect(pathsOf(await backend.grep("needle", "/"))).toEqual([
      "/workspace/.env",
      "/workspace/a.txt",
      "/workspace/sub/b.txt",
    ]);
    expect(pathsOf(await backend.glob("/workspace/*.txt"))).toEqual(["/workspace/a.txt"]);
    expect(await backend.ls("/memories")).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("what needs approval is left out of searches and reported", async () => {
    const backend = guarded(make(), [rule("interrupt", "/secrets/**")]);
    for (const result of [await backend.glob("**"), await backend.grep("needle")]) {
      expect(pathsOf(result).some((path) => path.startsWith("/secrets/"))).toBe(false);
      expect(result.skipped).toContainEqual({ path: "/secrets/key.txt", code: "APPROVAL_REQUIRED" });
    }
    expect((await backend.ls("/")).skipped).toEqual([{ path: "/secrets", code: "APPROVAL_REQUIRED" }]);
  });

  it("calls of the harness itself pass", async () => {
    const backend = guarded(make(), [rule("deny", "/**")]);
    expect(await backend.read("/notes.md", 0, 10, asHarness())).toMatchObject({
      content: FILES["/notes.md"],
    });
    expect(await backend.write("/large_tool_results/x", "text", asHarness())).toMatchObject({
      path: "/large_tool_results/x",
    });
    expect((await backend.downloadFiles?.(["/notes.md"], asHarness()))?.[0]?.error).toBeNull();
  });
});

describe("a number of matches that is asked for", () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`/${i % 4 === 0 ? "open" : "a-closed"}/${i}.txt`, "needle"]),
  );
  const rules = [rule("deny", "/a-closed/**")];

  it("is not used up by what is left out", async () => {
    const backend = guarded(new MapBackend(files), rules);
    const found = (await backend.grep("needle", "/", null, 5)) as Extract<GrepResult, { error?: undefined }>;
    expect(found.matches).toHaveLength(5);
    expect(found.truncated).toBe(true);
  });

  it("does not say that there is more where the rest is denied", async () => {
    const backend = guarded(new MapBackend(files), rules);
    for (const most of [10, 11, 40, null]) {
      const found = await backend.grep("needle", "/", null, most);
      expect(found.matches).toHaveLength(10);
      expect(found.truncated).toBeUndefined();
    }
  });
});

describe("a backend that finds no more than it wants to", () => {
  it("is not asked again and again for what it leaves out", async () => {
    const inner = new MapBackend({ "/closed/a": "needle\nneedle", "/open/b": "needle" });
    let asked = 0;
    const grep = inner.grep.bind(inner);
    inner.grep = async (pattern, path, glob, most, options) => {
      asked += 1;
      return grep(pattern, path, glob, Math.min(most ?? 2, 2), options);
    };
    const found = await guarded(inner, [rule("deny", "/closed/**")]).grep("needle", "/", null, 10);
    expect([found.matches, found.truncated, asked]).toEqual([[], true, 1]);
  });
});

describe("PM-03 links", () => {
  const tree = {
    ...FILES,
    "/alias": { link: "secrets" },
    "/deep/alias.txt": { link: "../secrets/key.txt" },
    "/deep/up": { link: ".." },
    "/deep/plain.txt": "needle",
  };

  it.each(["/alias/key.txt", "/deep/alias.txt", "/alias", "/deep/up/secrets/key.txt", "/alias/new.txt"])(
    "PM-03 %s leads to what is denied, and is denied on every road",
    async (path) => {
      const inner = onDisk(tree);
      const backend = guarded(inner, SECRETS);
      for (const [road, call] of Object.entries({ ...CALLS.read, ...CALLS.write }))
        expect([road, verdictOf(await call(backend, path))]).toEqual([road, "deny"]);
      expect(await inner.read("/secrets/key.txt")).toMatchObject({ content: FILES["/secrets/key.txt"] });
    },
  );

  it("say where they lead only where that may be read", async () => {
    const backend = guarded(onDisk({ ...tree, "/open.txt": { link: "notes.md" } }), SECRETS);
    const where = ["/notes.md", "/open.txt", "/secrets/key.txt", "/alias/key.txt", "/deep/alias.txt"];
    const real = await Promise.all(where.map((path) => backend.realPath?.(path)));
    const denied = { code: "PERMISSION_DENIED" };
    expect(real).toMatchObject(["/notes.md", "/notes.md", denied, denied, denied]);
  });

  it("say nothing where one of them is turned between the check and the answer", async () => {
    const leadsTo = ["/link", "/secrets/key.txt"];
    const inner = Object.assign(new MapBackend(FILES), {
      realPath: async (path: string) => (path === "/link" ? (leadsTo.shift() ?? path) : path),
    });
    expect(await guarded(inner, SECRETS).realPath?.("/link")).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("PM-03 the same in a mount of a composite", async () => {
    const inner = new CompositeBackend(new MapBackend(FILES), { "/disk/": onDisk(tree) });
    const backend = guarded(inner, [rule("deny", "/disk/secrets/**")]);
    expect(await backend.read("/disk/alias/key.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.read("/disk/deep/plain.txt")).toMatchObject({ content: "needle" });
    expect(await backend.read("/secrets/key.txt")).toMatchObject({ content: FILES["/secrets/key.txt"] });
  });

  it("PM-03 a search through a link shows no line of what is denied", async () => {
    const backend = guarded(onDisk(tree), SECRETS);
    const found = JSON.stringify([
      await backend.grep("needle", "/deep"),
      await backend.grep("needle", "/deep/up"),
    ]);
    expect(found).not.toContain("in the key");
    expect(found).toContain("/deep/plain.txt");
  });

  it("a rule that names a link holds for the place it leads to", async () => {
    const backend = guarded(onDisk(tree), [rule("deny", "/alias/**")]);
    expect(await backend.read("/secrets/key.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.read("/secretsX/a")).toMatchObject({ content: FILES["/secretsX/a"] });
  });

  it("a link in a tree does not keep the tree from being deleted, and its target stays", async () => {
    const inner = onDisk({ "/t/a.txt": "a", "/t/loop": { link: ".." }, "/keep/b.txt": "b" });
    const backend = guarded(inner, [rule("deny", "/keep/**", ["write"])]);
    expect(await backend.delete?.("/t")).toMatchObject({ path: "/t" });
    expect(await inner.read("/keep/b.txt")).toMatchObject({ content: "b" });
  });

  it("a rule about a link holds for its target, whatever that is called", async () => {
    const names = ["data+(x)", "d{a,b}", "@(a|b)", "w[x]", "s*"];
    const files = names.map((name) => [`/${name}/f`, "needle"] as const);
    const links = names.map((name, index) => [`/link${index}`, { link: name }] as const);
    const rules = names.map((_, index) => rule("deny", `/link${index}/**`));
    const backend = guarded(onDisk(Object.fromEntries([...files, ...links])), rules);
    for (const [path] of files) expect(await backend.read(path)).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(pathsOf(await backend.grep("needle"))).toEqual([]);
  });

  it("an allowed link does not open a denied place", async () => {
    const backend = guarded(onDisk(tree), [rule("allow", "/alias/**"), rule("deny", "/secrets/**")]);
    expect(await backend.read("/alias/key.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
  });
});

describe("a place where case does not count", () => {
  const place = () => Object.assign(new MapBackend(FILES), { ignoresCase: true });

  it("has no way around a rule by capital letters", async () => {
    for (const path of ["/Secrets/**", "/secrets", "/{SECRETS,x}/*"]) {
      const backend = guarded(place(), [rule("deny", path)]);
      for (const spelling of ["/secrets/key.txt", "/SECRETS/key.txt", "/Secrets/KEY.TXT"])
        expect(await backend.read(spelling)).toMatchObject({ code: "PERMISSION_DENIED" });
      expect(pathsOf(await backend.glob("**")).some((one) => one === "/secrets/key.txt")).toBe(false);
    }
  });

  it("has none by letters that only become the same as capitals", async () => {
    const backend = guarded(Object.assign(new MapBackend({}), { ignoresCase: true }), [
      rule("deny", ["/secrets/**", "/\u039f\u03a3*/x", "/strasse"]),
    ]);
    for (const path of ["/\u017fecret\u017f/key", "/\u03bf\u03c3\u03b1/x", "/\u03bf\u03c2/x", "/STRA\u1e9eE"])
      expect(await backend.read(path)).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("has none by the name of what a link in a rule leads to", async () => {
    const inner = Object.assign(onDisk({ "/Secrets/key.txt": "k", "/ALIAS": { link: "Secrets" } }), {
      ignoresCase: true,
    });
    const backend = guarded(inner, [rule("deny", "/ALIAS/**")]);
    expect(await backend.read("/Secrets/key.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("is as open as its rules say by any spelling", async () => {
    const backend = guarded(place(), [rule("allow", "/Workspace/**"), rule("deny", "/**")]);
    expect(await backend.read("/workspace/a.txt")).toMatchObject({ content: FILES["/workspace/a.txt"] });
    expect(pathsOf(await backend.ls("/"))).toEqual(["/workspace/"]);
  });

  it("is the disk of some systems, in a mount too", () => {
    const isSuch = process.platform === "darwin" || process.platform === "win32";
    expect(onDisk({}).ignoresCase).toBe(isSuch);
    expect(new CompositeBackend(new MapBackend(), { "/m/": place() }).ignoresCase).toBe(true);
  });
});

describe("one guard in front of another", () => {
  it("sees what the other hides: a tree is not deleted with something denied in it", async () => {
    const inner = new MapBackend(FILES);
    const hiding = guarded(inner, [rule("deny", "/workspace/.env", ["read"])]);
    const backend = guarded(hiding, [rule("deny", "/workspace/.env", ["write"])]);
    expect(await backend.delete?.("/workspace")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await inner.read("/workspace/.env")).toMatchObject({ content: FILES["/workspace/.env"] });
  });

  it("follows a link that the other does not let be read", async () => {
    const hiding = guarded(onDisk({ ...FILES, "/alias": { link: "secrets" } }), [
      rule("deny", "/alias/**", ["read"]),
    ]);
    const backend = guarded(hiding, [rule("deny", "/secrets/**", ["write"])]);
    expect(await backend.write("/alias/new.txt", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("allows what both allow, and asks where either asks", async () => {
    const asking = guarded(new MapBackend(FILES), [rule("interrupt", "/notes.md")]);
    const backend = guarded(asking, [rule("deny", "/secrets/**")]);
    const verdicts = ["/notes.md", "/secrets/key.txt", "/workspace/a.txt"].map(async (path) =>
      verdictOf(await backend.read(path)),
    );
    expect(await Promise.all(verdicts)).toEqual(["ask", "deny", "allow"]);
  });
});

describe("what a guarded backend is", () => {
  it("without rules the source itself", () => {
    const source = new MapBackend();
    for (const rules of [[], null, undefined]) expect(guardBackend(source, rules)).toBe(source);
  });

  it("has what the inner one has, and lacks what it lacks", () => {
    const { ls, read, readRaw, write, edit, grep, glob } = MapBackend.prototype;
    const least = guarded({ ls, read, readRaw, write, edit, grep, glob } as BackendProtocol, SECRETS);
    for (const method of ["append", "delete", "uploadFiles", "downloadFiles", "realPath", "execute"] as const)
      expect((least as unknown as Record<string, unknown>)[method]).toBeUndefined();
    const disk = onDisk({});
    expect(guarded(disk, SECRETS).realPath).toBeDefined();
    expect(guarded(disk, SECRETS).workingDirectory).toBe(disk.workingDirectory);
  });

  it("knows whether it keeps its files in the state, and runs commands", () => {
    const sources = [new StateBackend(), StateBackend, new MapBackend(), MapBackend, () => new MapBackend()];
    for (const source of sources) {
      const guard = guardBackend(source as never, SECRETS);
      expect([mayUseState(guard), mayExecute(guard)]).toEqual([
        mayUseState(source as never),
        mayExecute(source as never),
      ]);
    }
  });

  it("guards what a factory, an async factory and a class make", async () => {
    class Filled extends MapBackend {
      constructor() {
        super(FILES);
      }
    }
    const make = () => new MapBackend(FILES);
    for (const source of [make, async () => make(), Filled]) {
      const backend = await resolveBackend(guardBackend(source as never, SECRETS), { state: {} });
      expect(await backend.read("/secrets/key.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
      expect(await backend.read("/notes.md")).toMatchObject({ content: FILES["/notes.md"] });
    }
  });

  it("an abort is thrown, not answered", async () => {
    const backend = guarded(new MapBackend(FILES), SECRETS);
    const options = { signal: AbortSignal.abort() };
    await expect(backend.read("/notes.md", 0, 1, options)).rejects.toThrow();
    await expect(backend.ls("/", options)).rejects.toThrow();
  });
});

describe("PM-10 rules beside commands", () => {
  const shell = () => new LocalShellBackend({ rootDir: process.cwd(), virtualMode: true });
  const error = expect.objectContaining({ code: "PERMISSIONS_WITH_EXECUTE" });

  it("PM-10 are an error when the backend is given", () => {
    expect(() => guardBackend(shell(), SECRETS)).toThrow(error);
    expect(() => guardBackend(new CompositeBackend(shell(), {}), SECRETS)).toThrow(error);
    expect(() => guardBackend(shell(), [])).not.toThrow();
  });

  it("PM-10 are an error in the first run, where a factory makes the backend", async () => {
    for (const source of [shell, async () => shell(), new CompositeBackend(shell, {})]) {
      const resolve = async () => resolveBackend(guardBackend(source as never, SECRETS), { state: {} });
      await expect(resolve()).rejects.toThrow(error);
    }
  });

  it("PM-10 are taken where the sandbox says that it enforces them, and its commands run", async () => {
    const sandbox = Object.assign(shell(), { enforcesPermissions: true as const });
    for (const source of [sandbox, () => sandbox, new CompositeBackend(sandbox, {})]) {
      const backend = await resolveBackend(guardBackend(source as never, SECRETS), { state: {} });
      const { execute } = backend as unknown as { execute(command: string): Promise<{ output: string }> };
      expect((await execute("echo ok")).output).toBe("ok\n");
      expect(await backend.read("/secrets/x")).toMatchObject({ code: "PERMISSION_DENIED" });
    }
  });

  describe("that lie where no command leads", () => {
    const MEMORIES = [rule("deny", "/memories/**", ["write"])];
    const mounted = () => new CompositeBackend(shell(), { "/memories/": new MapBackend({ "/a.md": "one" }) });
    const run = (backend: BackendProtocol) =>
      (backend as unknown as { execute(command: string): Promise<{ output: string }> }).execute("echo ok");

    it("PM-10 are taken: commands run, and the rules hold", async () => {
      const sources = [
        mounted(),
        mounted,
        new CompositeBackend(shell, { "/memories": () => new MapBackend({ "/a.md": "one" }) }),
        new CompositeBackend(shell(), { "/memories": () => new MapBackend({ "/a.md": "one" }) }),
        guardBackend(mounted(), [rule("deny", "/memories/b.md")]),
      ];
      for (const source of sources) {
        const backend = await resolveBackend(guardBackend(source as never, MEMORIES), { state: {} });
        expect((await run(backend)).output).toBe("ok\n");
        expect(await backend.write("/memories/b.md", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
        expect(await readRawFile(backend, "/memories/a.md")).toMatchObject({ data: { content: "one" } });
      }
    });

    it("PM-10 are an error if one of them is about more than that", () => {
      for (const path of ["/**", "/mem*/x", "/{memories,other}/x", "/memoriesX"])
        expect(() => guardBackend(mounted(), [...MEMORIES, rule("deny", path)])).toThrow(error);
      const inner = new CompositeBackend(new MapBackend({}), { "/disk": shell() });
      const disk = new FilesystemBackend({ rootDir: process.cwd(), virtualMode: true });
      const mounts: Record<string, BackendProtocol>[] = [
        { "/memories": disk },
        { "/memories": shell() },
        { "/memories": inner },
        { "/memories": new MapBackend({}), "/memories/disk": disk },
      ];
      for (const routes of mounts)
        expect(() => guardBackend(new CompositeBackend(shell(), routes), MEMORIES)).toThrow(error);
    });

    it("PM-10 are an error in the first run if a factory puts a disk there", async () => {
      const disk = () => new FilesystemBackend({ rootDir: process.cwd(), virtualMode: true });
      const source = guardBackend(new CompositeBackend(shell(), { "/memories": disk }), MEMORIES);
      await expect((async () => resolveBackend(source, { state: {} }))()).rejects.toThrow(error);
    });
  });
});
