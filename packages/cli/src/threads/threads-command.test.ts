import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { directoryWith, homeOf, runBinary } from "../test-support/run-binary.ts";
import { threadsIn } from "../test-support/threads-in.ts";

const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;

/** A directory whose database has one thread, made by the offline model. */
async function withThread(): Promise<{ cwd: string; id: string }> {
  const cwd = await directoryWith({ "a.txt": "x" });
  const { stderr } = await runBinary(["run", "Look around and write report.md"], { cwd });
  return { cwd, id: /^thread: (\S+)$/m.exec(stderr)?.[1] ?? "none" };
}

describe("deepwright threads", () => {
  it("loads neither the agent nor its libraries, and help not even the database", async () => {
    const cwd = await directoryWith({ "file.txt": "x" });
    const loadedBy = async (...args: string[]): Promise<string[]> => {
      const directory = join(cwd, args.join("-"));
      await runBinary(["threads", ...args], { cwd, env: { NODE_V8_COVERAGE: directory } });
      const reports = await Promise.all(
        (await readdir(directory)).map((name) => readFile(join(directory, name))),
      );
      return reports.flatMap((text) =>
        JSON.parse(String(text)).result.map(({ url }: { url: string }) => url),
      );
    };
    expect((await loadedBy("--help")).filter((url) => /checkpoint|langchain/.test(url))).toEqual([]);
    const urls = await loadedBy("import", "file.txt");
    expect(urls.some((url) => /checkpoint\/(src|dist)\/sqlite\//.test(url))).toBe(true);
    expect(
      urls.filter((url) =>
        /node_modules\/(langchain|@langchain\/langgraph)\/|(packages\/core|deepwright)\/(src|dist)\/index/.test(
          url,
        ),
      ),
    ).toEqual([]);
  });

  it.each<[string, string[], string]>([
    ["no action", [], "Usage: deepwright threads"],
    ["an unknown action", ["fly"], "unknown command 'fly'"],
    ["a thread where there are none", ["show", "x"], "There are no threads yet:"],
    ["a file that is no thread", ["import", "file.txt"], "Line 1 of the thread file is not JSON."],
  ])("%s is wrong usage: 2, with a hint, and nothing on stdout", async (_, args, message) => {
    const cwd = await directoryWith({ "file.txt": "x" });
    const result = await runBinary(["threads", ...args], { cwd });
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
  });

  it.each<[string, string[], string]>([
    ["a database that is not there", ["list", "--db", "none.db"], "There is no database at "],
    ["a database of another kind", ["list", "--db", "mysql://x"], "Unknown kind of database: 'mysql'"],
    ["a limit that is none", ["list", "--limit", "many"], "--limit must be a whole number"],
    ["nothing to prune", ["prune", "--yes"], "Give --keep-latest, --older-than, --max-bytes or --erase."],
    ["an age that is none", ["prune", "--older-than", "old"], "--older-than must be an age such as 30d"],
    ["a file that is not there", ["import", "none.jsonl"], "'none.jsonl' cannot be read: ENOENT"],
  ])("%s is wrong usage: 2, with nothing on stdout", async (_, args, message) => {
    const result = await threadsIn(homeOf(await directoryWith({})), args);
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
  });

  it("exports to a file for its owner alone, and replaces none without being told", async () => {
    const { cwd, id } = await withThread();
    const threads = (...args: string[]) => threadsIn(homeOf(cwd), args);
    const [file, cutFile] = [join(cwd, "thread.jsonl"), join(cwd, "cut.jsonl")];
    expect(await threads("export", id, file)).toMatchObject({ code: 0 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const again = await threads("export", id, file);
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toContain(`The file '${file}' already exists. Replace it with --force.`);
    expect((await threads("export", id, file, "--force")).code).toBe(0);
    expect((await readdir(cwd)).sort()).toEqual(["a.txt", "report.md", "thread.jsonl"]);
    expect((await threads("import", file)).stderr).toContain(`There is a thread '${id}' already.`);
    const cut = await readFile(file, "utf8");
    await writeFile(cutFile, cut.slice(0, cut.length / 2));
    expect((await threads("import", cutFile, "--as", "cut")).code).toBe(2);
    expect(JSON.parse((await threads("list", "--json")).stdout).threads).toHaveLength(1);
  });

  it("erases what was deleted from the bytes of the file", async () => {
    const { cwd, id } = await withThread();
    const threads = (...args: string[]) => threadsIn(homeOf(cwd), args);
    const bytes = () => readFileSync(join(homeOf(cwd), "state.db"), "latin1");
    expect(bytes()).toContain("Look around");
    expect((await threads("delete", id, "--yes")).code).toBe(0);
    const erased = await threads("prune", "--erase", "--yes");
    expect(erased.stdout).toBe("Rewrote the file: no deleted data is left in it.\n");
    expect(bytes()).not.toContain(id);
    expect(bytes()).not.toContain("Look around");
  });

  it("renames, copies, prunes, backs up and moves", async () => {
    const { cwd, id } = await withThread();
    const threads = (...args: string[]) => threadsIn(homeOf(cwd), args);
    const [copy, other] = [join(cwd, "copy.db"), join(cwd, "other.db")];
    await threads("rename", id, "A\x1b[2J", "new\u202ename");
    const list = await threads("list");
    expect(list.stdout).toContain("A\\x1b[2J new\\u202ename\n");
    expect(list.stdout + list.stderr).not.toMatch(CONTROL);
    expect((await threads("copy", id, `${id}-copy`)).code).toBe(0);
    const both = await threads("show", id.slice(0, 6));
    expect(both.stderr).toContain(`Several threads begin with '${id.slice(0, 6)}': `);
    expect(both.code).toBe(2);
    expect((await threads("prune", "--keep-latest", "1", "--yes")).stdout).toMatch(/^Removed \d+ steps: /);
    expect(JSON.parse((await threads("show", id, "--json")).stdout).steps).toHaveLength(1);
    expect((await threads("backup", copy)).code).toBe(0);
    const moved = await threads("move", "--to", other);
    expect(moved.stdout).toContain("Copied 2 threads to ");
    expect((await threads("move", "--to", other)).stderr).toContain("Not changed there: 2 threads");
    for (const db of [copy, other]) {
      const { stdout } = await threadsIn(homeOf(cwd), ["list", "--json"], db);
      expect(
        JSON.parse(stdout)
          .threads.map(({ threadId }: any) => threadId)
          .sort(),
      ).toEqual([id, `${id}-copy`]);
    }
    const goneOn = await runBinary(["run", "More", "--db", other, "--thread", id], { cwd });
    expect(goneOn.code).toBe(0);
    expect((await threads("move", "--to", join(homeOf(cwd), "state.db"))).code).toBe(2);
  });
});

describe("from SQLite to Postgres", () => {
  it("is one command, and runs go on there", async () => {
    const database = await testDatabase();
    onTestFinished(() => database.drop());
    const { cwd, id } = await withThread();
    const moved = await threadsIn(homeOf(cwd), ["move", "--to", database.url]);
    expect(moved.stdout).toMatch(/^Copied 1 thread to postgres/);
    expect(moved.stdout).not.toContain(new URL(database.url).password || "no password");
    const env = { DEEPWRIGHT_DB: database.url };
    const goneOn = await runBinary(["run", "More", "--thread", id.slice(0, 8)], { cwd, env });
    expect(goneOn.stderr).toContain("Thread: 20 messages\n");
    const { stdout } = await threadsIn(homeOf(cwd), ["show", id, "--json"], database.url);
    expect(JSON.parse(stdout).messageCount).toBeGreaterThan(20);
  });

  it("a server that is not there is said, without the password", async () => {
    const url = "postgres://someone:sesame@127.0.0.1:1/threads";
    const result = await runBinary(["threads", "list", "--db", url], { cwd: await directoryWith({}) });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("127.0.0.1:1/threads cannot be used");
    expect(result.all).not.toContain("sesame");
  });
});

describe("where a run keeps its thread", () => {
  it.each<[string, string[], string]>([
    ["an unknown thread", ["--thread", "nobody", "x"], "There is no thread 'nobody'"],
    [
      "ephemeral and a thread",
      ["--thread", "x", "--ephemeral", "x"],
      "--ephemeral and --thread exclude each other.",
    ],
    [
      "ephemeral and a database",
      ["--db", "x.db", "--ephemeral", "x"],
      "--ephemeral and --db exclude each other.",
    ],
  ])("%s is wrong usage", async (_, args, message) => {
    const result = await runBinary(["run", ...args], { cwd: await directoryWith({}) });
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
  });

  it("a home that cannot be made is said, with what to do", async () => {
    const cwd = await directoryWith({ "a-file": "x" });
    const env = { DEEPWRIGHT_HOME: join(cwd, "a-file", "home") };
    const result = await runBinary(["run", "Look"], { cwd, env });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("Threads cannot be stored: ");
    expect(result.stderr).toContain(
      "Set DEEPWRIGHT_HOME to a directory you can write to, or run with --ephemeral",
    );
    expect((await runBinary(["run", "Look", "--ephemeral"], { cwd, env })).code).toBe(0);
  });

  it("so is one whose database cannot be written", async () => {
    const cwd = await directoryWith({});
    await mkdir(join(homeOf(cwd), "state.db"), { recursive: true });
    const result = await runBinary(["run", "Look"], { cwd });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("Set DEEPWRIGHT_HOME");
  });
});
