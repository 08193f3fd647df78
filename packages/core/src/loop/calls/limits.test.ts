import { describe, expect, test } from "vitest";
import { Semaphore, TimedOut, withDeadline } from "./limits.ts";

const wait = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const never = (): Promise<never> => new Promise(() => {});

describe("Semaphore", () => {
  async function most(limit: number, jobs: number, body: (n: number) => Promise<unknown>) {
    const semaphore = new Semaphore(limit);
    const started: number[] = [];
    let running = 0;
    let peak = 0;
    const results = await Promise.allSettled(
      Array.from({ length: jobs }, (_, n) =>
        semaphore.run(async () => {
          started.push(n);
          running += 1;
          peak = Math.max(peak, running);
          try {
            return await body(n);
          } finally {
            running -= 1;
          }
        }),
      ),
    );
    return { started, peak, results };
  }

  test.each([
    [1, 5, 1],
    [3, 10, 3],
    [10, 3, 3],
    [1_000_000, 50, 50],
  ])("with a limit of %i, %i bodies run %i at a time, in the order they came", async (limit, jobs, peak) => {
    const { started, ...run } = await most(limit, jobs, () => wait(1));
    expect(run.peak).toBe(peak);
    expect(started).toEqual(Array.from({ length: jobs }, (_, n) => n));
  });

  test("a body that fails frees its slot", async () => {
    const { results, peak } = await most(2, 6, async (n) => {
      if (n % 2 === 0) throw new Error(`no ${n}`);
      return n;
    });
    expect(results.map((result) => result.status)).toEqual([
      ...["rejected", "fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"],
    ]);
    expect(peak).toBeLessThanOrEqual(2);
  });

  test("it can be used again after it was full", async () => {
    const semaphore = new Semaphore(1);
    for (let round = 0; round < 3; round += 1)
      expect(await Promise.all([1, 2].map((n) => semaphore.run(async () => n)))).toEqual([1, 2]);
  });
});

describe("withDeadline", () => {
  test("without a limit the body gets the caller's signal itself", async () => {
    const { signal } = new AbortController();
    expect(await withDeadline(undefined, signal, async (given) => given === signal)).toBe(true);
  });

  test("in time, the body's value or its failure comes through", async () => {
    expect(await withDeadline(60, undefined, async () => 7)).toBe(7);
    await expect(withDeadline(60, undefined, () => Promise.reject(new Error("own")))).rejects.toThrow("own");
  });

  test("at the deadline it rejects, and the signal tells the body", async () => {
    let reason: unknown;
    const run = withDeadline(0.02, undefined, (signal) => {
      signal?.addEventListener("abort", () => {
        reason = signal.reason;
      });
      return never();
    });
    await expect(run).rejects.toThrow(new TimedOut(0.02));
    expect(reason).toBeInstanceOf(TimedOut);
  });

  test("a body that fails later fails unheard", async () => {
    const late = withDeadline(0.01, undefined, () => wait(30).then(() => Promise.reject(new Error("late"))));
    await expect(late).rejects.toBeInstanceOf(TimedOut);
    await wait(40);
  });

  test("the caller's signal reaches the body, and is not taken for a time-out", async () => {
    const controller = new AbortController();
    const run = withDeadline(
      60,
      controller.signal,
      (signal) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    );
    controller.abort(new Error("stop"));
    await expect(run).rejects.toThrow("stop");
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31, 1e12])(
    "%d seconds are longer than a moment",
    async (seconds) => {
      expect(await withDeadline(seconds, undefined, () => wait(20).then(() => "in time"))).toBe("in time");
    },
  );
});
