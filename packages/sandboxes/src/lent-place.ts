/** What lies in a place that is somebody else's, and is to be gone when a lease lets go of it. */
import type { BaseSandbox } from "deepwright";
import type { OpenedSandbox } from "./provider.ts";

/** Milliseconds that whoever lets go of it waits for that at most. */
const PATIENCE = 5000;

/**
 * A place that is used, and left alone: nothing but our own temporary files is taken away, as far as that can be done.
 * `isAwake`: false where it may have gone to sleep, from which it shall not be woken for that. Absent: it never does.
 */
export function lentPlace(
  id: string,
  sandbox: BaseSandbox,
  isAwake: () => boolean = () => true,
): OpenedSandbox {
  let tidied: Promise<void> | undefined;
  const letGo = async (): Promise<void> => {
    if (!isAwake()) return;
    tidied ??= removal(sandbox);
    await tidied;
  };
  return { id, sandbox, detach: letGo, destroy: letGo };
}

async function removal(sandbox: BaseSandbox): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE);
  });
  const removed = sandbox.removeTemporaryFiles().catch(() => {
    // It is gone, or cannot be reached: its owner's cleaning is not ours to fail.
  });
  await Promise.race([removed, late]);
  clearTimeout(timer);
}
