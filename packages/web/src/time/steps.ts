/** The state of a thread at one of its steps. */
import { type Screen, screenOfThread } from "@deepwright/protocol/live";
import { call } from "../state/connection.ts";
import { type Change, readChanges } from "../undo/undo-calls.ts";

export interface Past {
  readonly screen: Screen;
  /** Whether the agent had more to do at this step. */
  readonly goesOn: boolean;
  /** All files that the thread had changed until then. */
  readonly changes: readonly Change[];
}

interface State {
  readonly values: Readonly<Record<string, unknown>> | null;
  readonly next: readonly string[];
}

const MOST_KEPT = 30;
const kept = new Map<string, Promise<Past>>();

/** A step that is over does not change, so it is read once. */
export function readPast(threadId: string, first: string, checkpointId: string): Promise<Past> {
  const key = `${threadId}|${checkpointId}`;
  const known = kept.get(key);
  if (known) return known;
  const reading = read(threadId, first, checkpointId);
  kept.set(key, reading);
  reading.catch(() => kept.delete(key));
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return reading;
}

async function read(threadId: string, first: string, checkpointId: string): Promise<Past> {
  const parameters = { thread_id: threadId, checkpoint_id: checkpointId };
  const [{ values, next }, changes] = await Promise.all([
    call<State>("GET", "/threads/:thread_id/state/:checkpoint_id", { parameters }),
    checkpointId === first ? [] : readChanges(threadId, { from: first, to: checkpointId }),
  ]);
  return {
    screen: screenOfThread({ thread_id: threadId, values: values ?? {} }),
    goesOn: next.length > 0,
    changes,
  };
}
