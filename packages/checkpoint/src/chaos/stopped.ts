import { existsSync, readdirSync, readFileSync } from "node:fs";

const SHORT_MS = 1;
/** Where the system does not say whether a thread has stopped. */
const LONG_MS = 50;

/** A signal to stop reaches the threads of a process one after another. Blocks until all have. */
export function waitUntilStopped(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) block(LONG_MS);
  else while (!readdirSync(tasks).every((task) => stateOf(`${tasks}/${task}/stat`) === "T")) block(SHORT_MS);
}

function stateOf(file: string): string {
  const text = readFileSync(file, "utf8");
  return text.slice(text.lastIndexOf(")") + 2)[0] ?? "";
}

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
