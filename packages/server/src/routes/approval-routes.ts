/** Approvals and questions that wait for a person, over all threads of the caller. */
import { createHash } from "node:crypto";
import type { Approval, ApprovalCall, Interrupt } from "@deepwright/protocol";
import { callWarnings } from "deepwright/approval-warnings";
import { isRecord } from "deepwright/check-options";
import { after } from "deepwright/duration";
import type { ThreadRecord } from "../records/records.ts";
import type { Call, Handlers } from "./call.ts";
import { byteLimit } from "./listing.ts";

/** Milliseconds between two looks while a reader waits. */
const LOOK_MS = 500;
/** The answer comes so long before requests are given up. */
const SPARE_MS = 2_000;
const MOST_THREADS = 200;

const WAITING = { status: "interrupted", sort_by: "state_updated_at", sort_order: "asc", offset: 0 } as const;

export const approvalRoutes: Handlers<"approvals"> = {
  "approvals.list": async (call) => {
    const { query, owner, services, request } = call;
    const { threads } = services.records;
    const signal = AbortSignal.any([services.closing, request.signal]);
    const waits = query.after !== undefined && query.wait > 0;
    const mostMs = Math.min(query.wait * 1000, services.limits.answerMs - SPARE_MS);
    const release = waits ? services.streams.open(owner) : () => {};
    try {
      const begun = performance.now();
      let cursor = await cursorOf(call);
      while (waits && cursor === query.after && performance.now() - begun < mostMs && !signal.aborted) {
        await pause(LOOK_MS, signal);
        cursor = await cursorOf(call);
      }
      const found = await threads.search(
        owner,
        { ...WAITING, limit: MOST_THREADS, select: ["metadata", "interrupts"] },
        byteLimit(services.limits),
      );
      const total = await threads.count(owner, WAITING);
      return { approvals: found.flatMap(approvalsIn), cursor, total };
    } finally {
      release();
    }
  },
};

/** Another text as soon as another thread waits, or one waits for something else. */
async function cursorOf({ owner, services }: Pick<Call, "owner" | "services">): Promise<string> {
  const select = ["thread_id", "state_updated_at"] as const;
  const found = await services.records.threads.search(owner, {
    ...WAITING,
    limit: MOST_THREADS,
    select: [...select],
  });
  const hash = createHash("sha256");
  for (const { thread_id, incarnation, state_updated_at } of found)
    hash.update(`${thread_id} ${incarnation} ${state_updated_at}\n`);
  return hash.digest("base64url");
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const stop = after(milliseconds, end);
    function end(): void {
      stop();
      signal.removeEventListener("abort", end);
      done();
    }
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}

export function approvalsIn(thread: ThreadRecord): Approval[] {
  const { assistant_id: assistant } = thread.metadata;
  return Object.values(thread.interrupts)
    .flat()
    .flatMap(({ id, value }: Interrupt) =>
      id === undefined
        ? []
        : [
            {
              thread_id: thread.thread_id,
              interrupt_id: id,
              ...(typeof assistant === "string" && { assistant_id: assistant }),
              waiting_since: thread.state_updated_at,
              ...requestIn(value),
            },
          ],
    );
}

type Asked = Pick<Approval, "calls" | "question" | "agent_path" | "error">;

/** Interrupts of other agents may have any form. A form that we do not know is shown as a question. */
function requestIn(value: unknown): Asked {
  const { actionRequests, reviewConfigs, agentPath, error } = (isRecord(value) ? value : {}) as {
    readonly [Name in "actionRequests" | "reviewConfigs" | "agentPath" | "error"]?: unknown;
  };
  if (!Array.isArray(actionRequests) || !Array.isArray(reviewConfigs)) return { calls: [], question: value };
  return {
    calls: actionRequests.filter(isRecord).map((action, at) => callOf(action, reviewConfigs, at)),
    ...(Array.isArray(agentPath) && { agent_path: agentPath.map(String) }),
    ...(typeof error === "string" && { error }),
  };
}

function callOf(action: Record<string, unknown>, configs: readonly unknown[], at: number): ApprovalCall {
  const name = String(action.name);
  const args = isRecord(action.args) ? action.args : {};
  const config = configOf(configs, name, at);
  const allowed = config?.allowedDecisions;
  return {
    name,
    args,
    ...(typeof action.description === "string" && { description: action.description }),
    allowed_decisions: Array.isArray(allowed) ? allowed.map(String) : [],
    ...(config?.argsSchema !== undefined && { args_schema: config.argsSchema }),
    warnings: [...callWarnings({ name, args })],
  };
}

/** The config in the same place, or the one with the same name where there is one for each tool. */
function configOf(
  configs: readonly unknown[],
  name: string,
  at: number,
): Record<string, unknown> | undefined {
  const known = configs.filter(isRecord);
  const here = known[at];
  return here?.actionName === name ? here : known.find(({ actionName }) => actionName === name);
}
