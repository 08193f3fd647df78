import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { claimThread } from "./claim-thread.ts";

const TTL = 0.2;

/** A storage whose answers to renewals arrive late, as in a process that was stopped while they were under way. */
function lateStorage(milliseconds: number) {
  const storage = new MemoryStorage();
  const claim: MemoryStorage["claim"] = async (...request) => {
    const answer = await storage.claim(...request);
    const isRenewal = request[3] !== undefined;
    if (isRenewal) await sleep(milliseconds);
    return answer;
  };
  const late = new Proxy(storage, {
    get: (target, key) => {
      if (key === "claim") return claim;
      const member: unknown = Reflect.get(target, key);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { storage, late };
}

test("R-12 an answer older than the claim itself does not prove that it is held", async () => {
  const { storage, late } = lateStorage(3 * TTL * 1_000);
  const claim = await claimThread(late, "thread", { mode: "refuse", ttl: TTL });
  await sleep(0.6 * TTL * 1_000);
  const check = claim.check();
  const other = await claimThread(storage, "thread", { mode: "queue" });
  await expect(check).rejects.toMatchObject({ code: "CLAIM_LOST" });
  await other.release();
});
