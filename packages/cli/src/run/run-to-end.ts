/** Runs an agent and answers its questions, until it ends or must wait. */
import type { Approver, Reply } from "../approval/approver.ts";
import { Ledger } from "./output/ledger.ts";
import { type AgentRun, type RunResult, runAgent } from "./run-agent.ts";

/** `open` are the questions the thread waits with; where there are any, the run begins with their answers. */
export async function runToEnd(
  run: AgentRun,
  approver: Approver,
  open: readonly unknown[] = [],
): Promise<RunResult> {
  const ledger = new Ledger();
  ledger.wait(open);
  let result: RunResult = open.length > 0 ? waiting(ledger, false) : await runAgent({ ...run, ledger });
  for (let wasOpen = open.length > 0; result.end.kind === "approval"; wasOpen = false) {
    const reply = await replyOf(run, approver, ledger, wasOpen);
    if ("end" in reply) return reply;
    if (reply.kind === "waits") return waiting(ledger, reply.left);
    ledger.answered();
    const { Command } = await import("@langchain/langgraph");
    result = await runAgent({ ...run, input: new Command({ resume: reply.answers }), ledger });
  }
  return result;
}

function waiting(ledger: Ledger, left: boolean): RunResult {
  return { end: { kind: "approval", questions: ledger.pending.length, left }, ledger };
}

/** A stop during a question leaves the thread waiting. */
async function replyOf(
  { stop }: AgentRun,
  approver: Approver,
  ledger: Ledger,
  wasOpen: boolean,
): Promise<Reply | RunResult> {
  try {
    return await approver.reply(ledger.pending, wasOpen);
  } catch (error) {
    if (stop.reason === undefined) return { end: { kind: "failed", error }, ledger };
    return { end: { kind: "stopped", by: stop.reason }, ledger };
  }
}
