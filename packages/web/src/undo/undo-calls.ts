/** Requests to the server about steps and their files, and to put files back. */
import { call } from "../state/connection.ts";
import type { UndoRequest } from "./undo-request.ts";
import { undoWords } from "./undo-words.ts";

export interface Step {
  readonly step: number;
  readonly checkpoint_id: string;
  readonly at: string;
  readonly source: string;
  readonly changed_files: readonly string[];
  /** Tool calls that changed files on disk. */
  readonly calls: readonly string[];
  readonly summary: string;
  readonly message_id?: string;
}

export interface Change {
  readonly path: string;
  /** Absent: the file is in the state of the thread. */
  readonly place?: string;
  readonly kind: "created" | "changed" | "deleted";
  readonly patch: string | null;
  readonly detail?: string;
}

export interface Report {
  readonly restored: readonly Change[];
  readonly conflicts: readonly {
    readonly path: string;
    readonly reason: string;
    readonly kept_at?: string;
  }[];
  readonly not_covered: readonly {
    readonly path?: string;
    readonly command?: string;
    readonly reason: string;
  }[];
  /** Id of the restore; null where nothing was written. */
  readonly call?: string | null;
  /** The checkpoint that a rewind left. */
  readonly previous_id?: string;
}

/** Body of a restore, and the checkpoint of a rewind that takes back the messages, too. */
export interface UndoPart {
  readonly body: Readonly<Record<string, string>>;
  readonly rewindTo?: string;
}

const of = (threadId: string) => ({ parameters: { thread_id: threadId } });

export async function readSteps(threadId: string): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (let skip: number | undefined = 0; skip !== undefined; ) {
    const page: { readonly steps: readonly Step[]; readonly next?: number } = await call(
      "GET",
      "/threads/:thread_id/steps",
      { ...of(threadId), query: { skip } },
    );
    steps.push(...page.steps);
    skip = page.next;
  }
  return steps;
}

interface Range {
  readonly from: string;
  /** Undefined: until now. */
  readonly to?: string;
  /** Only this file. */
  readonly path?: string;
}

/** Changes between two steps. */
export async function readChanges(threadId: string, range: Range): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (let skip: number | undefined = 0; skip !== undefined; ) {
    const page: { readonly changes: readonly Change[]; readonly next?: number } = await call(
      "GET",
      "/threads/:thread_id/files/diff",
      { ...of(threadId), query: { ...range, skip } },
    );
    changes.push(...page.changes);
    skip = page.next;
  }
  return changes;
}

export function restore(
  threadId: string,
  body: Readonly<Record<string, string>>,
  dryRun = false,
): Promise<Report> {
  return call("POST", "/threads/:thread_id/restore", { ...of(threadId), body: { ...body, dry_run: dryRun } });
}

export function rewind(threadId: string, checkpointId: string, dryRun = false): Promise<Report> {
  const body = { checkpoint_id: checkpointId, dry_run: dryRun };
  return call("POST", "/threads/:thread_id/rewind", { ...of(threadId), body });
}

/** `messageOfCall` finds the message that a call stands in. */
export async function partOf(
  threadId: string,
  request: UndoRequest,
  messageOfCall: (call: string) => string | undefined,
): Promise<UndoPart> {
  switch (request.kind) {
    case "file":
      return { body: { path: request.path } };
    case "call":
      return { body: { call: request.call } };
    case "agent":
      return { body: { agent: request.task } };
    case "step":
      return { body: { checkpoint_id: request.checkpointId } };
    case "since":
      return { body: { since: request.checkpointId } };
    default:
      return partOfSteps(await readSteps(threadId), request, messageOfCall);
  }
}

function partOfSteps(
  steps: readonly Step[],
  request: Extract<UndoRequest, { kind: "since-message" | "since-call" | "last" | "all" }>,
  messageOfCall: (call: string) => string | undefined,
): UndoPart {
  const idOf = (index: number): string | undefined => steps[index]?.checkpoint_id;
  switch (request.kind) {
    case "since-message": {
      const index = steps.findIndex(({ message_id: id }) => id === request.messageId);
      if (index < 1) throw new Error(undoWords.noMessageStep);
      // The step before takes the input; the state before that one does not have the message.
      const before = steps[index - 1]?.source === "input" && index > 1 ? index - 2 : index - 1;
      const id = idOf(before) as string;
      return { body: { since: id }, rewindTo: id };
    }
    case "since-call": {
      const index = steps.findIndex(({ calls }) => calls.includes(request.call));
      const message = messageOfCall(request.call);
      const spoken = steps.find(({ message_id: id }) => id !== undefined && id === message);
      const id = idOf(index - 1) ?? spoken?.checkpoint_id;
      if (id === undefined) throw new Error(undoWords.noCallStep);
      return { body: { since: id } };
    }
    case "last": {
      const last = steps.findLast(({ calls }) => calls.length > 0);
      if (!last) throw new Error(undoWords.noStep);
      return { body: { checkpoint_id: last.checkpoint_id } };
    }
    case "all": {
      const id = idOf(0);
      if (id === undefined) throw new Error(undoWords.noStep);
      return { body: { since: id }, rewindTo: id };
    }
  }
}
