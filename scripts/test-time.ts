/**
 * Time in tests. A test must pass on a slow or busy machine, so tests wait for events and compare order. The few limits
 * on time that are promises to users stand in `test-limits.ts` and are checked here, more than once before they fail.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "./test-limits.ts";

/** Waiting longer than this means that the event never comes. */
export const PATIENCE_MS = 240_000;
const POLL_MS = 20;
const ATTEMPTS = 4;

/** Polls until `holds` returns something truthy. Errors thrown by `holds` are thrown at once. */
export async function until(holds: () => unknown): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await holds()); await sleep(POLL_MS))
    if (performance.now() > end) throw new Error(`This did not happen in ${PATIENCE_MS / 1_000} s: ${holds}`);
}

/** Repeats assertions until they pass, and returns their result. */
export async function eventually<Result>(assertions: () => Result | Promise<Result>): Promise<Result> {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(POLL_MS))
    try {
      return await assertions();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
}

/**
 * Runs `work` and checks its wall time against a limit of `test-limits.ts`, scaled by how busy the machine is now.
 * `work` runs again when it was too slow; `prepare` runs before each attempt and is not measured.
 */
export async function withinLimit<Result, Prepared = undefined>(
  name: keyof typeof LIMITS,
  work: (prepared: Prepared) => Result | Promise<Result>,
  prepare?: () => Promise<Prepared>,
): Promise<Result> {
  return await check(name, async () => {
    const prepared = (await prepare?.()) as Prepared;
    const before = slowness();
    const start = performance.now();
    const result = await work(prepared);
    const milliseconds = performance.now() - start;
    return { result, milliseconds: milliseconds / Math.max(before, slowness()) };
  });
}

/** Like `withinLimit` for work that computes and does not wait: checks the CPU time of this process. */
export async function withinCpuLimit<Result>(
  name: keyof typeof LIMITS,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  return await check(name, async () => {
    const start = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(start);
    return { result, milliseconds: (user + system) / 1_000 };
  });
}

async function check<Result>(
  name: keyof typeof LIMITS,
  attempt: () => Promise<{ result: Result; milliseconds: number }>,
): Promise<Result> {
  const limit = LIMITS[name];
  const took: number[] = [];
  for (;;) {
    const { result, milliseconds } = await attempt();
    if (milliseconds <= limit) return result;
    took.push(Math.round(milliseconds));
    if (took.length === ATTEMPTS)
      throw new Error(
        `"${name}" took ${took.join(", ")} ms in ${ATTEMPTS} attempts; the limit is ${limit} ms.`,
      );
    console.log(`RETRY "${name}" took ${took.at(-1)} ms, the limit is ${limit} ms`);
  }
}

/** Wall time of 20 ms of computing divided by its CPU time: 1 on an idle machine, 3 when two others share the core. */
function slowness(): number {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  for (;;) {
    const { user, system } = process.cpuUsage(cpu);
    const used = (user + system) / 1_000;
    if (used >= 20) return Math.max(1, (performance.now() - wall) / used);
  }
}
