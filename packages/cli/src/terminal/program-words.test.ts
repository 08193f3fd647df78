import { expect, test } from "vitest";
import { cloneNotice, comeBackWords } from "./program-words.ts";

const THREAD = "55733a74-0000";

test("a person is told a command that works where they are", () => {
  expect(comeBackWords(THREAD, undefined, {})).toBe("deepwright -r 55733a74");
  expect(comeBackWords(THREAD, "http://x:2024", {})).toBe("deepwright --connect http://x:2024 -r 55733a74");
  const clone = { npm_package_name: "deepwright-workspace" };
  expect(comeBackWords(THREAD, undefined, clone)).toBe("npm run deepwright -- -r 55733a74");
  expect([cloneNotice({}), cloneNotice(clone).length]).toEqual([[], 1]);
});
