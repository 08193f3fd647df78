import { expect, test } from "vitest";
import type { Effect } from "../../../checkpoint/src/chaos/effects.ts";
import { effectProblems, finishedAgain, outrun } from "./audit.ts";

const plan = { thread: "t", text: "t", turns: 1, callsPerTurn: 1 };
const effect = (kind: Effect["kind"], pid: number): Effect => ({ kind, place: "0.0", id: "call", pid });

test("a call that begins behind the end of another worker's, whose result is stored, is one too many", () => {
  const effects = [effect("begin", 1), effect("end", 1), effect("begin", 2), effect("again", 2)];
  expect(finishedAgain(effects)).toHaveLength(1);
  expect(effectProblems(plan, effects, 2)).toEqual(["the stored call 0.0 ran again"]);
});

test("a call of a worker that had begun before, and lost its thread while it ran, is not", () => {
  const effects = [effect("begin", 1), effect("begin", 2), effect("end", 2), effect("again", 1)];
  expect(outrun(effects)).toBe(1);
  expect(effectProblems(plan, effects, 2)).toEqual([]);
});
