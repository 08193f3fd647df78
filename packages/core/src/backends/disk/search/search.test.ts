import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { until, withinCpuLimit, withinLimit } from "../../../../../../scripts/test-time.ts";
import { watchStalls } from "../../stalls-for-tests.ts";
import { ContainedRoot } from "../root/contained-root.ts";
import { found, glob, grep, listed, makeTree } from "../tree-for-tests.ts";

/** Root may read everything. */
async function asNobody(act: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe("grep", () => {
  it("finds literal text, by path and line, directories where their slash puts them", async () => {
    const root = makeTree({
      "a/z.txt": "hit\nno\nhit 2",
      "a.txt": "hit",
      "a-b/x.txt": "hit",
      "B.txt": "a.c\nabc",
      "é.txt": "hit",
    });
    expect(await found(root, "hit")).toEqual([
      "/a-b/x.txt:1:hit",
      "/a.txt:1:hit",
      "/a/z.txt:1:hit",
      "/a/z.txt:3:hit 2",
      "/é.txt:1:hit",
    ]);
    expect(await found(root, "a.c")).toEqual(["/B.txt:1:a.c"]);
  });

  it("honours ignore files, nested and negated, and never enters .git", async () => {
    const root = makeTree({
      ".gitignore": "*.log\nnode_modules\n/build/\n",
      "x.log": "hit",
      "node_modules/a.js": "hit",
      "build/out.js": "hit",
      "sub/build/in.js": "hit",
      "sub/.gitignore": "!keep.log\n",
      "sub/keep.log": "hit",
      "sub/other.log": "hit",
      ".git/config": "hit",
      "sub/.git/config": "hit",
      ".env": "hit",
      ".ignore": ".env",
    });
    expect(await found(root, "hit")).toEqual([
      "/.env:1:hit",
      "/sub/build/in.js:1:hit",
      "/sub/keep.log:1:hit",
    ]);
    expect(await found(root, "hit", { respectGitignore: false })).toHaveLength(7);
  });

  it("searches the path it is given even where that is ignored, and applies the rules below it", async () => {
    const root = makeTree({
      ".gitignore": "node_modules\n*.log\n",
      "node_modules/p/a.js": "hit",
      "node_modules/p/a.log": "hit",
      "node_modules/p/node_modules/q.js": "hit",
      "one.log": "hit",
    });
    expect(await found(root, "hit", { path: "/node_modules/p" })).toEqual(["/node_modules/p/a.js:1:hit"]);
    expect(await found(root, "hit", { path: "/one.log" })).toEqual(["/one.log:1:hit"]);
  });

  it("applies the rules from above to a search further down", async () => {
    const root = makeTree({
      ".gitignore": "*.log\n/src/gen\n",
      "src/a.ts": "hit",
      "src/a.log": "hit",
      "src/gen/b.ts": "hit",
      "src/deep/c.ts": "hit",
    });
    expect(await found(root, "hit", { path: "/src" })).toEqual(["/src/a.ts:1:hit", "/src/deep/c.ts:1:hit"]);
  });

  it("filters by glob", async () => {
    const root = makeTree({ "a.ts": "hit", "src/b.ts": "hit", "src/c.js": "hit", "src/x/d.ts": "hit" });
    expect(await found(root, "hit", { glob: "*.ts" })).toEqual([
      "/a.ts:1:hit",
      "/src/b.ts:1:hit",
      "/src/x/d.ts:1:hit",
    ]);
    expect(await found(root, "hit", { glob: "src/*.{ts,js}" })).toEqual([
      "/src/b.ts:1:hit",
      "/src/c.js:1:hit",
    ]);
    expect(await found(root, "hit", { path: "/src", glob: "x/*" })).toEqual(["/src/x/d.ts:1:hit"]);
    expect(await found(root, "hit", { path: "/src/c.js", glob: "*.ts" })).toEqual([]);
  });

  it("stops at the cap and says so only if there is more", async () => {
    const root = makeTree({ "a.txt": "hit\nhit", "b.txt": "no", "c.txt": "hit\n", "d/e.txt": "hit" });
    expect(await grep(root, "hit", { maxCount: 4 })).toEqual({ matches: expect.any(Array) });
    const capped = await grep(root, "hit", { maxCount: 3 });
    expect(capped).toMatchObject({ truncated: true });
    expect(capped.matches).toHaveLength(3);
    expect(await grep(root, "hit", { maxCount: 1 })).toMatchObject({ truncated: true });
  });

  it("reports files over the limit, if the filter lets them in, and skips binary ones silently", async () => {
    const root = makeTree({
      "big.txt": `hit${"x".repeat(5000)}`,
      "huge.txt": "hit",
      "edge.txt": `${"x".repeat(997)}hit`,
      "binary.dat": "\0hit",
      "late.dat": `${"x".repeat(8192)}\0hit`,
      "small.txt": "hit",
    });
    truncateSync(join(root.hostPath, "huge.txt"), 3_000_000_000);
    const result = await grep(root, "hit", { maxFileSizeBytes: 1000 });
    expect("skipped" in result && result.skipped).toEqual([
      { path: "/big.txt", code: "TOO_LARGE" },
      { path: "/huge.txt", code: "TOO_LARGE" },
      { path: "/late.dat", code: "TOO_LARGE" },
    ]);
    expect(result.matches?.map(({ path }) => path)).toEqual(["/edge.txt", "/small.txt"]);
    expect(await grep(root, "hit", { maxFileSizeBytes: 1000, glob: "s*.txt" })).not.toHaveProperty("skipped");
    expect((await grep(root, "hit")).matches?.map(({ path }) => path)).toContain("/late.dat");
    expect(await grep(root, "hit", { path: "/huge.txt" })).toEqual({
      matches: [],
      skipped: [{ path: "/huge.txt", code: "TOO_LARGE" }],
    });
  });

  it("follows no link, waits for no pipe", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true }));
    writeFileSync(join(outside, "secret.txt"), "hit");
    const root = makeTree({
      "real/a.txt": "hit",
      "link.txt": { link: "real/a.txt" },
      linked: { link: "real" },
      out: { link: outside },
      "secret.txt": { link: join(outside, "secret.txt") },
      loop: { link: "." },
      "sub/.gitignore": { link: join(outside, "secret.txt") },
      "sub/hit": "hit",
    });
    execFileSync("mkfifo", [join(root.hostPath, "pipe")]);
    expect(await found(root, "hit")).toEqual(["/real/a.txt:1:hit", "/sub/hit:1:hit"]);
    expect(await grep(root, "hit", { path: "/out" })).toMatchObject({ code: "OUTSIDE_ROOT" });
    expect(await grep(root, "hit", { path: "/pipe" })).toMatchObject({ code: "SPECIAL_FILE" });
    expect(await found(root, "hit", { path: "/linked" })).toEqual(["/linked/a.txt:1:hit"]);
  });

  it("takes odd names for what they are and reports names that are not UTF-8", async () => {
    const root = makeTree({
      "a:12:b.txt": "hit",
      "new\nline.txt": "hit",
      "quo\"te'.txt": "hit",
      "-rf": "hit",
      "$(id)": "hit",
      "5 files searched": "hit",
      "e\u0301.txt": "hit",
    });
    writeFileSync(Buffer.concat([Buffer.from(`${root.hostPath}/bad`), Buffer.from([0xff, 0x2e])]), "hit");
    mkdirSync(Buffer.concat([Buffer.from(`${root.hostPath}/dir`), Buffer.from([0xff])]));
    const result = await grep(root, "hit");
    expect(result.matches?.map(({ path }) => path)).toEqual([
      "/$(id)",
      "/-rf",
      "/5 files searched",
      "/a:12:b.txt",
      "/new\nline.txt",
      "/quo\"te'.txt",
      "/\u00e9.txt",
    ]);
    expect("skipped" in result && result.skipped).toEqual([
      { path: "/bad\uFFFD.", code: "INVALID_PATH" },
      { path: "/dir\uFFFD", code: "INVALID_PATH" },
    ]);
  });

  it("reports what may not be read", async () => {
    const { hostPath } = makeTree({
      "ok.txt": "hit",
      "secret.txt": "hit",
      "closed/a.txt": "hit",
      "z/ok.txt": "hit",
    });
    const root = new ContainedRoot(hostPath, { strategy: "path" });
    chmodSync(hostPath, 0o755);
    chmodSync(join(hostPath, "secret.txt"), 0);
    chmodSync(join(hostPath, "closed"), 0);
    await asNobody(async () => {
      const result = await grep(root, "hit");
      expect(result).toMatchObject({
        matches: [{ path: "/ok.txt" }, { path: "/z/ok.txt" }],
        skipped: [
          { path: "/closed", code: "PERMISSION_DENIED" },
          { path: "/secret.txt", code: "PERMISSION_DENIED" },
        ],
      });
      expect(await grep(root, "hit", { path: "/closed" })).toMatchObject({
        code: "PERMISSION_DENIED",
      });
      expect(await grep(root, "hit", { path: "/secret.txt" })).toMatchObject({
        code: "PERMISSION_DENIED",
      });
      expect(await glob(root, "**")).toMatchObject({
        skipped: [{ path: "/closed", code: "PERMISSION_DENIED" }],
      });
    });
    chmodSync(join(hostPath, "closed"), 0o700);
  });

  it("says that a path is not there", async () => {
    const root = makeTree({ "a.txt": "hit" });
    expect(await grep(root, "hit", { path: "/none" })).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await grep(root, "hit", { path: "/a.txt/b" })).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await grep(root, "")).toMatchObject({ code: "INVALID_PATTERN" });
    expect(await grep(root, "hit", { glob: "../*" })).toMatchObject({ code: "INVALID_PATH" });
  });

  it("throws when it is aborted", async () => {
    const root = makeTree(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`d${at}/f`, "hit"])));
    const aborted = AbortSignal.abort(new Error("stop"));
    await expect(grep(root, "hit", { signal: aborted })).rejects.toThrow("stop");
    const controller = new AbortController();
    const running = grep(root, "nowhere", { signal: controller.signal, timeoutSeconds: 600 });
    setImmediate(() => controller.abort(new Error("stop")));
    await running.then(
      (result) => expect(result.matches).toEqual([]),
      (error: Error) => expect(error.message).toBe("stop"),
    );
  });

  it("gives what it has when the time is up", async () => {
    const root = makeTree(
      Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`f${at}`, "hit\n".repeat(50)])),
    );
    const result = await grep(root, "hit", { timeoutSeconds: 0.001 });
    expect(result).toMatchObject({ truncated: true, timedOut: true });
    expect(await glob(root, "*", { timeoutSeconds: 0.000001 })).toMatchObject({
      truncated: true,
      timedOut: true,
    });
  });

  it.runIf(process.platform === "linux")("leaves no directory open, however it ends", async () => {
    const root = makeTree(
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`d${at % 9}/e/f${at}`, "hit"])),
    );
    const opened = (): number => readdirSync("/proc/self/fd").length;
    const before = opened();
    for (let round = 0; round < 30; round++) {
      await grep(root, "hit", { maxCount: 3 });
      await grep(root, "nowhere", { timeoutSeconds: 0.0001 });
      await glob(root, "**", { timeoutSeconds: 0.0001 });
      await grep(root, "nowhere", { path: "/d3" });
      const signal = AbortSignal.timeout(1);
      await grep(root, "nowhere", { signal }).catch(() => undefined);
    }
    await until(() => opened() - before < 15);
  });

  it("copes with a huge line and a deep tree", async () => {
    const root = makeTree({ "line.txt": `${"x".repeat(3_000_000)}hit${"y".repeat(3_000_000)}`, "d/": "" });
    let deep = join(root.hostPath, "d");
    for (let depth = 0; depth < 150; depth++) deep = join(deep, "deeper");
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "f.txt"), "hit");
    const result = await grep(root, "hit");
    expect(result.matches?.map(({ text }) => text.length)).toEqual([3, 6_000_003]);
  });

  it("RD-02: literal text that looks like a hostile expression, and 10 MB of pattern, over a 1 MB line", async () => {
    const root = makeTree({ "line.txt": "a".repeat(1_000_000), "b.txt": "(a+)+$" });
    await withinLimit("five searches for text that looks hostile", async () => {
      expect(await found(root, "(a+)+$")).toEqual(["/b.txt:1:(a+)+$"]);
      expect(await grep(root, "a".repeat(10_000_000))).toMatchObject({ code: "INVALID_PATTERN" });
      for (const pattern of [
        `b${"a".repeat(9000)}`,
        `${"a".repeat(9000)}b`,
        `${"a".repeat(4500)}b${"a".repeat(4500)}`,
      ])
        expect(await found(root, pattern)).toEqual([]);
    });
  });

  it("FS-05, FS-06: finds nothing outside of the root", async () => {
    const root = makeTree({ "a.txt": "hit" });
    const inner = new ContainedRoot(join(root.hostPath, "none"));
    expect(await grep(inner, "hit")).toMatchObject({ code: "FILE_NOT_FOUND" });
    for (const pattern of ["../**", "/../../../etc/passwd", "{..,x}/**", "**/../../**"]) {
      expect(await glob(root, pattern)).toMatchObject({ code: "INVALID_PATH" });
      expect(await grep(root, "root", { glob: pattern })).toMatchObject({ code: "INVALID_PATH" });
    }
    for (const path of ["/../workspace-evil", "/../../../../etc"]) {
      const result = await grep(root, "root", { path });
      expect(result.error ?? result.matches).toSatisfy(
        (value) => typeof value === "string" || value.length === 0,
      );
    }
  });
});

it("lets others run while it searches, and keeps little in memory", async () => {
  const text = `${"some words that fill a line\n".repeat(2000)}needle\n`;
  const root = makeTree(
    Object.fromEntries(Array.from({ length: 800 }, (_, at) => [`d${at % 20}/f${at}.txt`, text])),
  );
  const stalls = watchStalls();
  const before = process.memoryUsage().rss;
  expect(await found(root, "needle")).toHaveLength(800);
  stalls.stop();
  expect(stalls.longest()).toBeLessThan(250);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
});

describe("glob", () => {
  it("lists files with their size and time, by path", async () => {
    const root = makeTree({ "b.ts": "12345", "a/x.ts": "1", "a.ts": "12", "a/y.js": "", "dir.ts/": "" });
    const result = await glob(root, "**/*.ts");
    expect(result.files).toEqual(
      ["/a.ts", "/a/x.ts", "/b.ts"].map((path) => {
        const stats = statSync(root.hostPath + path);
        return { path, is_dir: false, size: stats.size, modified_at: stats.mtime.toISOString() };
      }),
    );
    expect(await listed(root, "*.js")).toEqual(["/a/y.js"]);
    expect(await listed(root, "*.ts", { path: "/a" })).toEqual(["/a/x.ts"]);
  });

  it("leaves out what is ignored, unless the pattern names the directory", async () => {
    const root = makeTree({
      ".gitignore": "node_modules\n*.log",
      "node_modules/p/a.js": "",
      "node_modules/p/a.log": "",
      "src/a.js": "",
      ".git/a.js": "",
    });
    expect(await listed(root, "**/*.js")).toEqual(["/src/a.js"]);
    expect(await listed(root, "node_modules/p/*")).toEqual(["/node_modules/p/a.js"]);
    expect(await listed(root, "**/*.js", { respectGitignore: false })).toEqual([
      "/node_modules/p/a.js",
      "/src/a.js",
    ]);
  });

  it("follows no link and needs a directory", async () => {
    const root = makeTree({ "a/x.ts": "", l: { link: "a" }, "f.ts": { link: "a/x.ts" } });
    expect(await listed(root, "**")).toEqual(["/a/x.ts"]);
    expect(await glob(root, "*", { path: "/a/x.ts" })).toMatchObject({ code: "NOT_A_DIRECTORY" });
    expect(await glob(root, "*", { path: "/none" })).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it.each(["{a,b}".repeat(18), "{1..5000000}", `${"+(*)".repeat(8)}z`, `${"**/".repeat(200)}z`])(
    "RD-01: answers %.30s quickly",
    async (pattern) => {
      const root = makeTree(
        Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`d${at % 9}/a/a/a/f${at}`, "a"])),
      );
      await withinCpuLimit("a hostile glob over 200 files", async () => {
        const result = await glob(root, pattern);
        expect(result.error === undefined ? result.files : []).toEqual([]);
        await grep(root, "a", { glob: pattern });
      });
    },
  );
});
