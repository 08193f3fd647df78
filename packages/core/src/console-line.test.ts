import { afterEach, expect, test, vi } from "vitest";
import { errorOnConsole, warnOnConsole } from "./console-line.ts";

afterEach(() => vi.restoreAllMocks());

test("what steers a terminal is written as visible escapes; lines and tabs stay", () => {
  const shown: unknown[] = [];
  for (const method of ["warn", "error"] as const)
    vi.spyOn(console, method).mockImplementation((line) => void shown.push(line));
  warnOnConsole("skills", { code: "BAD", message: "'\u001b]0;owned\u0007\u202etxt' \u009b2J" });
  errorOnConsole("one\r\n\ttwo\rthree\u2028");
  expect(shown).toEqual([
    "[skills] '\\u001b]0;owned\\u0007\\u202etxt' \\u009b2J (BAD)",
    "one\n\ttwo\\u000dthree\\u2028",
  ]);
});
