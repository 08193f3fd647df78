/** The tool calls that a thread recorded, its subagents' included. */
import type { SharedSaver } from "../saver/shared-saver.ts";

export interface RecordedCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** A subagent made it. */
  readonly isOfSubagent: boolean;
  /** Usage of the run when the model made the call. Absent for subagents, whose place in the run is not known. */
  readonly used?: UsedByRun;
}

export interface UsedByRun {
  /** Model calls since the last message of a person, the one that made the call included. */
  readonly steps: number;
  /** Tokens in and out of the model calls before that one. */
  readonly tokens: number;
}

/** Each call once. Calls of steps that were pruned are gone. */
export async function recordedCalls(saver: SharedSaver, threadId: string): Promise<readonly RecordedCall[]> {
  const calls = new Map<string, RecordedCall>();
  for (const namespace of await namespacesOf(saver, threadId)) {
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: namespace } });
    const messages: unknown = tuple?.checkpoint.channel_values.messages;
    let used: UsedByRun = { steps: 0, tokens: 0 };
    let tokens = 0;
    for (const message of Array.isArray(messages) ? messages : []) {
      if (message?.type === "human") [used, tokens] = [{ steps: 0, tokens: 0 }, 0];
      if (message?.type === "ai") {
        used = { steps: used.steps + 1, tokens };
        tokens += Number(message.usage_metadata?.total_tokens ?? 0);
      }
      const made: unknown = message?.tool_calls;
      for (const call of Array.isArray(made) ? made : []) {
        const { id, name, args } = (call ?? {}) as Record<string, unknown>;
        if (typeof name !== "string" || typeof args !== "object" || args === null) continue;
        const key = typeof id === "string" ? id : `${namespace} ${calls.size}`;
        const known = { id: key, tool: name, args: args as RecordedCall["args"] };
        const isOfSubagent = namespace !== "";
        if (!calls.has(key)) calls.set(key, { ...known, isOfSubagent, ...(!isOfSubagent && { used }) });
      }
    }
  }
  return [...calls.values()];
}

const PAGE = 500;

/** The thread's own first, then those of its subagents. */
async function namespacesOf({ storage }: SharedSaver, threadId: string): Promise<readonly string[]> {
  const found = new Set([""]);
  let after: { threadId: string; namespace: string; id: string } | undefined;
  for (;;) {
    const rows = await storage.listRows({ threadId, limit: PAGE, ...(after && { after }) });
    for (const { checkpoint } of rows) found.add(checkpoint.namespace);
    const last = rows.at(-1)?.checkpoint;
    if (last === undefined || rows.length < PAGE) return [...found];
    after = { threadId, namespace: last.namespace, id: last.id };
  }
}
