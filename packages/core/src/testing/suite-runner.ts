/** What a conformance suite needs of a test framework, so that it brings none along. */

/**
 * `describe` and `test` of vitest or jest fit as they are; for `node:test` see `docs/write-a-backend.md`.
 * A body that throws or rejects is a failed case.
 */
export interface SuiteRunner {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void> | void, timeoutMs?: number): void;
}

/** Milliseconds a case may take unless the options of the suite say more: remote places are slow. */
export const CASE_TIMEOUT = 60_000;
