/** An answer to an interrupt, checked before anything is written. */

import { Command } from "@langchain/langgraph";
import { isRecord } from "deepwright/check-options";
import type { AnyGraph } from "../../agents/graph-types.ts";
import { ServiceError } from "../service-error.ts";
import { readThread } from "../thread-view.ts";

/** How the engine names interrupts. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** INVALID_REQUEST for an answer without a question, NOTHING_TO_RESUME for a question that was answered already. */
export async function checkResume(agent: AnyGraph, threadId: string, resume: unknown): Promise<void> {
  const keys = isRecord(resume) ? Object.keys(resume) : undefined;
  const pending = await waitingIn(agent, threadId);
  if (pending.length === 0)
    throw new ServiceError(
      "NOTHING_TO_RESUME",
      "This thread waits for no answer; it may have been given already.",
    );
  const ids = new Set(pending.map(({ id }) => id));
  if (keys?.length && keys.every((key) => INTERRUPT_ID.test(key))) {
    if (!keys.every((key) => ids.has(key)))
      throw new ServiceError("NOTHING_TO_RESUME", "No interrupt with this id waits for an answer.");
    return;
  }
  if (isEmptyAnswer(resume) && pending.some(({ value }) => isApproval(value)))
    throw new ServiceError("INVALID_REQUEST", "The answer is empty; an approval waits for {decisions: […]}.");
  if (pending.length > 1)
    throw new ServiceError(
      "INVALID_REQUEST",
      `${pending.length} interrupts wait: one value cannot answer them. Answer by id: {"<id>": …}.`,
    );
}

/**
 * The input of a run with an answer, in the engine's form. The engine ignores an empty answer (`false`, `0`, `""`,
 * `null`, `{}`) unless it has the id of the question.
 */
export async function namedAnswer(agent: AnyGraph, threadId: string, input: Command): Promise<Command> {
  const { resume, update, goto } = input;
  if (resume === undefined || !isEmptyAnswer(resume)) return input;
  const [only, ...others] = await waitingIn(agent, threadId);
  if (only?.id === undefined || others.length > 0) return input;
  return new Command({ ...(update !== undefined && { update }), goto, resume: { [only.id]: resume } });
}

function isEmptyAnswer(resume: unknown): boolean {
  return !resume || (typeof resume === "object" && Object.keys(resume).length === 0);
}

/** Our own question, which no empty answer can answer. */
function isApproval(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.actionRequests);
}

async function waitingIn(agent: AnyGraph, threadId: string) {
  const { interrupts } = await readThread(agent, threadId);
  return Object.values(interrupts).flat();
}
