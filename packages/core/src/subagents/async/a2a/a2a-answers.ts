/** Readers for answers of A2A agents, of versions 1.0 and 0.3. Pure. */
import type { AsyncTaskStatus } from "../async-task.ts";
import { idIn } from "../server-answers.ts";
import { failed } from "../server-requests.ts";
import type { AsyncReport, AsyncRun } from "../transport.ts";
import { UPDATE_TOOL } from "../words.ts";

type Json = Readonly<Record<string, unknown>>;

/** States without the prefix that version 1.0 has. */
const STATUS: Readonly<Record<string, AsyncTaskStatus>> = {
  ...{ submitted: "pending", working: "running", completed: "success", failed: "error", rejected: "error" },
  ...{ canceled: "cancelled", input_required: "interrupted", auth_required: "interrupted" },
};

/** A task, or a message that is the whole answer. */
export function sentAnswer(
  result: unknown,
): { readonly task: Json } | { readonly text: string; readonly contextId: unknown } {
  const given = recordIn(result) ?? {};
  const message = recordIn(given.message) ?? (given.kind === "message" ? given : undefined);
  if (message) return { text: partsText(message.parts), contextId: message.contextId };
  return { task: taskIn(given) };
}

/** Version 1.0 wraps the task that a message begins. */
export function taskIn(result: unknown): Json {
  const given = recordIn(result);
  const task = recordIn(given?.task) ?? given;
  if (task === undefined || stateOf(task) === undefined) throw failed("answered without a usable task");
  return task;
}

export function runOfTask(task: Json): AsyncRun {
  return { threadId: idIn(task, "contextId"), runId: idIn(task, "id"), status: statusOf(task) };
}

export function reportOf(task: Json): AsyncReport {
  const status = statusOf(task);
  if (status === "pending" || status === "running") return { status };
  const said = partsText(recordIn(recordIn(task.status)?.message)?.parts);
  if (status === "success") return { status, result: artifactsText(task) || said || lastWords(task) };
  if (status !== "interrupted") return { status, reason: said || REASONS[status] };
  const asks = stateOf(task) === "auth_required" ? "It needs credentials" : "It asks";
  return { status, reason: `${asks}: ${said || "it does not say what."}\nAnswer with \`${UPDATE_TOOL}\`.` };
}

const REASONS: Partial<Record<AsyncTaskStatus, string>> = {
  error: "It failed; the agent does not say why.",
  cancelled: "It was stopped.",
};

export function statusOf(task: Json): AsyncTaskStatus {
  const status = STATUS[stateOf(task) ?? ""];
  if (status === undefined) throw failed("answered without a usable state of the task");
  return status;
}

function stateOf(task: Json): string | undefined {
  const state = recordIn(task.status)?.state;
  if (typeof state !== "string") return undefined;
  return state
    .toLowerCase()
    .replace(/^task_state_/, "")
    .replaceAll("-", "_");
}

function artifactsText({ artifacts }: Json): string {
  return recordsIn(artifacts)
    .map(({ parts }) => partsText(parts))
    .filter((text) => text !== "")
    .join("\n\n");
}

function lastWords({ history }: Json): string {
  const own = recordsIn(history).filter(({ role }) => role === "agent" || role === "ROLE_AGENT");
  return partsText(own.at(-1)?.parts);
}

/** Texts as they are, data as JSON, and files by their names. */
function partsText(parts: unknown): string {
  const texts = recordsIn(parts).map(({ text, data, file, url, filename }) => {
    if (typeof text === "string") return text;
    if (data !== undefined) return JSON.stringify(data);
    const named = recordIn(file);
    return `[file ${String(filename || named?.name || named?.uri || url || "without a name")}]`;
  });
  return texts.join("\n").trim();
}

export function recordIn(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function recordsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(recordIn).filter((one) => one !== undefined) : [];
}
