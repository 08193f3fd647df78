/** A comparison of two threads by the server, and changes that are made or undone from there. */
import { call } from "../state/connection.ts";
import { threads } from "../state/threads.ts";
import type { Amount } from "../state/usage.ts";
import { type Change, type Report, readChanges, readSteps, restore } from "../undo/undo-calls.ts";

export interface ComparedThread {
  readonly thread_id: string;
  readonly status: string;
  readonly answer: string;
  readonly steps: number;
  readonly model?: string;
  readonly usage: Amount;
  readonly commands: readonly {
    readonly command: string;
    readonly exit_code: number | null;
    readonly is_check?: boolean;
  }[];
  readonly changes: readonly {
    readonly path: string;
    readonly place?: string;
    readonly kind: string;
    readonly added: number | null;
    readonly removed: number | null;
  }[];
}

export async function readComparison(one: string, other: string): Promise<readonly ComparedThread[]> {
  const parameters = { thread_id: one, other_thread_id: other };
  const { threads: compared } = await call<{ readonly threads: readonly ComparedThread[] }>(
    "GET",
    "/threads/:thread_id/compare/:other_thread_id",
    { parameters },
  );
  return compared;
}

/** The change of one file from the first step to the last. */
export async function readChange(threadId: string, path: string): Promise<Change | undefined> {
  const [first] = await readSteps(threadId);
  if (first === undefined) return undefined;
  const [change] = await readChanges(threadId, { from: first.checkpoint_id, path });
  return change;
}

export type PutKind = "adopt" | "takeBack";

/** Makes the changes of a thread on disk, or undoes them. */
export async function put(kind: PutKind, threadId: string, dryRun: boolean): Promise<Report> {
  if (kind === "takeBack") return restore(threadId, { since: await beginOf(threadId) }, dryRun);
  const parameters = { thread_id: threadId };
  return call("POST", "/threads/:thread_id/adopt", { parameters, body: { dry_run: dryRun } });
}

/** A copy begins where it was made; what lies before is of the thread that it was made of. */
async function beginOf(threadId: string): Promise<string> {
  const steps = await readSteps(threadId);
  const isCopy =
    threads.peek().find(({ thread_id: id }) => id === threadId)?.metadata.branched_from !== undefined;
  const begin = isCopy ? steps.findLast(({ source }) => source === "fork") : undefined;
  return (begin ?? steps[0])?.checkpoint_id ?? "";
}
