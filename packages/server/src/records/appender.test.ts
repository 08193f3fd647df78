import { expect, test } from "vitest";
import { Appender } from "./appender.ts";
import type { NewEvent } from "./records.ts";
import type { Append } from "./tables/events.ts";

const events = (count: number) => Array.from({ length: count }, () => ({}) as NewEvent);

/** Keeps what is to be stored until the test says what became of it. */
function stored() {
  const batches: { appends: readonly Append[]; end(lasts: (number | undefined)[] | Error): void }[] = [];
  const appender = new Appender(
    (appends) =>
      new Promise((resolve, reject) => {
        const end = (lasts: (number | undefined)[] | Error) =>
          lasts instanceof Error ? reject(lasts) : resolve(lasts);
        batches.push({ appends, end });
      }),
  );
  return { appender, batches };
}

const later = () => new Promise(setImmediate);

test("what comes together is stored together, runs in one order, and each is told its last number", async () => {
  const { appender, batches } = stored();
  const answers = [
    appender.append("b", 1, events(2)),
    appender.append("a", 1, events(1)),
    appender.append("b", 1, events(3)),
    appender.append("c", 1, events(1)),
  ];
  await later();
  expect(batches[0]?.appends.map(({ runId, events }) => [runId, events.length])).toEqual([
    ["a", 1],
    ["b", 5],
    ["c", 1],
  ]);
  batches[0]?.end([7, 25, undefined]);
  expect(await Promise.all(answers)).toEqual([22, 7, 25, undefined]);
  await appender.idle();
});

test("a run is settled when the last of its appends is stored or refused", async () => {
  const { appender, batches } = stored();
  const first = appender.append("a", 1, events(1));
  await later();
  const second = appender.append("a", 1, events(1)).catch((error: Error) => error.message);
  let isSettled = false;
  const settled = appender.settled("a").then(() => {
    isSettled = true;
  });
  batches[0]?.end([1]);
  expect(await first).toBe(1);
  await later();
  let isSettledLater = false;
  const settledLater = appender.settled("a").then(() => {
    isSettledLater = true;
  });
  await later();
  expect([isSettled, isSettledLater]).toEqual([false, false]);
  batches[1]?.end(new Error("the disk is full"));
  await Promise.all([settled, settledLater]);
  expect(await second).toBe("the disk is full");
  await appender.settled("a");
  await appender.settled("unknown");
});
