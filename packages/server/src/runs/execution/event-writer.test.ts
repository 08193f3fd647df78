/** Events on their way into the log. */
import { describe, expect, test } from "vitest";
import type { NewEvent, RunClaim } from "../../records/records.ts";
import { ClaimLost, createEventWriter } from "./event-writer.ts";

const claim = { fence: 1 } as RunClaim;
const event = (n: number, bytes = 10): NewEvent => ({ event: "custom", data: `"${n}${"x".repeat(bytes)}"` });

/** A log that takes its time. */
function slowLog(pauseMs: number) {
  const batches: (readonly NewEvent[])[] = [];
  let last = 0;
  return {
    batches,
    async append(_: RunClaim, events: readonly NewEvent[]) {
      await new Promise((go) => setTimeout(go, pauseMs));
      batches.push(events);
      last += events.length;
      return last as number | undefined;
    },
  };
}

describe("the writer of events", () => {
  test("keeps the order, in batches of at most 64", async () => {
    const log = slowLog(2);
    const writer = createEventWriter(log, claim);
    for (let n = 0; n < 1_000; n += 1) await writer.write(event(n));
    await writer.flush();
    expect(log.batches.flat()).toEqual(Array.from({ length: 1_000 }, (_, n) => event(n)));
    expect(log.batches.length).toBeLessThan(200);
    for (const batch of log.batches) expect(batch.length).toBeLessThanOrEqual(64);
  });

  test("holds back whoever writes more than storage takes", async () => {
    const log = slowLog(20);
    const writer = createEventWriter(log, claim);
    const begun = performance.now();
    for (let n = 0; n < 10; n += 1) await writer.write(event(n, 1_048_576));
    expect(performance.now() - begun).toBeGreaterThan(100);
    await writer.flush();
    expect(log.batches.flat()).toHaveLength(10);
  });

  test("what comes slowly is stored soon", async () => {
    const log = slowLog(0);
    const writer = createEventWriter(log, claim);
    await writer.write(event(1));
    await expect.poll(() => log.batches).toHaveLength(1);
  });

  test("under an old fence nothing more is written, and the run hears of it", async () => {
    let calls = 0;
    const lost = {
      append: async () => {
        calls += 1;
        return undefined;
      },
    };
    const writer = createEventWriter(lost, claim);
    await writer.write(event(1));
    await expect(writer.flush()).rejects.toBeInstanceOf(ClaimLost);
    await expect(writer.write(event(2))).rejects.toBeInstanceOf(ClaimLost);
    await expect(writer.take()).rejects.toBeInstanceOf(ClaimLost);
    expect(calls).toBe(1);
  });

  test("the rest goes to whoever ends the run", async () => {
    const log = slowLog(0);
    const writer = createEventWriter(log, claim);
    await writer.write(event(1));
    await writer.flush();
    await writer.write(event(2));
    expect(await writer.take()).toEqual([event(2)]);
    await new Promise((go) => setTimeout(go, 100));
    expect(log.batches.flat()).toEqual([event(1)]);
  });
});
