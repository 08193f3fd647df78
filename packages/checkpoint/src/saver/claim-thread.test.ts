import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MemoryHome } from "../home/memory-home.ts";
import { claimThread } from "./claim-thread.ts";

const TTL = 0.2;

/** A home whose answers to renewals arrive late, as in a process that was stopped while they were under way. */
function lateHome(milliseconds: number) {
  const home = new MemoryHome();
  const claim: MemoryHome["claim"] = async (...request) => {
    const answer = await home.claim(...request);
    const isRenewal = request[3] !== undefined;
    if (isRenewal) await sleep(milliseconds);
    return answer;
  };
  const late = new Proxy(home, {
    get: (target, key) => {
      if (key === "claim") return claim;
      const member: unknown = Reflect.get(target, key);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { home, late };
}

test("R-12 an answer older than the claim itself does not prove that it is held", async () => {
  const { home, late } = lateHome(3 * TTL * 1_000);
  const claim = await claimThread(late, "thread", { mode: "refuse", ttl: TTL });
  await sleep(0.6 * TTL * 1_000);
  const check = claim.check();
  const other = await claimThread(home, "thread", { mode: "queue" });
  await expect(check).rejects.toMatchObject({ code: "CLAIM_LOST" });
  await other.release();
});
