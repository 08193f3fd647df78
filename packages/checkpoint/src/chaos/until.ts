import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again; throws when it is not so within `seconds`. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 240): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  while (!(await holds())) {
    if (performance.now() > end)
      throw new Error(`What the scenario waits for did not happen within ${seconds} s.`);
    await sleep(10);
  }
}
