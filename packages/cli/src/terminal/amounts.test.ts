import { expect, it } from "vitest";
import { bytes, count, grouped, seconds } from "./amounts.ts";

it.each([
  [count(1, "file"), "1 file"],
  [count(1200, "file"), "1,200 files"],
  [count(2, "entry", "entries"), "2 entries"],
  [grouped(1_234_567), "1,234,567"],
  [bytes(12), "12 B"],
  [bytes(524_288), "512 KB"],
  [bytes(20 * 1024 * 1024), "20.0 MB"],
  [seconds(3_240), "3.2 s"],
  [seconds(125_400), "2 min 5 s"],
])("%s is written as %s", (shown, expected) => {
  expect(shown).toBe(expected);
});
