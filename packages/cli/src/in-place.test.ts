import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Answer, providerServer } from "./test-support/provider-server.ts";
import { type BinaryResult, directoryWith, homeOf, runBinary } from "./test-support/run-binary.ts";
import { threadsIn } from "./test-support/threads-in.ts";

const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
const DONE: Answer = { text: ["Done."] };

function calls(name: string, args: Record<string, unknown>): Answer {
  return { call: { name, args } };
}

function writes(path: string, content: string): Answer {
  return calls("write_file", { file_path: path, content });
}

function edits(path: string, old: string, now: string): Answer {
  return calls("edit_file", { file_path: path, old_string: old, new_string: now });
}

/** A result with the texts the model received, one per turn. */
interface Told extends BinaryResult {
  readonly told: readonly string[];
}

async function run(
  cwd: string,
  answers: readonly Answer[],
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Told> {
  const server = await providerServer([...answers, DONE]);
  onTestFinished(() => server.close());
  const keys = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
  const result = await runBinary(["run", "Work", ...args], { cwd, env: { ...keys, ...env } });
  return { ...result, told: server.asked().map(({ body }) => JSON.stringify(body)) };
}

function endOf({ stdout }: BinaryResult): Record<string, unknown> {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "").data;
}

/** One hash of all names, modes, times and contents below a directory. */
async function fingerprint(directory: string): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(directory, { recursive: true })).sort()) {
    const path = join(directory, name);
    const stats = await lstat(path);
    hash.update(`${name}\0${stats.mode}\0${stats.mtimeMs}\0${stats.ino}\0`);
    if (stats.isFile()) hash.update(await readFile(path));
    if (stats.isSymbolicLink()) hash.update(await readlink(path));
  }
  return hash.digest("hex");
}

describe("a run works in the directory itself", () => {
  it("edits in place: mode, line ends and byte order mark stay", async () => {
    const cwd = await directoryWith({ "run.sh": "\ufeffecho old\r\necho two\r\n" });
    await chmod(join(cwd, "run.sh"), 0o750);
    const result = await run(cwd, [edits("/run.sh", "echo old\necho two", "echo new\necho three")]);
    expect(result.stderr).toContain(`Changes:\n  ~ /run.sh\nWrote 1 file in ${cwd}\n`);
    expect(await readFile(join(cwd, "run.sh"), "utf8")).toBe("\ufeffecho new\r\necho three\r\n");
    expect((await stat(join(cwd, "run.sh"))).mode & 0o777).toBe(0o750);
    expect(result.told[0]).toContain("the user's own directory");
  });

  it("follows no link that leads out of it", async () => {
    const outside = await directoryWith({ "secret.txt": "untouched" });
    const cwd = await directoryWith({ "a.txt": "x" });
    await symlink(outside, join(cwd, "way-out"));
    const result = await run(cwd, [
      writes("/way-out/new.txt", "evil"),
      edits("/way-out/secret.txt", "untouched", "evil"),
      calls("read_file", { file_path: "/way-out/secret.txt" }),
      calls("read_file", { file_path: "/../secret.txt" }),
    ]);
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("untouched");
    expect(result.told.at(-1)).not.toContain("1│untouched");
    expect(result.all).not.toContain(outside);
    expect(result.stderr).not.toContain("Changes:");
  });

  it("what changed and changed back is no change, and deletions are told", async () => {
    const cwd = await directoryWith({ "a.txt": "one", "sub/b.txt": "b", "sub/c.txt": "c" });
    const result = await run(cwd, [
      edits("/a.txt", "one", "two"),
      edits("/a.txt", "two", "one"),
      calls("delete", { file_path: "/sub" }),
    ]);
    expect(result.stderr).toContain(`Changes:\n  - /sub/b.txt\n  - /sub/c.txt\nDeleted 2 files in ${cwd}\n`);
  });

  it("refuses files that steer other programs, and names them (FS-18)", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const answers = [writes("/.git/hooks/pre-commit", "evil"), writes("/.git/hooks/pre-commit", "evil")];
    const result = await run(cwd, [...answers, writes("/.mcp.json", "{}"), writes("/b", "b")]);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(
      `Wrote 1 file in ${cwd}\nNot written: /.git/hooks/pre-commit: needs approval\nNot written: /.mcp.json: needs approval\n`,
    );
    expect(result.told.at(-1)).toContain("a person has to approve");
    expect((await readdir(cwd)).sort()).toEqual(["a.txt", "b"]);
    const json = await run(cwd, [writes("/.envrc", "evil")], ["--json", "--quiet"]);
    expect(endOf(json)).toMatchObject({
      changes: { created: [], changed: [], deleted: [] },
      notWritten: [{ path: "/.envrc", reason: "needs approval" }],
    });
  });

  it("shows a model nothing of files that are made to hold keys", async () => {
    const key = "sk-live-sentinel";
    const cwd = await directoryWith({ ".env": `KEY=${key}\n`, "server.pem": key, "a.txt": "KEY=public" });
    await symlink(".env", join(cwd, "link.txt"));
    const result = await run(cwd, [
      calls("read_file", { file_path: "/.env" }),
      calls("read_file", { file_path: "/link.txt" }),
      calls("grep", { pattern: "KEY=" }),
      calls("grep", { pattern: "sk-", path: "/server.pem" }),
      edits("/.env", "KEY", "OTHER"),
      calls("ls", {}),
    ]);
    const told = result.told.at(-1) as string;
    expect(told).not.toContain(key);
    expect(told).toContain("permission denied for read on /.env: files of this name hold secrets");
    expect(told).toContain("KEY=public");
    expect(told).toContain("/server.pem");
    expect(await readFile(join(cwd, ".env"), "utf8")).toBe(`KEY=${key}\n`);
  });

  it("names with control characters are shown as escapes (TI-01)", async () => {
    const cwd = await directoryWith({ "evil\x1b[2J\u202e.txt": "old", "a.txt": "x" });
    const result = await run(cwd, [
      calls("delete", { file_path: "/evil\x1b[2J\u202e.txt" }),
      calls("ls", {}),
    ]);
    expect(result.all).not.toMatch(CONTROL);
    const directory = join(cwd, "dir\x1b[31m");
    await mkdir(directory);
    await writeFile(join(directory, "x"), "x");
    const inside = await run(cwd, [writes("/y", "y")], ["--in", directory]);
    expect(inside.all).not.toMatch(CONTROL);
    expect(inside.stderr).toContain("Wrote 1 file in ");
  });

  it("nothing is kept with --ephemeral, and what was written is told all the same", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const result = await run(cwd, [writes("/b", "b")], ["--ephemeral"]);
    expect(result.stderr).toContain(`  + /b\nWrote 1 file in ${cwd}\n`);
    expect(result.stderr).not.toContain("thread:");
    await expect(stat(homeOf(cwd))).rejects.toThrow("ENOENT");
  });

  it("warns in the home directory and in the root, quiet or not", async () => {
    const cwd = await directoryWith({});
    const atHome = await run(cwd, [], ["--quiet"], { HOME: cwd });
    expect(atHome.stderr).toBe(
      "Warning: this is your home directory: the agent can reach everything in it.\n",
    );
    const atRoot = await run(cwd, [], ["--in", "/"]);
    expect(atRoot.stderr).toContain("Warning: this is the root directory of the machine: ");
    expect(atRoot.code).toBe(0);
  });

  it("a thread that goes on in another directory says so", async () => {
    const cwd = await directoryWith({ "one/a": "a", "two/b": "b" });
    const first = await run(cwd, [writes("/c", "c")], ["--in", "one"]);
    const id = /^thread: (\S+)$/m.exec(first.stderr)?.[1] ?? "none";
    const [one, two] = [join(cwd, "one"), join(cwd, "two")];
    const second = await run(cwd, [writes("/d", "d")], ["--in", "two", "--thread", id]);
    expect(second.stderr).toContain(
      `Warning: the thread worked in ${one} until now; it continues in ${two}\n`,
    );
    expect(second.stderr).toContain(`Changes:\n  + /d\nWrote 1 file in ${two}\n`);

    const rewind = ["rewind", id, "-1"];
    const nowhere = await threadsIn(homeOf(cwd), [...rewind, "--dry-run"]);
    expect(nowhere.stdout).toContain(
      `  no file changes\nNot restored:\n  ? /c in ${one}: Its directory was not named as one to restore.\n`,
    );
    expect(nowhere.stdout).toContain("For files in another directory: --in DIR\n");
    const done = await runBinary(["threads", ...rewind, "--in", "two", "--yes"], { cwd });
    expect(done.stdout).toContain(`  - /d in ${two}\n`);
    expect(done.stdout).toMatch(/^Undo: .* --in two$/m);
    expect([await readdir(one), await readdir(two)]).toEqual([["a", "c"], ["b"]]);
  });
});

describe("--dry-run", () => {
  const FILES = { "a.txt": "one\ntwo\n", "gone.txt": "bye\n", "bytes.bin": new Uint8Array([0, 1, 2]) };
  const WORK = [
    edits("/a.txt", "two", "2"),
    writes("/new\x1b.md", "never"),
    writes("/new.md", "new\n"),
    calls("read_file", { file_path: "/new.md" }),
    calls("delete", { file_path: "/gone.txt" }),
    calls("delete", { file_path: "/bytes.bin" }),
  ];

  it("leaves the directory as it is, to the byte, and shows what would change", async () => {
    const cwd = await directoryWith(FILES);
    const before = await fingerprint(cwd);
    const result = await run(cwd, WORK, ["--dry-run"]);
    expect(await fingerprint(cwd)).toBe(before);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(`Workspace: ${cwd} (read only: --dry-run)\n`);
    expect(result.stderr).toContain(
      "Changes:\n  + /new.md\n  ~ /a.txt\n  - /bytes.bin\n  - /gone.txt\n" +
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n" +
        "Binary file /bytes.bin was deleted.\n" +
        "--- a/gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-bye\n" +
        "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,1 @@\n+new\n" +
        "Nothing was written: --dry-run\n",
    );
    expect(result.told.at(-1)).toContain("1│new");
    expect(result.told[0]).not.toContain('"name":"execute"');
    expect(result.stderr).not.toContain("thread:");
    expect(result.all).not.toMatch(CONTROL);
    await expect(stat(homeOf(cwd))).rejects.toThrow("ENOENT");
  });

  it("says the same to programs", async () => {
    const cwd = await directoryWith(FILES);
    expect(endOf(await run(cwd, WORK, ["--dry-run", "--json"]))).toMatchObject({
      exitCode: 0,
      dryRun: true,
      changes: { created: ["/new.md"], changed: ["/a.txt"], deleted: ["/bytes.bin", "/gone.txt"] },
      patches: [
        { path: "/a.txt", patch: expect.stringContaining("-two\n+2\n") },
        { path: "/bytes.bin", patch: null },
        { path: "/gone.txt" },
        { path: "/new.md" },
      ],
    });
  });

  it("refuses what a real run would refuse, and long diffs are cut", async () => {
    const cwd = await directoryWith({});
    const content = `${"x".repeat(5_000)}\n${"line\n".repeat(2_000)}`;
    const answers = [writes("/.git/hooks/pre-commit", "evil"), writes("/long.txt", content)];
    const { stderr } = await run(cwd, answers, ["--dry-run"]);
    expect(stderr).toContain("Not written: /.git/hooks/pre-commit: needs approval\n");
    expect(stderr).toContain("Changes:\n  + /long.txt\n--- /dev/null\n");
    expect(stderr).toContain("… and 1,504 more lines\n");
    expect(stderr.length).toBeLessThan(10_000);
  });

  it("a thread it goes on with stays as it was", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const first = await run(cwd, [writes("/b", "b")]);
    const id = /^thread: (\S+)$/m.exec(first.stderr)?.[1] ?? "none";
    const shown = async () => (await threadsIn(homeOf(cwd), ["show", id])).stdout;
    const before = await shown();
    const result = await run(cwd, [edits("/b", "b", "B")], ["--dry-run", "--thread", id.slice(0, 8)]);
    expect(result.told[0]).toContain("Successfully wrote to '/b'");
    expect(result.stderr).toContain("Thread: 4 messages\n");
    expect(result.stderr).toContain("  ~ /b\n");
    expect(await shown()).toBe(before);
    expect(await readFile(join(cwd, "b"), "utf8")).toBe("b");
  });
});
