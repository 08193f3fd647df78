/** Ids a caller names threads and checkpoints with: strings that every database keeps as they are. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { DeepwrightError } from "deepwright/errors";

/** Bytes of one id, so that an index of Postgres holds two of them. */
const MOST_BYTES = 1_024;

export interface CheckpointAddress {
  readonly threadId: string;
  readonly namespace: string;
  readonly checkpointId: string | undefined;
}

/** Throws INVALID_ID. `undefined` where the config names no thread. */
export function addressOf(config: RunnableConfig | undefined): Partial<CheckpointAddress> {
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = config?.configurable ?? {};
  return {
    threadId: optionalId("thread_id", thread_id),
    namespace: checkpoint_ns === "" ? "" : optionalId("checkpoint_ns", checkpoint_ns),
    checkpointId: optionalId("checkpoint_id", checkpoint_id || thread_ts || undefined),
  };
}

export function threadAddress(config: RunnableConfig, purpose: string): CheckpointAddress {
  const { threadId, namespace = "", checkpointId } = addressOf(config);
  if (threadId === undefined)
    throw new DeepwrightError("INVALID_ID", `To ${purpose} the config must name a thread.`, {
      hint: 'Pass {configurable: {thread_id: "…"}}.',
    });
  return { threadId, namespace, checkpointId };
}

function optionalId(name: string, value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : checkedId(name, value);
}

export function checkedId(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "")
    throw invalid(name, `must be a string that is not empty, not ${kindOf(value)}`);
  if (Buffer.byteLength(value) > MOST_BYTES) throw invalid(name, `is longer than ${MOST_BYTES} bytes`);
  return checkedText(name, value);
}

/** A name of any length, such as a path; it may be empty. */
export function checkedText(name: string, value: unknown): string {
  if (typeof value !== "string") throw invalid(name, `must be a string, not ${kindOf(value)}`);
  if (value.includes("\0") || !value.isWellFormed())
    throw invalid(name, "has a character no database keeps (NUL, or half of a surrogate pair)");
  return value;
}

function kindOf(value: unknown): string {
  if (value === "") return "an empty one";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function invalid(name: string, problem: string): DeepwrightError {
  return new DeepwrightError("INVALID_ID", `The id '${name}' ${problem}.`);
}
