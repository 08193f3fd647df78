/** Waits for processes of a machine of the tests to begin or to end. */
import { until } from "../../../../scripts/test-time.ts";
import type { MachineForTests } from "./machine-for-tests.ts";

/** Whether a process of the machine has these words in its command line, in which words are separated by blanks. */
export async function isRunning(machine: MachineForTests, words: string): Promise<boolean> {
  const { stdout } = await machine.shell("cat /proc/[0-9]*/cmdline | tr '\\000' ' '").closed;
  return stdout.includes(words);
}

export async function untilRunning(machine: MachineForTests, words: string): Promise<void> {
  await until(() => isRunning(machine, words));
}

export async function untilEnded(machine: MachineForTests, words: string): Promise<void> {
  await until(async () => !(await isRunning(machine, words)));
}
