/** Claims of threads that come and go, alike in every home. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { putStep, uuid } from "../home/content-for-tests.ts";
import type { Home } from "../home/home.ts";
import { MemoryHome } from "../home/memory-home.ts";
import { SqliteSql } from "../sqlite/sqlite-sql.ts";
import { SqlHome } from "./sql-home.ts";

const LONG = 600_000;

async function sqlHome(): Promise<Home> {
  const home = new SqlHome(await SqliteSql.open(":memory:"));
  await home.start();
  return home;
}

async function take(home: Home, threadId: string, ttl = LONG): Promise<number> {
  const answer = await home.claim(threadId, "one", ttl);
  return answer.held ? answer.fence : Number.NaN;
}

describe.each([
  ["SQL", sqlHome],
  ["memory", async () => new MemoryHome()],
] as const)("a claim in %s", (_, open) => {
  it("that was given back is not renewed by a request that was under way", async () => {
    const home = await open();
    const fence = await take(home, "t");
    await home.release("t", fence);
    expect(await home.claim("t", "one", LONG, fence)).toMatchObject({ held: false });
    expect(await home.claim("t", "two", LONG)).toMatchObject({ held: true });
  });

  it("of a thread that was deleted does not hold for the next of that name", async () => {
    const home = await open();
    const fence = await take(home, "t", 1);
    await sleep(20);
    await home.deleteThread("t");
    const late = { threadId: "t", id: uuid(1), fence };
    await expect(putStep(home, late)).rejects.toMatchObject({ code: "CLAIM_LOST" });
    await putStep(home, { threadId: "t", id: uuid(2) });
    await expect(putStep(home, late)).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(await home.claim("t", "one", LONG, fence)).toMatchObject({ held: false });
    expect((await home.thread("t"))?.checkpointCount).toBe(1);
  });

  it("keeps a copy out while it lives, and is lost to one that came after it", async () => {
    const home = await open();
    await putStep(home, { threadId: "source", id: uuid(1) });
    const fence = await take(home, "t");
    await expect(home.copyThread("source", "t", 1)).rejects.toMatchObject({ code: "THREAD_BUSY" });
    expect(await home.claim("t", "one", 1, fence)).toMatchObject({ held: true });
    await sleep(20);
    await home.copyThread("source", "t", 1);
    expect(await home.claim("t", "one", LONG, fence)).toMatchObject({ held: false });
    const late = { threadId: "t", id: uuid(2), fence };
    await expect(putStep(home, late)).rejects.toMatchObject({ code: "CLAIM_LOST" });
  });
});

it("a claim in SQL that lives is given to its holder again, and one that ran out is a new one", async () => {
  const home = await sqlHome();
  const fence = await take(home, "t");
  expect(await home.claim("t", "one", 1)).toEqual({ held: true, fence });
  await sleep(20);
  const next = await take(home, "t");
  expect(next).toBeGreaterThan(fence);
  await expect(putStep(home, { threadId: "t", id: uuid(1), fence })).rejects.toMatchObject({
    code: "CLAIM_LOST",
  });
  expect(await home.claim("t", "two", LONG)).toMatchObject({ held: false, holder: "one" });
});

it("a claim in SQL that ends later than it can, because the clock was set back, is free", async () => {
  const sql = await SqliteSql.open(":memory:");
  const home = new SqlHome(sql);
  await home.start();
  const fence = await take(home, "t");
  await sql.write(async (session) =>
    session.run("UPDATE dw_threads SET claim_expires = claim_expires + 3600000"),
  );
  await putStep(home, { threadId: "t", id: uuid(1) });
  expect(await home.claim("t", "two", LONG)).toEqual({ held: true, fence: fence + 1 });
  expect(await home.claim("t", "one", LONG, fence)).toMatchObject({ held: false, holder: "two" });
});

it("a claim in memory lives as long as it was to, whatever the clock says", async () => {
  const home = new MemoryHome();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  await take(home, "t", 1);
  vi.setSystemTime(Date.now() - 86_400_000);
  await sleep(20);
  expect(await home.claim("t", "two", LONG)).toMatchObject({ held: true });
  vi.setSystemTime(Date.now() + 86_400_000);
  expect(await home.claim("t", "three", LONG)).toMatchObject({ held: false });
});
