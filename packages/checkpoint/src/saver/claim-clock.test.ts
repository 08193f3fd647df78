import { afterEach, expect, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { claimThread } from "./claim-thread.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("R-12 a machine that slept does not take its claim for fresh, though no time passed for it", async () => {
  const storage = new MemoryStorage();
  const claim = await claimThread(storage, "thread", { mode: "refuse" });
  await claim.check();
  const asleep = Date.now() + 3_600_000;
  vi.spyOn(Date, "now").mockImplementation(() => asleep);
  // For the database, which did not sleep, its time is over.
  await storage.release("thread", claim.fence);
  const other = await claimThread(storage, "thread", { mode: "refuse" });
  await expect(claim.check()).rejects.toMatchObject({ code: "CLAIM_LOST" });
  await other.check();
});

test("a claim that is given back while it is renewed was not lost", async () => {
  const storage = new MemoryStorage();
  const claim = await claimThread(storage, "thread", { mode: "refuse", ttl: 0.03 });
  const renewing = vi.spyOn(storage, "claim").mockImplementation(async () => {
    await claim.release();
    return { held: false, holder: "", remainingMs: 0 };
  });
  await eventually(() => expect(renewing).toHaveBeenCalled());
  await new Promise(setImmediate);
  expect(claim.signal.aborted).toBe(false);
});
