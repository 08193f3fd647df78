/** A thread as listings show it and as a run leaves it. */

import { type AgentOutcome, agentOutcome, type Interrupt, type RunStatus } from "@deepwright/protocol";
import type { AnyGraph } from "../agents/graph-types.ts";
import { readState } from "./state/read-state.ts";
import type { WireJson } from "./wire/wire-json.ts";

export interface ThreadView {
  readonly values: Record<string, unknown> | null;
  /** With the private keys, for the server itself. */
  readonly all: Record<string, unknown>;
  /** By the task that waits. */
  readonly interrupts: Record<string, Interrupt[]>;
  /** Nodes that would run next. */
  readonly next: readonly string[];
  readonly messageIds: ReadonlySet<string>;
}

/** The end of a run as clients see it. */
export type ShownEnd = Partial<Pick<ThreadView, "values" | "interrupts">> & {
  readonly outcome?: AgentOutcome;
};

/** Messages become plain data. Only a run that came to its end has an outcome. */
export function shownEnd(
  { values, interrupts }: ThreadView,
  status: RunStatus,
  wireJson: WireJson,
): ShownEnd {
  const shown: ShownEnd = JSON.parse(wireJson({ values, interrupts }));
  const outcome = agentOutcome.safeParse(status === "success" ? shown.values?.outcome : undefined);
  return outcome.success ? { ...shown, outcome: outcome.data } : shown;
}

/** Private keys of the agent are not in it. */
export async function readThread(agent: AnyGraph, threadId: string): Promise<ThreadView> {
  const { values, tasks, next } = await readState(agent, { configurable: { thread_id: threadId } });
  const all = (values ?? {}) as Record<string, unknown>;
  const interrupts: Record<string, Interrupt[]> = {};
  for (const { id, interrupts: waiting } of tasks)
    if (waiting.length > 0) interrupts[id] = waiting.map(({ id, value }) => ({ id, value }));
  const messages = Array.isArray(all.messages) ? (all.messages as { id?: string }[]) : [];
  return {
    values: next.length === 0 && Object.keys(all).length === 0 ? null : publicValues(agent, all),
    all,
    interrupts,
    next,
    messageIds: new Set(messages.flatMap(({ id }) => (id === undefined ? [] : [id]))),
  };
}

/** Without the keys an agent has for itself. */
export function publicValues(agent: AnyGraph, values: Record<string, unknown>): Record<string, unknown> {
  const isPublic = publicKeys(agent);
  return Object.fromEntries(Object.entries(values).filter(([key]) => isPublic(key)));
}

/** Whether a key is public, not private to the agent. */
export function publicKeys(agent: AnyGraph): (key: string) => boolean {
  const { outputChannels, channels } = agent as { outputChannels?: unknown; channels?: object };
  if (!Array.isArray(outputChannels)) return () => true;
  const own = new Set(Object.keys(channels ?? {}));
  for (const key of outputChannels) own.delete(key);
  return (key) => !own.has(key);
}
