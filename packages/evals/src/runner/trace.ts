/** The steps of a trial for a person who wants to know why it failed. Long texts are cut. */
import type { EvalCase } from "../format/eval-case.ts";
import { messageOf, type TrialEnd } from "./run-trial.ts";
import type { TraceStep } from "./trial-record.ts";

const LONGEST_TEXT = 1_500;
const MOST_STEPS = 200;

export function traceOf({ task }: EvalCase, { meter, output, error }: TrialEnd): TraceStep[] {
  const steps: TraceStep[] = [task].flat().map((text) => ({ kind: "user", text: cut(text) }));
  let seen = 0;
  for (const { message } of meter.replies) {
    const count = (message.tool_calls?.length ?? 0) + (message.invalid_tool_calls?.length ?? 0);
    const calls = [
      ...(message.tool_calls ?? []).map(({ name, args }) => ({ name, args: cut(JSON.stringify(args)) })),
      ...(message.invalid_tool_calls ?? []).map(({ name, args }) => ({
        name: name ?? "",
        args: cut(args ?? ""),
      })),
    ];
    steps.push({ kind: "reply", text: cut(message.text), ...(calls.length > 0 ? { calls } : {}) });
    for (const { result, failed } of output.calls.slice(seen, seen + count))
      steps.push({ kind: "result", text: cut(result ?? "(no result)"), ...(failed ? { failed } : {}) });
    seen += count;
  }
  if (error !== undefined) steps.push({ kind: "fault", text: cut(messageOf(error)) });
  return steps.slice(0, MOST_STEPS);
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters)`;
}
