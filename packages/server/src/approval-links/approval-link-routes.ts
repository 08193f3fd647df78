/** One decision for the holder of a link. Opening the link shows the calls; the decision uses it up. */
import type { Approval, LinkDecision } from "@deepwright/protocol";
import { invalid, notFound, Problem } from "../http/problems.ts";
import { approvalsIn } from "../routes/approval-routes.ts";
import type { Call, Handlers } from "../routes/call.ts";
import { answerInterrupts } from "../routes/thread-work-routes.ts";
import { type ApprovalLinks, hashOf, type LinkedDecision } from "./approval-links.ts";

/** A link decides about the calls as they are: it edits none, and allows no others. */
const DECISIONS: ReadonlySet<string> = new Set(["approve", "reject", "respond"]);

export const approvalLinkRoutes: Handlers<"approvalLinks"> = {
  "approvalLinks.read": async (call) => {
    const found = await decisionOf(call, call.body.link);
    const waiting = await waitingOf(call, found);
    if (waiting === undefined) return { status: "answered" as const };
    const { calls, agent_path, waiting_since } = waiting;
    return {
      status: "waiting" as const,
      expires_at: found.expiresAt,
      waiting_since,
      ...(agent_path && { agent_path }),
      calls: calls.map((one) => ({
        ...one,
        allowed_decisions: one.allowed_decisions.filter((type) => DECISIONS.has(type)),
      })),
    };
  },

  "approvalLinks.decide": async (call) => {
    const { link, decisions } = call.body;
    const found = await decisionOf(call, link);
    const waiting = await waitingOf(call, found);
    if (waiting === undefined) throw answered();
    checkDecisions(decisions, waiting);
    const run = await call.services.runs.get(found.owner, found.runId);
    const { threadId, interruptId, owner } = found;
    const isMine = await linksOf(call).use(link, () =>
      answerInterrupts({ ...call, owner, caller: { ...run?.user, identity: owner } }, threadId, {
        answers: { [interruptId]: { decisions } },
        keyStandsFor: ["answer", threadId, interruptId, decisions],
      }),
    );
    if (!isMine) throw answered();
    return undefined;
  },
};

type LinkCall = Pick<Call, "services">;

function linksOf({ services: { approvalLinks } }: LinkCall): ApprovalLinks {
  if (approvalLinks) return approvalLinks;
  throw new Problem("NOT_SUPPORTED", "This server makes no links to approvals.");
}

async function decisionOf(call: LinkCall, link: string): Promise<LinkedDecision> {
  const found = await linksOf(call).find(link);
  if (found === undefined) throw notFound("link");
  return found;
}

/** Undefined: the very calls of the link do not wait any more. */
async function waitingOf(
  { services }: LinkCall,
  { owner, threadId, runId, interruptId, callsHash }: LinkedDecision,
): Promise<Approval | undefined> {
  // A thread that was made later under the same id has another run.
  if ((await services.runs.get(owner, runId))?.thread_id !== threadId) return undefined;
  const thread = await services.records.threads.get(owner, threadId);
  // Whoever moved the thread to the trash wanted its work to end.
  if (thread?.status !== "interrupted" || thread.trashed_at !== undefined) return undefined;
  const waiting = approvalsIn(thread).find(({ interrupt_id: id }) => id === interruptId);
  return waiting && hashOf(waiting.calls) === callsHash ? waiting : undefined;
}

function checkDecisions(decisions: LinkDecision["decisions"], { calls }: Approval): void {
  if (decisions.length !== calls.length)
    throw invalid(`decisions: must be ${calls.length}, one for each call.`);
  for (const [at, { type }] of decisions.entries())
    if (!calls[at]?.allowed_decisions.includes(type))
      throw invalid(`decisions[${at}]: this call cannot be answered with ${type}.`);
}

const answered = () => new Problem("NOTHING_TO_RESUME", "This was answered already.");
