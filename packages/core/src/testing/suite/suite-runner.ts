/** Functions of a test framework that a conformance suite needs, so that it depends on none. */

/**
 * `describe` and `test` of vitest or jest fit as they are; for `node:test` see `docs/write-a-backend.md`.
 * A body that throws or rejects is a failed case.
 */
export interface SuiteRunner {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void> | void, timeoutMs?: number): void;
}

/** Ends a case that hangs, in milliseconds. It is long, because a case may run on a busy machine or in a remote place. */
export const CASE_TIMEOUT = 600_000;

/**
 * How many cases of a suite run: all, or one in five of each topic. Small is for the second of two places that share
 * their code, such as two providers over one base class.
 */
export type SuiteSize = "full" | "small";

export function ofSize<Case>(cases: readonly Case[], size: SuiteSize = "full"): readonly Case[] {
  return size === "full" ? cases : cases.filter((_, index) => index % 5 === 0);
}
