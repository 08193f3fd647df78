/** What a piece of work cost. */

/** Runs `work` and answers its result with the CPU (user + system, all threads) and wall milliseconds. */
export async function timed(work) {
  const start = process.hrtime.bigint();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, cpu: (user + system) / 1000, wall: Number(process.hrtime.bigint() - start) / 1e6 };
}

/** The CPU milliseconds this process has used so far. */
export function cpuNow() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Bytes on the heap after everything unreachable is gone. */
export function heapAfterGc() {
  for (let i = 0; i < 4; i += 1) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

export async function repeat(times, work) {
  for (let i = 0; i < times; i += 1) await work(i);
}
