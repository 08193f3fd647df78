/** Everything that waits for the caller, over all threads: asked for again as soon as something changes. */
import { computed, signal } from "@preact/signals";
import { call, session } from "./connection.ts";
import { readThreads } from "./threads.ts";

export interface ApprovalCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly description?: string;
  readonly allowed_decisions: readonly string[];
  readonly args_schema?: unknown;
  readonly warnings: readonly string[];
}

export interface Approval {
  readonly thread_id: string;
  readonly interrupt_id: string;
  readonly waiting_since: string;
  readonly agent_path?: readonly string[];
  readonly calls: readonly ApprovalCall[];
  readonly question?: unknown;
  readonly error?: string;
}

interface Answer {
  readonly approvals: readonly Approval[];
  readonly cursor: string;
  readonly total: number;
}

export const approvals = signal<readonly Approval[]>([]);
export const waitingCount = computed(() => new Set(approvals.value.map(({ thread_id: id }) => id)).size);

const WAIT_SECONDS = 20;
const PAUSE_MS = 3_000;

/** Warnings of the server about a call. Empty: none, or not known yet. */
export function warningsOf(interruptId: string, index: number): readonly string[] {
  return approvals.value.find(({ interrupt_id: id }) => id === interruptId)?.calls[index]?.warnings ?? [];
}

/** The same question in the form of an interrupt. */
export function interruptOf(approval: Approval): { readonly id: string; readonly value: unknown } {
  const { interrupt_id: id, calls, agent_path: agentPath, error, question } = approval;
  if (calls.length === 0) return { id, value: question };
  const actionRequests = calls.map(({ name, args, description }) => ({ name, args, description }));
  const reviewConfigs = calls.map(
    ({ name, allowed_decisions: allowedDecisions, args_schema: argsSchema }) => ({
      actionName: name,
      allowedDecisions,
      argsSchema,
    }),
  );
  return {
    id,
    value: { actionRequests, reviewConfigs, ...(agentPath && { agentPath }), ...(error && { error }) },
  };
}

export async function answerApproval(threadId: string, interruptId: string, body: object): Promise<void> {
  await call("POST", "/threads/:thread_id/interrupts/:interrupt_id", {
    parameters: { thread_id: threadId, interrupt_id: interruptId },
    body,
  });
}

/** Waits at the server for the next change, again and again. */
export async function watchApprovals(): Promise<void> {
  let cursor: string | undefined;
  for (;;) {
    try {
      if (session.peek() === "out") throw new Error("signed out");
      const query = cursor === undefined ? {} : { after: cursor, wait: WAIT_SECONDS };
      const answer = await call<Answer>("GET", "/approvals", { query });
      if (cursor !== answer.cursor) void readThreads().catch(() => undefined);
      if (JSON.stringify(answer.approvals) !== JSON.stringify(approvals.peek()))
        approvals.value = answer.approvals;
      cursor = answer.cursor;
    } catch {
      cursor = undefined;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}
