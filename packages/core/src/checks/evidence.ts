/** Results of checks, and whether they still say something about the files. Pure. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { type CheckedTodo, checkKey } from "./check.ts";

/** The channel with what the checks of a thread gave. */
export const EVIDENCE = "_checks";

export interface Evidence {
  /** Checks that passed, by key. The value is the id of the call or of the message they passed at. */
  readonly passed: Readonly<Record<string, string>>;
  /** How often the model was sent back to work at the end of this run. */
  readonly sentBack: number;
}

export const NO_EVIDENCE: Evidence = { passed: {}, sentBack: 0 };

export function evidenceIn(value: unknown): Evidence {
  return (value as Evidence | undefined) ?? NO_EVIDENCE;
}

/** Whether calls of this tool leave all files as they are. */
export type ChangesNothing = (tool: string) => boolean;

/** Evidence is fresh until a call that may change files stands beside it or behind it. */
export function isFresh(
  at: string | undefined,
  messages: readonly BaseMessage[],
  changesNothing: ChangesNothing,
): boolean {
  const start = messages.findLastIndex((message) => standsAt(message, at));
  if (at === undefined || start === -1) return false;
  return messages.slice(start).every((message) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    return calls.every((call) => call.id === at || changesNothing(call.name));
  });
}

function standsAt(message: BaseMessage, at: string | undefined): boolean {
  if (!AIMessage.isInstance(message)) return false;
  return message.id === at || (message.tool_calls ?? []).some((call) => call.id === at);
}

export interface TodoPlan {
  /** The new list; a todo that says nothing about the check it had keeps it. */
  readonly todos: readonly CheckedTodo[];
  /** Todos of the list before with a check that the new list does not have. */
  readonly dropped: readonly CheckedTodo[];
  /** Todos whose checks have to run now: they are newly completed. */
  readonly toRun: readonly CheckedTodo[];
}

export function planTodos(current: readonly CheckedTodo[], next: readonly CheckedTodo[]): TodoPlan {
  const checks = new Map(current.map(({ content, check }) => [content, check]));
  const todos = next.map((todo) => {
    const check = todo.check ?? checks.get(todo.content);
    return check === undefined ? todo : { ...todo, check };
  });
  const kept = new Set(keysOf(todos));
  const completed = new Set(keysOf(current.filter(({ status }) => status === "completed")));
  return {
    todos,
    dropped: current.filter(({ check }) => check !== undefined && !kept.has(checkKey(check))),
    toRun: todos.filter(
      ({ check, status }) => check && status === "completed" && !completed.has(checkKey(check)),
    ),
  };
}

function keysOf(todos: readonly CheckedTodo[]): string[] {
  return todos.flatMap(({ check }) => (check === undefined ? [] : [checkKey(check)]));
}
