import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { eventually } from "../../../../scripts/test-time.ts";
import { openDatabase } from "../../../checkpoint/src/sqlite/driver.ts";
import { startProgram } from "../../../checkpoint/src/sqlite/processes-for-tests.ts";
import { openRecords } from "./open-records.ts";
import type { RetiredThread, ServerRecords } from "./records.ts";
import { claimed, cron, finished, newThread, said, started, TTL } from "./suites/facts-for-tests.ts";
import { recordsSuite } from "./suites/records-suite-for-tests.ts";

let directory: string;
let path: string;
let records: ServerRecords;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "deepwright-records-"));
  path = join(directory, "state.db");
  records = await openRecords({ sqlite: path }, { lookEvery: 0.05 });
});

afterAll(async () => {
  await records.close();
  await rm(directory, { recursive: true, force: true });
});

recordsSuite("records in an SQLite file", {
  records: () => records,
  again: () => openRecords({ sqlite: path }, { lookEvery: 0.05 }),
  async edit(sql) {
    const database = openDatabase(path, { timeout: 5_000, enableForeignKeyConstraints: true });
    database.exec(sql);
    database.close();
  },
});

const PROGRAM = await testProgram(new URL("./suites/process-for-tests.ts", import.meta.url));

function linesOf(output: string, word: string): string[] {
  return output
    .split("\n")
    .filter((line) => line.startsWith(word))
    .map((line) => line.slice(word.length + 1));
}

describe("processes on one file", () => {
  test("share runs and crons, each done by one of them, and a reader elsewhere sees it all", async () => {
    const file = join(directory, "shared.db");
    const here = await openRecords({ sqlite: file }, { lookEvery: 0.1 });
    const threads = await Promise.all([1, 2, 3].map(() => newThread(here, "a")));
    const runs: string[] = [];
    for (let index = 0; index < 30; index += 1)
      runs.push(await started(here, "a", threads[index % 3] as string));
    for (let index = 0; index < 20; index += 1) await here.crons.put("a", cron({ cron_id: `c${index}` }));
    const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
    const changed = vi.fn();
    here.events.watch(runs.at(-1) as string, changed);
    const programs = [
      ...[1, 2].map(() => startProgram(PROGRAM, "work", file, ...threads)),
      ...[1, 2].map(() => startProgram(PROGRAM, "crons", file)),
    ];
    await Promise.all(programs.map((program) => program.ended));
    const output = programs.map((program) => program.output()).join("");
    expect(linesOf(output, "ended").sort()).toEqual(runs.toSorted());
    expect(linesOf(output, "took").sort()).toEqual(ids.toSorted());
    for (const threadId of threads) {
      const listed = await here.runs.list("a", threadId, { limit: 100, offset: 0 });
      expect(listed.every((run) => run.status === "success" && run.attempts === 1)).toBe(true);
    }
    await eventually(() => expect(changed.mock.calls.length).toBeGreaterThan(1));
    await here.close();
  });

  test("a run whose worker was killed is taken over at once, and one of a worker that lives is not", async () => {
    const threadId = await newThread(records, "a");
    const runId = await started(records, "a", threadId);
    const worker = startProgram(PROGRAM, "hold", path, threadId);
    await worker.said("claimed");
    expect(await records.runs.claimNext(threadId, "other", TTL)).toBeUndefined();
    expect(await records.runs.threadsToWakeUp(1000)).not.toContain(threadId);
    worker.child.kill("SIGKILL");
    await worker.ended;
    expect(await records.runs.requestCancel("a", runId, "interrupt")).toMatchObject({ status: "running" });
    expect(await records.runs.threadsToWakeUp(1000)).toContain(threadId);
    expect(await claimed(records, threadId, "other")).toMatchObject({
      run: { run_id: runId, attempts: 2, cancel: "interrupt" },
    });
  });
});

describe("a file", () => {
  test("has the records and the threads' own state together, and keeps them", async () => {
    const file = join(directory, "kept.db");
    const saver = await SqliteSaver.open(file);
    const first = await openRecords({ sqlite: file });
    const threadId = await newThread(first, "a");
    const runId = await started(first, "a", threadId);
    const claim = await claimed(first, threadId);
    await first.events.append(claim, [said("one")]);
    await first.close();
    await first.close();
    await saver.close();
    const second = await openRecords({ sqlite: file });
    expect(await second.events.append(claim, [said("two")])).toBe(2);
    expect(await finished(second, claim)).toBe(true);
    expect(await second.runs.get("a", runId)).toMatchObject({ status: "success", attempts: 1 });
    await second.close();
    await expect(second.runs.get("a", runId)).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
  });

  test("of an earlier version keeps its threads, which can be removed", async () => {
    const file = join(directory, "earlier.db");
    const before = await openRecords({ sqlite: file });
    const threadId = await newThread(before, "a");
    await before.close();
    const database = openDatabase(file, { timeout: 5_000, enableForeignKeyConstraints: true });
    database.exec("ALTER TABLE dw_srv_threads DROP COLUMN former_owner");
    database.exec("ALTER TABLE dw_srv_runs DROP COLUMN claim_ttl");
    database.exec("ALTER TABLE dw_srv_runs DROP COLUMN outcome");
    database.exec("ALTER TABLE dw_srv_hooks DROP COLUMN headers");
    database.exec("DROP TABLE dw_srv_tickets");
    database.exec("DROP INDEX dw_srv_runs_counted");
    for (const column of ["title", "name", "name_words", "words", "archived", "trashed_at", "kept_expiry"])
      database.exec(`ALTER TABLE dw_srv_threads DROP COLUMN ${column}`);
    database.exec("UPDATE dw_meta SET value = 7 WHERE name = 'version:server records'");
    database.close();
    const { threads, close } = await openRecords({ sqlite: file });
    expect(await threads.get("a", threadId)).toMatchObject({ incarnation: expect.any(Number) });
    const retired = (await threads.retire("a", threadId)) as RetiredThread;
    await threads.drop(retired);
    expect(await threads.isTaken(threadId)).toBe(false);
    await close();
  });

  test("is used by the published package too, whose modules are elsewhere", async () => {
    const main = await (await fetch(`${process.env.TEST_BROKER}/program`)).text();
    const script = `
      import { openRecords } from "@deepwright/server";
      const records = await openRecords({ sqlite: ${JSON.stringify(join(directory, "built.db"))} });
      console.log(await records.threads.count("a", {}));
      await records.close();
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
      cwd: resolve(main, "../../../../.."),
    });
    expect(stdout.trim()).toBe("0");
  });

  test("in memory is one of its own", async () => {
    const [one, two] = [await openRecords({ sqlite: ":memory:" }), await openRecords({ sqlite: ":memory:" })];
    const threadId = await newThread(one, "a");
    expect(await two.threads.get("a", threadId)).toBeUndefined();
    await one.close();
    await two.close();
  });

  test("that cannot be opened says so", async () => {
    await expect(openRecords({ sqlite: join(directory, "kept.db", "no", "file.db") })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
    });
  });
});
