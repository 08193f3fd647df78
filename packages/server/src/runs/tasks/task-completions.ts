/**
 * Sends the completion callbacks of agents with `createCompletionCallbackMiddleware`.
 *
 * The need to report is stored with the end of the run, after every kind of end: a reply, a failure, a time-out, a
 * cancel, or a run that was given up because its processes died. The agent knows the address and the keys.
 */
import { type AsyncTaskHost, type Mailbox, tellAsyncTaskEnd } from "deepwright";
import { tellsAsyncTaskEnds } from "deepwright/internal";
import type { AgentRegistry } from "../../agents/registry.ts";
import type { Completion } from "../../records/contract/background-records.ts";
import type { Owner, RunRecord, ServerRecords } from "../../records/records.ts";
import { callbackOf } from "../../records/tables/completions.ts";
import { createDueWork, type DueWork, pauseAfter } from "../upkeep/due-work.ts";

export interface CompletionParts {
  readonly records: ServerRecords;
  readonly registry: AgentRegistry;
  /** Mailboxes of threads of this server. */
  readonly mailboxOf: (owner: Owner) => Mailbox;
  readonly onError: (error: unknown) => void;
}

const LEASE_MS = 40_000;
const PAUSES = [1_000, 600_000] as const;
/** About four hours of attempts. */
const MOST_ATTEMPTS = 40;

export function createCompletionTeller(parts: CompletionParts): DueWork {
  const { background } = parts.records;
  return createDueWork<Completion>({
    take: (limit) => background.takeCompletions(limit, LEASE_MS),
    work: (completion, signal) => told(parts, completion, signal),
    onError: parts.onError,
  });
}

async function told(
  parts: CompletionParts,
  completion: Completion,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { background } = parts.records;
  try {
    await tell(parts, completion);
    await background.noteAttempt(completion, null);
    return undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    const isLast = completion.looks >= MOST_ATTEMPTS;
    const inMs = isLast ? null : pauseAfter(completion.looks, PAUSES);
    await background.noteAttempt(completion, inMs);
    if (isLast)
      parts.onError(new Error(`The end of run ${completion.runId} could not be reported.`, { cause: error }));
    return inMs ?? undefined;
  }
}

async function tell(
  { records, registry, mailboxOf }: CompletionParts,
  completion: Completion,
): Promise<void> {
  const { owner, assistantId, threadId: taskId, runId, target, status, ends } = completion;
  const assistant = registry.assistant(assistantId) ?? (await records.assistants.get(owner, assistantId));
  // A removed agent sends nothing.
  if (assistant === undefined || !registry.has(assistant.graph_id)) return;
  const id = `async-task-${taskId}-${runId}${ends > 1 ? `-${ends}` : ""}`;
  const agent = await registry.load(assistant.graph_id);
  await tellAsyncTaskEnd(agent, target, { id, taskId, runId, status }, mailboxOf(owner));
}

/** Whether this server reports the end of the run, and not its agent. */
export function endTeller(
  { records, registry }: Pick<CompletionParts, "records" | "registry">,
  { owner, thread_id, assistant_id, request }: RunRecord,
): NonNullable<AsyncTaskHost["tellsEnd"]> {
  return async () => {
    const isKept =
      callbackOf(request) !== undefined || (await records.background.hasCompletion(owner, thread_id));
    if (!isKept) return false;
    const assistant = registry.assistant(assistant_id) ?? (await records.assistants.get(owner, assistant_id));
    if (assistant === undefined || !registry.has(assistant.graph_id)) return false;
    return tellsAsyncTaskEnds(await registry.load(assistant.graph_id));
  };
}
