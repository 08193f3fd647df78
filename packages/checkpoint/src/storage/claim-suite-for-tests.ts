/** One writer per thread. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { putStep, uuid } from "./content-for-tests.ts";
import type { ThreadStorage } from "./storage.ts";

const LONG = 600_000;

export function claimSuite(storage: () => ThreadStorage): void {
  const take = async (holder: string, ttl = LONG) => {
    const answer = await storage().claim("t", holder, ttl);
    return answer.held ? answer.fence : undefined;
  };

  it("gives a thread to one at a time", async () => {
    const fence = await take("one");
    expect(fence).toBeTypeOf("number");
    const answer = await storage().claim("t", "two", LONG);
    expect(answer).toMatchObject({ held: false, holder: "one" });
    expect(answer.held ? 0 : answer.remainingMs).toBeGreaterThan(LONG / 2);
    expect(await storage().claim("t", "one", LONG, fence)).toEqual({ held: true, fence });
    await storage().release("t", fence as number);
    expect(await take("two")).toBe((fence as number) + 1);
  });

  it("gives a claim that ran out to the next, and never back to the one before", async () => {
    const first = (await take("one", 1)) as number;
    await sleep(20);
    expect(await storage().claim("t", "one", 1, first)).toEqual({ held: true, fence: first });
    await sleep(20);
    const second = await take("two", 1);
    expect(second).toBe(first + 1);
    await sleep(20);
    expect(await storage().claim("t", "one", LONG, first)).toMatchObject({ held: false });
    await storage().release("t", first);
    expect(await storage().claim("t", "two", LONG, second)).toEqual({ held: true, fence: second });
  });

  it("lets only the holder of the claim write", async () => {
    const fence = (await take("one")) as number;
    const step = { threadId: "t", id: uuid(1) };
    await expect(putStep(storage(), step)).rejects.toMatchObject({ code: "THREAD_BUSY" });
    await expect(putStep(storage(), { ...step, fence: fence - 1 })).rejects.toMatchObject({
      code: "CLAIM_LOST",
    });
    await expect(storage().deleteThread("t")).rejects.toMatchObject({ code: "THREAD_BUSY" });
    await putStep(storage(), { ...step, fence });
    await storage().release("t", fence);
    await putStep(storage(), { ...step, id: uuid(2) });
    expect((await storage().thread("t"))?.checkpointCount).toBe(2);
    const next = (await take("two")) as number;
    await expect(putStep(storage(), { ...step, fence })).rejects.toMatchObject({ code: "CLAIM_LOST" });
    await storage().deleteThread("t", next);
    expect(await storage().thread("t")).toBeUndefined();
  });

  it("refuses a claim of a thread that was deleted meanwhile", async () => {
    const fence = (await take("one")) as number;
    await storage().deleteThread("t", fence);
    const step = { threadId: "t", id: uuid(1), fence };
    const later = (await take("two")) as number;
    expect(later).toBeGreaterThan(fence);
    await expect(putStep(storage(), step)).rejects.toMatchObject({ code: "CLAIM_LOST" });
  });

  it("does not list a thread that is only claimed", async () => {
    await take("one");
    expect(await storage().listThreads({ limit: 5 })).toEqual([]);
    expect(await storage().thread("t")).toBeUndefined();
  });
}
