import { expect, it } from "vitest";
import { SqlStorage } from "../sql/sql-storage.ts";
import type { ThreadFacts } from "../storage/storage.ts";
import { scratchFile } from "./scratch-for-tests.ts";
import { SqliteSql } from "./sqlite-sql.ts";

const PAGE = 50;
const ROUNDS = 5;
const PAGES_PER_ROUND = 100;

async function storageWith(threads: number): Promise<SqlStorage> {
  const sql = await SqliteSql.open(scratchFile());
  const storage = new SqlStorage(sql);
  await storage.start();
  await sql.write(async (session) => {
    for (let n = 0; n < threads; n++) {
      session.run(
        `INSERT INTO dw_threads (thread_id, epoch, claim_fence, created_at, updated_at, title, first_prompt,
          checkpoint_count, cwd) VALUES ($1, 1, 0, 1, $2, $3, $4, 1, $5)`,
        [`thread ${n}`, n % 997, `Title ${n}`, "prompt ".repeat(20), `/cwd/${n % 3}`],
      );
    }
  });
  return storage;
}

/** Milliseconds of processor time per full page, in the best of several rounds. */
async function pageCost(storage: SqlStorage, threads: number, cwd?: string): Promise<number> {
  const costs: number[] = [];
  while (costs.length < ROUNDS) {
    let [pages, milliseconds] = [0, 0];
    while (pages < PAGES_PER_ROUND) {
      const all = await listAll(storage, threads, cwd);
      pages += all.pages;
      milliseconds += all.milliseconds;
    }
    costs.push(milliseconds / pages);
  }
  return Math.min(...costs);
}

async function listAll(storage: SqlStorage, threads: number, cwd?: string) {
  let after: ThreadFacts | undefined;
  let seen = 0;
  for (let [pages, milliseconds] = [0, 0]; ; pages++) {
    const started = process.cpuUsage();
    const page = await storage.listThreads({ limit: PAGE, after, cwd });
    const { user, system } = process.cpuUsage(started);
    seen += page.length;
    after = page.at(-1);
    if (page.length === PAGE) milliseconds += (user + system) / 1_000;
    else {
      if (cwd === undefined) expect(seen).toBe(threads);
      return { pages, milliseconds };
    }
  }
}

it("a page of 10,000 threads costs at most three times a page of 200", async () => {
  const few = await storageWith(200);
  const many = await storageWith(10_000);
  for (const cwd of [undefined, "/cwd/1"]) {
    const [small, large] = [await pageCost(few, 200, cwd), await pageCost(many, 10_000, cwd)];
    expect(large / small).toBeLessThan(3);
  }
  await few.close();
  await many.close();
});

it("listing threads walks an index and sorts nothing", async () => {
  const sql = await SqliteSql.open(":memory:");
  await new SqlStorage(sql).start();
  const plan = async (where: string) => {
    const query = `EXPLAIN QUERY PLAN SELECT title FROM dw_threads WHERE checkpoint_count > 0 ${where}
      ORDER BY updated_at DESC, thread_id LIMIT 5`;
    const rows = await sql.read(async (session) => session.all(query));
    return rows.map((row) => row.detail).join("; ");
  };
  expect(await plan("")).toBe("SCAN dw_threads USING INDEX dw_threads_newest");
  const after = "AND updated_at <= 5 AND (updated_at < 5 OR thread_id > 'x')";
  expect(await plan(after)).toMatch(/^SEARCH dw_threads USING INDEX dw_threads_newest/);
  expect(await plan(`AND cwd = '/w' ${after}`)).toMatch(/^SEARCH dw_threads USING INDEX dw_threads_of_cwd/);
  expect(await plan(`AND cwd = '/w' ${after}`)).not.toContain("B-TREE");
  await sql.close();
});
