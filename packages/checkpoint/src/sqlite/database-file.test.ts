import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { putStep, readStep, tree, uuid } from "../storage/content-for-tests.ts";
import { prepareFile } from "./database-file.ts";
import { scratchDirectory, scratchFile } from "./scratch-for-tests.ts";
import { SqliteSql } from "./sqlite-sql.ts";
import { openSqliteStorage, type SqliteStorage } from "./sqlite-storage.ts";

const PAGE = 4_096;

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

async function fill(storage: SqliteStorage, steps: number, from = 1): Promise<void> {
  for (let n = from; n < from + steps; n++) {
    await putStep(storage, { threadId: "t", id: uuid(n), content: [tree(`step ${n} `.padEnd(3_000, "x"))] });
  }
}

/** Overwrites pages from the middle of the file with what is no page. */
function damage(path: string, pages: number): void {
  const middle = Math.floor(statSync(path).size / PAGE / 2);
  const file = openSync(path, "r+");
  for (let page = middle; page < middle + pages; page++)
    writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, page * PAGE);
}

/** Whether another process takes the file for one that was left open by a process that ended. */
async function looksForgotten(path: string): Promise<boolean> {
  const module = new URL("./database-file.ts", import.meta.url).href;
  const program = `import(${JSON.stringify(module)}).then((m) => console.log(m.needsCheck(process.argv[1], 0)))`;
  const flags = ["--import", "tsx", "--conditions=source", "-e", program, path];
  return (await promisify(execFile)(process.execPath, flags)).stdout.trim() === "true";
}

describe("the file of a database", () => {
  it("ST-01 is readable by its owner only, with its log, in a directory of its own", async () => {
    const directory = join(scratchDirectory(), "new", "storage");
    const path = join(directory, "state.db");
    const storage = await openSqliteStorage(path);
    await fill(storage, 1);
    expect(modeOf(directory)).toBe(0o700);
    for (const end of ["", "-wal", "-shm"]) expect(modeOf(path + end)).toBe(0o600);
    await storage.close();
  });

  it("ST-01 is made readable by its owner only if it was not; a directory that was there stays", async () => {
    const directory = join(scratchDirectory(), "shared");
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    const path = join(directory, "state.db");
    writeFileSync(path, "");
    chmodSync(path, 0o644);
    const storage = await openSqliteStorage(path);
    await fill(storage, 1);
    for (const end of ["", "-wal", "-shm"]) expect(modeOf(path + end)).toBe(0o600);
    expect(modeOf(directory)).toBe(0o755);
    await storage.close();
  });

  it.each(["state.db", ""])("is not a directory, which stays open to whom it was (%j)", async (name) => {
    const directory = join(scratchDirectory(), "project");
    mkdirSync(join(directory, name), { recursive: true });
    chmodSync(join(directory, name), 0o755);
    await expect(openSqliteStorage(join(directory, name))).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("it is not a file"),
    });
    expect(modeOf(join(directory, name))).toBe(0o755);
  });

  it("keeps the locks of this process while it is opened a second time", async () => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path);
    await fill(storage, 1);
    prepareFile(path);
    expect(await looksForgotten(path)).toBe(false);
    await storage.close();
  });

  it("ST-01 a backup is readable by its owner only", async () => {
    const storage = await openSqliteStorage(scratchFile());
    const copy = join(scratchDirectory(), "copy.db");
    await storage.backup(copy);
    expect(modeOf(copy)).toBe(0o600);
    await storage.close();
  });

  it("R-40 damage is found when it is opened, a backup restores it, and other files are fine", async () => {
    const path = scratchFile();
    const other = scratchFile();
    const backup = join(scratchDirectory(), "backup.db");
    const storage = await openSqliteStorage(path);
    await fill(storage, 100);
    await storage.backup(backup);
    await storage.close();
    damage(path, 4);
    const error = await openSqliteStorage(path).catch((reason) => reason);
    expect(error).toMatchObject({ code: "STORAGE_CORRUPT", hint: expect.stringContaining("backup") });
    expect(error.message).toContain(path);
    const fine = await openSqliteStorage(other);
    await fill(fine, 1);
    await fine.close();
    copyFileSync(backup, path);
    const restored = await openSqliteStorage(path);
    expect((await readStep(restored, "t"))?.content).toEqual([tree("step 100 ".padEnd(3_000, "x"))]);
    await fill(restored, 1, 101);
    expect((await restored.thread("t"))?.checkpointCount).toBe(101);
    await restored.close();
  });

  it.each([
    [
      "a damaged header",
      (path: string) => writeSync(openSync(path, "r+"), Buffer.alloc(100, 0x5a), 0, 100, 0),
    ],
    ["a file of something else", (path: string) => writeFileSync(path, "This is a letter. ".repeat(500))],
    ["a file cut short", (path: string) => writeFileSync(path, readFileSync(path).subarray(0, PAGE * 5))],
  ])("R-40 %s is found when it is opened", async (_name, harm) => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path);
    await fill(storage, 50);
    await storage.close();
    harm(path);
    await expect(openSqliteStorage(path)).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  });

  it("of a later version of this library is refused in words and left as it is", async () => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path);
    await fill(storage, 1);
    await storage.close();
    const sql = await SqliteSql.open(path);
    const stamp = (version: number) =>
      sql.write(async (session) =>
        session.run("UPDATE dw_meta SET value = $1 WHERE name = 'version:threads'", [version]),
      );
    await stamp(7);
    await expect(openSqliteStorage(path)).rejects.toMatchObject({
      code: "STORAGE_TOO_NEW",
      message: expect.stringContaining("version 7"),
    });
    await stamp(2);
    const again = await openSqliteStorage(path);
    expect((await again.thread("t"))?.checkpointCount).toBe(1);
    await again.close();
    await sql.close();
  });

  it("a directory, or a place nobody may write to, is refused in words", async () => {
    await expect(openSqliteStorage(scratchDirectory())).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
    });
    await expect(openSqliteStorage("/proc/none/state.db")).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
    });
  });

  it("a file that cannot grow gives STORAGE_FULL, keeps what it has, and goes on when there is space", async () => {
    const sql = await SqliteSql.open(scratchFile());
    const insert = (text: string) =>
      sql.write(async (session) => session.run("INSERT INTO notes VALUES ($1)", [text]));
    await sql.write(async (session) => session.run("CREATE TABLE notes (text TEXT)"));
    await insert("first");
    const limit = (pages: number) =>
      sql.read(async (session) => session.all(`PRAGMA max_page_count = ${pages}`));
    await limit(4);
    const written = sql.bytesWritten;
    const error = await insert("x".repeat(100_000)).catch((reason) => reason);
    expect(error).toMatchObject({ code: "STORAGE_FULL", hint: expect.stringContaining("free space") });
    expect(sql.bytesWritten).toBe(written);
    await limit(1_000);
    await insert("second");
    const rows = await sql.read(async (session) => session.all("SELECT text FROM notes"));
    expect(rows).toEqual([{ text: "first" }, { text: "second" }]);
    await sql.close();
  });
});

describe("a backup", () => {
  it("is a whole copy, made while the database is in use, and never overwrites a file", async () => {
    const path = scratchFile();
    const copy = join(scratchDirectory(), "copy.db");
    const storage = await openSqliteStorage(path);
    await fill(storage, 20);
    const later = fill(storage, 20, 21);
    await storage.backup(copy);
    await expect(storage.backup(copy)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(storage.backup(path)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(storage.backup("/none/copy.db")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    await later;
    const opened = await openSqliteStorage(copy);
    const count = (await opened.thread("t"))?.checkpointCount ?? 0;
    expect(count).toBeGreaterThanOrEqual(20);
    expect(count).toBeLessThanOrEqual(40);
    expect((await readStep(opened, "t", uuid(20)))?.content).toHaveLength(1);
    await opened.close();
    await storage.close();
  });

  it("and deleting give the space back to the file system", async () => {
    const storage = await openSqliteStorage(scratchFile());
    const empty = await storage.size();
    await fill(storage, 200);
    const full = await storage.size();
    expect(full).toBeGreaterThan(600_000);
    await storage.prune({ keepLatest: 100, now: 1 });
    expect(await storage.size()).toBeLessThan(full * 0.6);
    await storage.deleteThread("t");
    expect(await storage.size()).toBeLessThan(empty * 1.5);
    await storage.close();
  });
});
