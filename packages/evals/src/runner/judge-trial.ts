/** Turns the end of a trial into its record: verdicts, status, usage and trace. */
import type { Verdict, Verifier, VerifierTools } from "../verifiers/verifier.ts";
import { isHarborCase, playHarborTask } from "./harbor-trial.ts";
import { infrastructureReason } from "./infrastructure.ts";
import { lostEdits } from "./lost-edits.ts";
import { messageOf, playTrial, type TrialEnd, type TrialRequest } from "./run-trial.ts";
import { traceOf } from "./trace.ts";
import type { TrialRecord, TrialStatus, VerdictRecord } from "./trial-record.ts";
import { LimitReached } from "./usage-meter.ts";

export interface JudgedTrialRequest extends TrialRequest {
  readonly category: string;
  /** From 1. */
  readonly trial: number;
  readonly verifierTools: VerifierTools;
}

/** Plays one trial and checks it. Throws only when the caller's signal was aborted. */
export async function runTrial(request: JudgedTrialRequest): Promise<TrialRecord> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const { case: given } = request;
  const end = isHarborCase(given) ? await playHarborTask(given.harbor, request) : await playTrial(request);
  const used = process.cpuUsage(cpu);
  const wallMs = performance.now() - started;
  request.signal?.throwIfAborted();
  const checked = await check(request, end);
  request.signal?.throwIfAborted();
  return {
    harness: request.harness.name,
    model: request.models.name,
    category: request.category,
    case: request.case.id,
    trial: request.trial,
    ...checked,
    usage: {
      ...end.meter.usage(),
      invalidRequests: end.invalidRequests,
      lostEdits: lostEdits(end.output),
    },
    trace: traceOf(request.case, end),
    times: { cpuMs: Math.round((used.user + used.system) / 1000), wallMs: Math.round(wallMs) },
  };
}

interface Checked {
  readonly status: TrialStatus;
  readonly reason?: string;
  readonly verdicts: readonly VerdictRecord[];
}

async function check(
  { case: given, models, verifierTools }: JudgedTrialRequest,
  end: TrialEnd,
): Promise<Checked> {
  const broken = models.scripted ? undefined : infrastructureReason(end.error);
  if (broken !== undefined) return { status: "infrastructure", reason: broken, verdicts: [] };
  const verdicts: VerdictRecord[] = [];
  for (const verifier of given.verify) {
    const found = await verdictOf(verifier, end, verifierTools);
    if ("infrastructure" in found)
      return { status: "infrastructure", reason: found.infrastructure, verdicts };
    verdicts.push(found);
  }
  const failure = verdicts.find(({ passed }) => !passed);
  // A trial that was stopped by a limit has not ended by itself, whatever its files look like.
  const isOver = end.error instanceof LimitReached;
  if (failure === undefined && !isOver) return { status: "passed", verdicts };
  const reasons = [
    ...(failure === undefined ? [] : [`${failure.name}: ${failure.reason}`]),
    ...(end.error === undefined ? [] : [messageOf(end.error)]),
  ];
  return { status: "failed", reason: reasons.join("; "), verdicts };
}

async function verdictOf(
  { name, judged, check: checkOutput }: Verifier,
  { output }: TrialEnd,
  tools: VerifierTools,
): Promise<VerdictRecord | { readonly infrastructure: string }> {
  const marked = judged ? { name, judged } : { name };
  try {
    const verdict: Verdict = await checkOutput(output, tools);
    return verdict.passed
      ? { ...marked, passed: true }
      : { ...marked, passed: false, reason: verdict.reason };
  } catch (error) {
    const infrastructure = infrastructureReason(error);
    if (infrastructure !== undefined) return { infrastructure };
    return { ...marked, passed: false, reason: `the verifier threw: ${messageOf(error)}` };
  }
}
