import { describe, expect, it } from "vitest";
import { CompositeBackend } from "../../backends/composite/composite.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { commandNoteOf } from "../../backends/is-sandbox.ts";
import { resolveBackend } from "../../backends/resolve.ts";
import { StateBackend } from "../../backends/state/state.ts";
import { type AuditEvent, PolicyBackend, type PolicyOptions } from "./policy.ts";
import { RateLimiter } from "./rate-limiter.ts";

const bytes = new TextEncoder().encode("x");

class CommandBackend extends MapBackend {
  readonly id = "commands";
  ran: string[] = [];

  async execute(command: string) {
    this.ran.push(command);
    return { output: "ran", exitCode: 0, truncated: false };
  }
}

/** `/link` leads to `/locked`, `/alias.txt` to a file in it, and `/door` is itself a link to `/room`. */
class LinkedBackend extends MapBackend {
  realPath(path: string) {
    if (path === "/alias.txt") return "/locked/a.txt";
    if (path === "/link" || path === "/link/a.txt") return path.replace("/link", "/locked");
    return path === "/door" ? "/room" : path;
  }
}

describe("denyPrefixes", () => {
  const inner = () => new MapBackend({ "/locked/a.txt": "a", "/lockedtoo.txt": "b", "/open/c.txt": "c" });
  const guarded = () => new PolicyBackend(inner(), { denyPrefixes: ["/locked"] });

  it("blocks every kind of change under them, and says so in agreed words", async () => {
    const backend = guarded();
    expect(await backend.write("/locked/new.txt", "x")).toEqual({
      error: "Writes are not allowed under /locked",
      code: "PERMISSION_DENIED",
    });
    expect(await backend.edit("/locked/a.txt", "a", "b")).toEqual({
      error: "Edits are not allowed under /locked",
      code: "PERMISSION_DENIED",
    });
    expect(await backend.append?.("/locked/a.txt", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.delete?.("/locked/a.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.delete?.("/locked")).toMatchObject({
      error: "Deletes are not allowed under /locked",
    });
    expect(await backend.write("/locked/./x/../new.txt", "x")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.write("//locked//new.txt", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
    const uploads = [
      ["/locked/u", bytes],
      ["/open/u", bytes],
    ] as const;
    expect(await backend.uploadFiles?.(uploads)).toEqual([
      { path: "/locked/u", error: "permission_denied" },
      { path: "/open/u", error: null },
    ]);
  });

  it("lets reads through, and changes beside them: whole segments count", async () => {
    const backend = guarded();
    expect(await backend.read("/locked/a.txt")).toMatchObject({ content: "a" });
    expect((await backend.grep("a", "/locked")).matches).toHaveLength(1);
    expect(await backend.downloadFiles?.(["/locked/a.txt"])).toMatchObject([{ error: null }]);
    expect(await backend.edit("/lockedtoo.txt", "b", "c")).toMatchObject({ occurrences: 1 });
    expect(await backend.delete?.("/open")).toMatchObject({ path: "/open" });
  });

  it("cannot be gone around by deleting what holds them", async () => {
    const backend = new PolicyBackend(new MapBackend({ "/a/b/c.txt": "c" }), { denyPrefixes: ["/a/b/"] });
    expect(await backend.delete?.("/a")).toMatchObject({ error: "Deletes are not allowed under /a/b" });
  });

  it("judge where links lead as well as what was asked for", async () => {
    const backend = new PolicyBackend(new LinkedBackend({ "/locked/a.txt": "a", "/room/r.txt": "r" }), {
      denyPrefixes: ["/locked", "/door"],
    });
    expect(await backend.edit("/alias.txt", "a", "b")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.edit("/link/a.txt", "a", "b")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.write("/link/deep/new.txt", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.edit("/room/r.txt", "r", "s")).toMatchObject({
      error: "Edits are not allowed under /door",
    });
    expect(await backend.write("/else.txt", "x")).toMatchObject({ path: "/else.txt" });
  });

  it("hold for relative paths, which lie where the backend says", async () => {
    class InPlace extends MapBackend {
      readonly workingDirectory = "/place";
      override async uploadFiles(files: Parameters<MapBackend["uploadFiles"]>[0]) {
        return super.uploadFiles(
          files.map(([path, data]) => [path.startsWith("/") ? path : `/place/${path}`, data]),
        );
      }
    }
    const inner = new InPlace({ "/place/locked/a.txt": "a", "/b.txt": "b" });
    const backend = new PolicyBackend(inner, { denyPrefixes: ["/place/locked"] });
    expect(await backend.uploadFiles?.([["locked/a.txt", bytes]])).toEqual([
      { path: "locked/a.txt", error: "permission_denied" },
    ]);
    expect(await backend.uploadFiles?.([["new.txt", bytes]])).toEqual([{ path: "new.txt", error: null }]);
    expect(await backend.write("locked/b.txt", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await inner.read("/place/locked/a.txt")).toMatchObject({ content: "a" });
    expect((await backend.ls("")).files?.map(({ path }) => path)).toEqual([
      "/place/locked/",
      "/place/new.txt",
    ]);
  });

  it("must be paths", () => {
    expect(() => new PolicyBackend(inner(), { denyPrefixes: ["/../x"] })).toThrow(/denyPrefixes/);
    expect(() => new PolicyBackend(inner(), { deny: ["/x"] } as never)).toThrow(/no option 'deny'/);
  });
});

describe("readOnly", () => {
  it("lets nothing change, and everything be read", async () => {
    const backend = new PolicyBackend(new MapBackend({ "/a.txt": "a" }), { readOnly: true });
    expect(await backend.write("/b.txt", "x")).toMatchObject({ error: "Writes are not allowed under /" });
    expect(await backend.edit("/a.txt", "a", "b")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.delete?.("/a.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await backend.uploadFiles?.([["/u", bytes]])).toEqual([
      { path: "/u", error: "permission_denied" },
    ]);
    expect(await backend.read("/a.txt")).toMatchObject({ content: "a" });
  });
});

describe("rateLimit", () => {
  it("refuses what is too much and says when there is room again", async () => {
    const backend = new PolicyBackend(new MapBackend({ "/a": "a" }), {
      rateLimit: { operations: 2, perSeconds: 30 },
    });
    await backend.read("/a");
    await backend.ls("/");
    expect(await backend.read("/a")).toEqual({
      error: expect.stringMatching(/More than 2 file operations in 30 seconds. Try again in (30|29) seconds/),
      code: "RATE_LIMITED",
    });
    expect(await backend.downloadFiles?.(["/a"])).toMatchObject([{ error: "permission_denied" }]);
  });

  it("counts any span of the given length, and does not count what it refused", () => {
    const limiter = new RateLimiter({ operations: 2, perSeconds: 10 });
    expect([0, 4000, 5000, 9000].map((now) => limiter.take(now) === undefined)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(limiter.take(10_001)).toBeUndefined();
    expect(limiter.take(13_000)?.error).toMatch(/Try again in 1 second$/);
    expect(limiter.take(14_001)).toBeUndefined();
  });

  it("is one for all tasks of a backend", async () => {
    const backend = new PolicyBackend(() => new MapBackend({ "/a": "a" }), {
      rateLimit: { operations: 1, perSeconds: 60 },
    });
    const [first, second] = [
      await resolveBackend(backend, { state: {} }),
      await resolveBackend(backend, { state: {} }),
    ];
    expect(await first.read("/a")).toMatchObject({ content: "a" });
    expect(await second.read("/a")).toMatchObject({ code: "RATE_LIMITED" });
  });

  it.each([{ operations: 0, perSeconds: 1 }, { operations: 1, perSeconds: 0 }, {}])(
    "refuses %j",
    (rateLimit) => {
      expect(() => new PolicyBackend(new MapBackend(), { rateLimit } as PolicyOptions)).toThrow(
        /rateLimit needs/,
      );
    },
  );
});

describe("check and audit", () => {
  it("a check refuses with a reason, later too, and by throwing", async () => {
    const asked: string[] = [];
    const backend = new PolicyBackend(new MapBackend({ "/a.txt": "a" }), {
      check: async (operation, path) => {
        asked.push(`${operation} ${path}`);
        if (path === "/throws.txt") throw new Error("not on Sundays");
        if (path === "/false.txt") return false as never;
        return path.endsWith(".env") ? "secrets stay closed" : undefined;
      },
    });
    expect(await backend.read("/x/.env")).toEqual({
      error: "secrets stay closed",
      code: "PERMISSION_DENIED",
    });
    expect(await backend.write("/throws.txt", "")).toMatchObject({ error: "not on Sundays" });
    expect(await backend.write("/false.txt", "")).toMatchObject({
      error: "write is not allowed on /false.txt",
    });
    expect(await backend.read("a.txt")).toMatchObject({ content: "a" });
    expect(asked).toEqual(["read /x/.env", "write /throws.txt", "write /false.txt", "read /a.txt"]);
  });

  it.each([
    ["an empty text", ""],
    ["0", 0],
    ["an object", {}],
    ["NaN", Number.NaN],
  ])("a check that answers %s refuses", async (_, answer) => {
    const backend = new PolicyBackend(new MapBackend({ "/a.txt": "a" }), { check: () => answer as never });
    expect(await backend.read("/a.txt")).toEqual({
      error: "read is not allowed on /a.txt",
      code: "PERMISSION_DENIED",
    });
  });

  it("a check that throws an error without words refuses, and true allows", async () => {
    const files = new MapBackend({ "/a.txt": "a" });
    const check = (): never => {
      throw new Error();
    };
    expect(await new PolicyBackend(files, { check }).read("/a.txt")).toHaveProperty("error");
    for (const answer of [true, null, undefined])
      expect(await new PolicyBackend(files, { check: () => answer }).read("/a.txt")).toMatchObject({
        content: "a",
      });
  });

  it("a check is asked about where links lead too", async () => {
    const backend = new PolicyBackend(new LinkedBackend({ "/locked/a.txt": "a", "/link/a.txt": "a" }), {
      check: (_operation, path) => (path.startsWith("/locked") ? "it is locked" : undefined),
    });
    expect(await backend.read("/link/a.txt")).toMatchObject({ error: "it is locked" });
    expect(await backend.write("/link/new.txt", "x")).toMatchObject({ error: "it is locked" });
    expect(await backend.write("/other.txt", "x")).toMatchObject({ path: "/other.txt" });
  });

  it("an audit hears of everything, and can break nothing", async () => {
    const heard: AuditEvent[] = [];
    class Broken extends MapBackend {
      override async ls(): Promise<never> {
        throw new Error("lost");
      }
    }
    const backend = new PolicyBackend(new Broken({ "/a": "a" }), {
      denyPrefixes: ["/locked"],
      audit: (event) => {
        heard.push(event);
        if (heard.length % 2 === 0) throw new Error("full disk");
        return Promise.reject(new Error("later"));
      },
    });
    expect(await backend.read("/a")).toMatchObject({ content: "a" });
    expect(await backend.read("/b")).toMatchObject({ code: "FILE_NOT_FOUND" });
    await backend.write("/locked/x", "x");
    await expect(backend.ls("/")).rejects.toThrow("lost");
    await backend.uploadFiles?.([
      ["/locked/u", bytes],
      ["/u", bytes],
    ]);
    expect(heard).toEqual([
      { operation: "read", path: "/a", outcome: "done" },
      { operation: "read", path: "/b", outcome: "failed", code: "FILE_NOT_FOUND" },
      { operation: "write", path: "/locked/x", outcome: "refused", code: "PERMISSION_DENIED" },
      { operation: "ls", path: "/", outcome: "failed" },
      { operation: "upload", path: "/locked/u", outcome: "refused", code: "PERMISSION_DENIED" },
      { operation: "upload", path: "/u", outcome: "done" },
    ]);
  });
});

describe("commands under a policy", () => {
  it.each<PolicyOptions>([{ readOnly: true }, { denyPrefixes: ["/x"] }])(
    "%j is refused for a backend that runs them, unless that is wanted",
    async (options) => {
      expect(() => new PolicyBackend(new CommandBackend(), options)).toThrow(
        expect.objectContaining({ name: "ConfigurationError", code: "INVALID_OPTION" }),
      );
      const composite = new CompositeBackend(() => new CommandBackend());
      await expect(async () =>
        resolveBackend(new PolicyBackend(composite, options), { state: {} }),
      ).rejects.toThrow(/do not hold for commands/);
      const wanted = new PolicyBackend(new CommandBackend(), { ...options, allowExecute: true });
      expect(await wanted.execute?.("ls")).toMatchObject({ output: "ran" });
      expect(wanted.id).toBe("commands");
    },
  );

  it("are checked and counted like everything else", async () => {
    const inner = new CommandBackend();
    const backend = new PolicyBackend(inner, {
      check: (_operation, command) => (command.includes("rm") ? "no rm" : undefined),
      rateLimit: { operations: 2, perSeconds: 60 },
    });
    expect(await backend.execute?.("rm -rf /")).toEqual({ output: "no rm", exitCode: 126, truncated: false });
    expect(await backend.execute?.("ls")).toMatchObject({ exitCode: 0 });
    expect(await backend.execute?.("ls")).toMatchObject({ exitCode: 126 });
    expect(inner.ran).toEqual(["ls"]);
  });

  it("see files as the backend says, through a policy and a composite", async () => {
    class Noted extends CommandBackend {
      readonly commandNote = "Write ./a for /a.";
    }
    const backend = new PolicyBackend(new CompositeBackend(new Noted(), { "/m/": new MapBackend() }));
    const bound = await resolveBackend(backend, { state: {} });
    expect([commandNoteOf(backend), commandNoteOf(bound)]).toEqual(Array(2).fill("Write ./a for /a."));
  });

  it("are not there when the backend has none", () => {
    expect(new PolicyBackend(new MapBackend(), { readOnly: true }).execute).toBeUndefined();
  });
});

it("a policy around a state binds it to the task", async () => {
  const files = { "/a": { content: "a", created_at: "t", modified_at: "t" } };
  const backend = await resolveBackend(new PolicyBackend(new StateBackend(), { readOnly: true }), {
    state: { files },
  });
  expect(await backend.read("/a")).toMatchObject({ content: "a" });
  expect(await backend.write("/b", "b")).toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(new PolicyBackend(() => new MapBackend()).read("/a")).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
});
