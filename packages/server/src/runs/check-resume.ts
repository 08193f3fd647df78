/** An answer to an interrupt, checked before anything is written. */
import type { AnyGraph } from "../agents/bind-agent.ts";
import { ServiceError } from "./service-error.ts";
import { readThread } from "./thread-view.ts";

/** How the engine names interrupts. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** INVALID_REQUEST for what answers nothing, NOTHING_TO_RESUME for what was answered already. */
export async function checkResume(agent: AnyGraph, threadId: string, resume: unknown): Promise<void> {
  const keys = isRecord(resume) ? Object.keys(resume) : undefined;
  if (resume === undefined || resume === null || resume === false || resume === "" || resume === 0)
    throw new ServiceError("INVALID_REQUEST", "The answer is empty.");
  if (keys?.length === 0) throw new ServiceError("INVALID_REQUEST", "The answer is an empty object.");
  const { interrupts } = await readThread(agent, threadId);
  const pending = Object.values(interrupts).flat();
  if (pending.length === 0)
    throw new ServiceError(
      "NOTHING_TO_RESUME",
      "This thread waits for no answer; it may have been given already.",
    );
  const ids = new Set(pending.map(({ id }) => id));
  if (keys?.every((key) => INTERRUPT_ID.test(key))) {
    if (!keys.every((key) => ids.has(key)))
      throw new ServiceError("NOTHING_TO_RESUME", "No interrupt with this id waits for an answer.");
    return;
  }
  if (pending.length > 1)
    throw new ServiceError(
      "INVALID_REQUEST",
      `${pending.length} interrupts wait: one value cannot answer them. Answer by id: {"<id>": …}.`,
    );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
