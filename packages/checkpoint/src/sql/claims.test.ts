/** Claims of threads that come and go, alike in every storage. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SqliteSql } from "../sqlite/sqlite-sql.ts";
import { putStep, uuid } from "../storage/content-for-tests.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { SqlStorage } from "./sql-storage.ts";

const LONG = 600_000;

async function sqlStorage(): Promise<ThreadStorage> {
  const storage = new SqlStorage(await SqliteSql.open(":memory:"));
  await storage.start();
  return storage;
}

async function take(storage: ThreadStorage, threadId: string, ttl = LONG): Promise<number> {
  const answer = await storage.claim(threadId, "one", ttl);
  return answer.held ? answer.fence : Number.NaN;
}

describe.each([
  ["SQL", sqlStorage],
  ["memory", async () => new MemoryStorage()],
] as const)("a claim in %s", (_, open) => {
  it("that was given back is not renewed by a request that was under way", async () => {
    const storage = await open();
    const fence = await take(storage, "t");
    await storage.release("t", fence);
    expect(await storage.claim("t", "one", LONG, fence)).toMatchObject({ held: false });
    expect(await storage.claim("t", "two", LONG)).toMatchObject({ held: true });
  });

  it("of a thread that was deleted does not hold for the next of that name", async () => {
    const storage = await open();
    const fence = await take(storage, "t", 1);
    await sleep(20);
    await storage.deleteThread("t");
    const late = { threadId: "t", id: uuid(1), fence };
    await expect(putStep(storage, late)).rejects.toMatchObject({ code: "CLAIM_LOST" });
    await putStep(storage, { threadId: "t", id: uuid(2) });
    await expect(putStep(storage, late)).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(await storage.claim("t", "one", LONG, fence)).toMatchObject({ held: false });
    expect((await storage.thread("t"))?.checkpointCount).toBe(1);
  });

  it("keeps a copy out while it lives, and is lost to one that came after it", async () => {
    const storage = await open();
    await putStep(storage, { threadId: "source", id: uuid(1) });
    const fence = await take(storage, "t");
    await expect(storage.copyThread("source", "t", 1)).rejects.toMatchObject({ code: "THREAD_BUSY" });
    expect(await storage.claim("t", "one", 1, fence)).toMatchObject({ held: true });
    await sleep(20);
    await storage.copyThread("source", "t", 1);
    expect(await storage.claim("t", "one", LONG, fence)).toMatchObject({ held: false });
    const late = { threadId: "t", id: uuid(2), fence };
    await expect(putStep(storage, late)).rejects.toMatchObject({ code: "CLAIM_LOST" });
  });
});

it("a claim in SQL that lives is given to its holder again, and one that ran out is a new one", async () => {
  const storage = await sqlStorage();
  const fence = await take(storage, "t");
  expect(await storage.claim("t", "one", 1)).toEqual({ held: true, fence });
  await sleep(20);
  const next = await take(storage, "t");
  expect(next).toBeGreaterThan(fence);
  await expect(putStep(storage, { threadId: "t", id: uuid(1), fence })).rejects.toMatchObject({
    code: "CLAIM_LOST",
  });
  expect(await storage.claim("t", "two", LONG)).toMatchObject({ held: false, holder: "one" });
});

it("a claim in SQL that ends later than it can, because the clock was set back, is free", async () => {
  const sql = await SqliteSql.open(":memory:");
  const storage = new SqlStorage(sql);
  await storage.start();
  const fence = await take(storage, "t");
  await sql.write(async (session) =>
    session.run("UPDATE dw_threads SET claim_expires = claim_expires + 3600000"),
  );
  await putStep(storage, { threadId: "t", id: uuid(1) });
  expect(await storage.claim("t", "two", LONG)).toEqual({ held: true, fence: fence + 1 });
  expect(await storage.claim("t", "one", LONG, fence)).toMatchObject({ held: false, holder: "two" });
});

it("a claim in memory lives as long as it was to, whatever the clock says", async () => {
  const storage = new MemoryStorage();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  await take(storage, "t", 1);
  vi.setSystemTime(Date.now() - 86_400_000);
  await sleep(20);
  expect(await storage.claim("t", "two", LONG)).toMatchObject({ held: true });
  vi.setSystemTime(Date.now() + 86_400_000);
  expect(await storage.claim("t", "three", LONG)).toMatchObject({ held: false });
});
