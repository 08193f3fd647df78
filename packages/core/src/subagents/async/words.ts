/** Words about background tasks for the model that starts them. Snapshot-tested. */
import type { AsyncTask, AsyncTaskStatus } from "./async-task.ts";
import type { AsyncReport } from "./transport.ts";

export const START_TOOL = "start_async_task";
export const CHECK_TOOL = "check_async_task";
export const UPDATE_TOOL = "update_async_task";
export const CANCEL_TOOL = "cancel_async_task";
export const LIST_TOOL = "list_async_tasks";

export const ASYNC_TASK_SYSTEM_PROMPT = `## Background tasks
\`${START_TOOL}\` has a subagent work in the background while you go on talking with the user. After starting tasks, tell the user what was started and end your turn: do not check at once and do not wait. Check when the user asks, or when a message says that a task has ended. What you remember of a task may be old: before you speak of its state, look with \`${CHECK_TOOL}\` or \`${LIST_TOOL}\`. Name tasks by their whole ids.`;

export const START_WORDS = `Have a subagent do a task in the background; gives the task's id at once. It knows nothing of this conversation: say what to do, everything it needs to know, and what to report. Independent tasks belong in one turn.
Types:`;
export const CHECK_WORDS = "The status of a background task, and its result when it is done.";
export const UPDATE_WORDS =
  "Give a background task another instruction. It keeps what it has done so far and goes on with this; one that is done takes it as a follow-up.";
export const CANCEL_WORDS = "Stop a background task. What it has done so far is not undone.";
export const LIST_WORDS = "All background tasks of this conversation with their present status.";

export function started({ taskId, agentName }: AsyncTask): string {
  return `Started. Task id: ${taskId} ('${agentName}'). It works in the background: end your turn now and check it later.`;
}

export function checked({ taskId, agentName }: AsyncTask, { status, result, reason }: AsyncReport): string {
  const head = `Task ${taskId} ('${agentName}'): ${status}`;
  if (status === "success") return `${head}\n${result || "It had nothing to say."}`;
  if (reason !== undefined) return `${head}\n${reason}`;
  return `${head}. There is no result yet.`;
}

/** The reason why a task did not finish, with its last words. */
export function withLastWords(reason: string, text: string): string {
  return text === "" ? reason : `${reason}\nIts last words:\n${text}`;
}

export function updated({ taskId, status }: AsyncTask): string {
  return `Task ${taskId} goes on with the new instruction. Status: ${status}.`;
}

export function cancelled({ taskId }: AsyncTask): string {
  return `Task ${taskId} is cancelled.`;
}

export function notRunning({ taskId }: AsyncTask, status: AsyncTaskStatus): string {
  return `Task ${taskId} is over already (${status}); there is nothing to cancel.`;
}

export function listed(tasks: readonly AsyncTask[], filter: string | undefined): string {
  if (tasks.length === 0)
    return filter === undefined
      ? "There are no background tasks in this conversation."
      : `There are no background tasks with status '${filter}'.`;
  return tasks.map(line).join("\n");
}

function line({ taskId, agentName, status, description = "" }: AsyncTask): string {
  return `- ${taskId} · ${agentName} · ${status}${description === "" ? "" : ` · ${oneLine(description)}`}`;
}

const LINE_LENGTH = 100;

function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length > LINE_LENGTH ? `${flat.slice(0, LINE_LENGTH)}…` : flat;
}

export function unknownAgent(type: string, names: readonly string[]): string {
  return `Error: There is no background subagent '${type}'. The types are: ${names.join(", ")}.`;
}

export function unknownTask(id: string, known: readonly AsyncTask[]): string {
  const list = known.map(({ taskId, agentName }) => `${taskId} ('${agentName}')`).join(", ");
  return `Error: There is no background task '${id}'. ${known.length === 0 ? "None was started in this conversation." : `The tasks are: ${list}.`}`;
}

export function unknownStatus(filter: string, statuses: readonly string[]): string {
  return `Error: There is no status '${filter}'. The statuses are: ${statuses.join(", ")}.`;
}

export function agentGone({ agentName, taskId }: AsyncTask, names: readonly string[]): string {
  return `Error: Task ${taskId} was given to '${agentName}', which no longer exists. The types are: ${names.join(", ")}.`;
}

export const ONLY_OUTERMOST =
  "Error: You work on a task of another agent, so a task that you start could not report back. Do the work yourself, or report what should be started.";

/** Text for the thread when a task is over; no part of it comes from the subagent. */
export function endWords(agentName: string, taskId: string, status: AsyncTaskStatus): string {
  const who = agentName === "" ? taskId : `${taskId} ('${agentName}')`;
  return `[Background task ${who} ${ENDS[status] ?? "has ended"}. \`${CHECK_TOOL}\` tells more.]`;
}

const ENDS: Partial<Record<AsyncTaskStatus, string>> = {
  success: "is done",
  error: "has failed",
  timeout: "has run out of time",
  cancelled: "was cancelled",
  interrupted: "waits for a person's decision",
};
