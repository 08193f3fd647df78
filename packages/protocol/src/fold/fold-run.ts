/** The beginning and the end of runs. */
import { isRunStatus } from "../run-status.ts";
import type { AgentOutcome } from "../runs.ts";
import { mapAgents } from "./agents.ts";
import { settleCalls } from "./messages-of-agent.ts";
import { string } from "./read-message.ts";
import type { Screen, ShownCall, ShownRun } from "./screen.ts";
import { isRecord } from "./share.ts";

/** Another run: what waited goes on. The same run again: another try of it, and what the first was writing is lost. */
export function beginRun(screen: Screen, data: unknown): Screen {
  if (!isRecord(data)) return screen;
  const id = string(data.run_id);
  const threadId = string(data.thread_id);
  if (id === undefined) return screen;
  const attempt = typeof data.attempt === "number" ? data.attempt : 1;
  const again = screen.run.id === id;
  if (again && attempt <= screen.notes.attempt) return screen;
  const run: ShownRun = { id, ...(threadId === undefined ? {} : { threadId }), status: "running" };
  const begun = mapAgents(screen, ({ messages, status }) => ({
    status: status === "waiting" ? "running" : status,
    messages: settleCalls(
      messages.some(({ streaming }) => streaming) ? messages.filter(({ streaming }) => !streaming) : messages,
      (call) => (call.status === "waiting" ? "running" : call.status),
    ),
  }));
  return {
    ...begun,
    run,
    main: { ...begun.main, status: "running" },
    interrupts: screen.interrupts.length === 0 ? screen.interrupts : [],
    notes: { ...screen.notes, attempt },
  };
}

export function failRun(screen: Screen, data: unknown): Screen {
  const { error, message } = isRecord(data) ? data : {};
  const failure = { error: string(error) ?? "Error", message: string(message) ?? "" };
  return { ...screen, run: { ...screen.run, status: "error", error: failure } };
}

export function replaceRun(screen: Screen, data: unknown): Screen {
  const by = isRecord(data) ? string(data.by) : undefined;
  return by === undefined ? screen : { ...screen, run: { ...screen.run, replacedBy: by } };
}

/** A server that does not say how it ended: it failed if an error came, waits if something waits, else it succeeded. */
export function endRun(screen: Screen, data: unknown): Screen {
  const said = isRecord(data) ? data.status : undefined;
  const guessed = screen.run.error ? "error" : screen.interrupts.length > 0 ? "interrupted" : "success";
  const status = isRunStatus(said) ? said : guessed;
  const waits = status === "interrupted" && screen.interrupts.length > 0;
  const open = waits ? "waiting" : "stopped";
  const settled = mapAgents(screen, (agent) => ({
    status: agent.status === "running" ? (status === "success" ? "done" : open) : agent.status,
    messages: settleCalls(
      agent.messages,
      (call: ShownCall) => (call.status === "running" ? open : call.status),
      false,
    ),
  }));
  const main =
    status === "error" || status === "timeout" ? { ...settled.main, status: "error" as const } : settled.main;
  const outcome = isRecord(data) ? readOutcome(data.outcome) : undefined;
  return {
    ...settled,
    main,
    run: { ...screen.run, status, ...(outcome && { outcome }) },
  };
}

function readOutcome(value: unknown): AgentOutcome | undefined {
  if (!isRecord(value) || typeof value.kind !== "string") return undefined;
  if (value.detail !== undefined && typeof value.detail !== "string") return undefined;
  return value as AgentOutcome;
}
