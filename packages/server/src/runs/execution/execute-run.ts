/** One claimed run at work, and the requests that it takes meanwhile. */
import { RunControl } from "@langchain/langgraph";
import { after } from "deepwright/duration";
import type { RunClaim } from "../../records/records.ts";
import { createSteering } from "../mail/steering.ts";
import type { ActiveRun } from "./active-runs.ts";
import { Execution, type ExecutionParts } from "./execution.ts";
import { keepRun } from "./run-keeper.ts";
import { RunStopped, type Stop } from "./run-stopped.ts";

export function executeRun(claim: RunClaim, parts: ExecutionParts): ActiveRun {
  const { run } = claim;
  const stop = new AbortController();
  const gone = new AbortController();
  const control = new RunControl();
  const steering = createSteering(parts.records.mail, run.thread_id, run.request.interrupt_before);
  let action = run.cancel;
  const halt = (why: Stop) => {
    const reason = new RunStopped(why);
    if (!stop.signal.aborted) stop.abort(reason);
    if (why === "lost" || why === "leave") gone.abort(reason);
  };
  const cancel = (wanted: "interrupt" | "rollback") => {
    action ??= wanted;
    halt("cancel");
  };
  if (action !== undefined) halt("cancel");
  const stopKeeping = keepRun({
    ...parts,
    claim,
    ttlMs: parts.claimTtlMs,
    onLost: () => halt("lost"),
    onCancel: cancel,
    onLook: () => steering.look(),
  });
  const stopTimeout = after(parts.runTimeoutMs, () => halt("timeout"));
  const signals = { stop: stop.signal, gone: gone.signal };
  const ended = new Execution(claim, parts, signals, control, steering, () => action).whole().finally(() => {
    stopKeeping();
    stopTimeout();
  });
  return {
    run,
    ended,
    cancel,
    look: () => void steering.look().catch(() => undefined),
    drain: () => control.requestDrain("drain"),
    leave: () => halt("leave"),
  };
}
