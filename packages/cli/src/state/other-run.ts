/** Another run on the same thread: one that lives is in the way, one that died is only waited for. */
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { SharedSaver } from "@deepwright/checkpoint";
import { CommandError } from "../command-error.ts";

/** Seconds the claim of a run lives on after the end of its process. */
export const CLAIM_SECONDS = 10;
const LOOK_MS = 1_000;
const MARGIN_MS = 100;

/**
 * Resolves when nobody holds the thread. A killed process of this machine holds it until its claim expires:
 * `onWait` gets the milliseconds.
 */
export async function afterOtherRun(
  { storage }: SharedSaver,
  threadId: string,
  onWait: (milliseconds: number) => void,
  signal: AbortSignal,
  waitHint: string,
): Promise<void> {
  const answer = await storage.claim(threadId, `${hostname()}:${process.pid}:look`, LOOK_MS);
  if (answer.held) return storage.release(threadId, answer.fence);
  if (!isDead(answer.holder))
    throw new CommandError(`Another run is using the thread '${threadId}'.`, { hint: waitHint });
  onWait(answer.remainingMs);
  await sleep(answer.remainingMs + MARGIN_MS, undefined, { signal });
}

/** A holder is `host:process:…`; of another host nothing is known. */
function isDead(holder: string): boolean {
  const [host, id] = holder.split(":");
  if (host !== hostname() || !/^\d+$/.test(id ?? "")) return false;
  try {
    process.kill(Number(id), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
