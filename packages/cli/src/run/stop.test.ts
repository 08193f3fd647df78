import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilStopped } from "./stop.ts";

test("work that has ended leaves no listener on the signal of the run", async () => {
  const { signal } = new AbortController();
  for (let turn = 0; turn < 20; turn += 1) await untilStopped(Promise.resolve(), signal);
  await untilStopped(Promise.reject(new Error("broken")), signal).catch(() => undefined);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("work that does not listen to a stop is left behind", async () => {
  const stop = new AbortController();
  const never = untilStopped(new Promise<void>(() => {}), stop.signal);
  stop.abort();
  await never;
});
