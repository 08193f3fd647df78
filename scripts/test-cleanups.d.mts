type Close = () => unknown;

/** Runs when the test that is at work is over, or the file, for what was opened outside of tests. The last goes first. */
export function afterThisTest(close: Close): void;
export function afterThisFile(close: Close): void;
export function endTest(): Promise<void>;
export function endFile(): Promise<void>;
