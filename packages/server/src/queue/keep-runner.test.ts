/** A runner that ends, that fails, and that never comes to its end. */
import type { Runner, WorkerEvents } from "graphile-worker";
import { expect, test } from "vitest";
import { keepRunner } from "./keep-runner.ts";

const never = new Promise<void>(() => {});

/** Ends when it is told to, or, as graphile-worker's does after some outages, begins to and never does. */
function runnerWith(events: WorkerEvents, promise: Promise<void>, ended: string[]): Runner {
  const begin = () => events.emit("pool:gracefulShutdown", {} as never);
  return {
    promise,
    stop: async () => {
      begin();
      await promise;
    },
    kill: async () => void ended.push("killed"),
  } as unknown as Runner;
}

test("a runner that began to end and does not is left alone, and another is started", async () => {
  const ended: string[] = [];
  const given: WorkerEvents[] = [];
  const kept = keepRunner(
    async (events) => {
      given.push(events);
      return runnerWith(events, never, ended);
    },
    () => {},
    50,
  );
  await kept.started;
  given[0]?.emit("pool:gracefulShutdown", {} as never);
  await expect.poll(() => given.length).toBe(2);
  expect(ended).toEqual(["killed"]);
  await kept.stop();
  expect(given).toHaveLength(2);
});

test("a runner that fails is told of and started again; one that cannot start at all is not", async () => {
  const errors: unknown[] = [];
  let starts = 0;
  const kept = keepRunner(
    async (events) => {
      starts += 1;
      return runnerWith(events, starts === 1 ? Promise.reject(new Error("gone")) : never, []);
    },
    (error) => errors.push(error),
    50,
  );
  await kept.started;
  await expect.poll(() => starts).toBe(2);
  expect(errors).toEqual([new Error("gone")]);
  await kept.stop();
  const refused = keepRunner(
    () => Promise.reject(new Error("permission denied")),
    () => {},
  );
  await expect(refused.started).rejects.toThrow("permission denied");
  await refused.stop();
});
