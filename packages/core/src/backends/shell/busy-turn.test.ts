import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { busyTurn } from "./busy-turn.ts";

it("gives everyone who waits a turn of the event loop of their own, in order", async () => {
  let turn = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turn += 1) await nextTurn();
  })();
  const waiting = Array.from({ length: 5 }, (_, index) => busyTurn().then(() => [index, turn] as const));
  const taken = await Promise.all(waiting);
  isOver = true;
  await counting;
  expect(taken.map(([index]) => index)).toEqual([0, 1, 2, 3, 4]);
  expect(new Set(taken.map(([, at]) => at)).size).toBe(5);
});
