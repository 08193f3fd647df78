/** The tool `write_todos` of an agent with completion checks. */
import type { BaseMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import type { BackendProtocol, BackendRuntime } from "../backends/backend.ts";
import { KEEPS_TIME } from "../internal-symbols.ts";
import { type CallInputs, withWorkspaceUse } from "../loop/approval-rules/call-inputs.ts";
import { harnessCallsOf } from "../loop/contract/harness-calls.ts";
import { once } from "../once.ts";
import {
  type BuiltInTool,
  backendRuntime,
  builtInTool,
  failedCall,
  succeededCall,
  type ToolCallRuntime,
} from "../tools/built-in-tool.ts";
import { commandInputs } from "../tools/command-files.ts";
import { lenientObject } from "../tools/lenient-object.ts";
import { CALLED_TWICE, callsInTurn, todoSummary, WRITE_TODOS } from "../tools/write-todos.ts";
import { type CheckedTodo, checkedTodoSchema, checkProblem, checkWords, MOST_CHECKS } from "./check.ts";
import { EVIDENCE, type Evidence, evidenceIn, planTodos, type TodoPlan } from "./evidence.ts";
import { type CheckRun, type FailedCheck, runChecks } from "./run-checks.ts";

export const checkedTodosSchema = once(() =>
  lenientObject({ todos: z.array(checkedTodoSchema).describe("The whole list") }, { json: ["todos"] }),
);

export const WRITE_CHECKED_TODOS_DESCRIPTION =
  "Replace your todo list. For work of several steps: plan them, keep one in_progress, " +
  "mark each completed as soon as it is done. A todo with a check is completed only when its check passes: " +
  "it runs when you mark the todo completed. Call it once per turn.";

export interface CheckedTodosOptions {
  /** The backend for one call, behind the agent's permissions. */
  readonly backend: (runtime: BackendRuntime) => BackendProtocol | Promise<BackendProtocol>;
  /** Replaces our words for the model. */
  readonly description?: string | undefined;
}

/** Its commands keep the time limit of `execute`. */
export function createCheckedTodosTool(options: CheckedTodosOptions): BuiltInTool {
  const tool = builtInTool({
    effect: "reads",
    name: WRITE_TODOS,
    description: options.description ?? WRITE_CHECKED_TODOS_DESCRIPTION,
    schema: checkedTodosSchema(),
    run: ({ todos }, runtime) => replaceTodos(todos, runtime, options),
  });
  return withWorkspaceUse(Object.assign(tool, { [KEEPS_TIME]: true }), {
    inputs: (args, runtime, signal) => filesOfCommands(args, runtime, options, signal),
  });
}

/** Undefined for arguments that the tool refuses. */
export function planOfCall(args: unknown, state: unknown): TodoPlan | undefined {
  const { data } = checkedTodosSchema().safeParse(args);
  return data && planTodos(todosIn(state), data.todos);
}

export function todosIn(state: unknown): readonly CheckedTodo[] {
  return ((state as { todos?: CheckedTodo[] } | undefined)?.todos ?? []) as readonly CheckedTodo[];
}

async function replaceTodos(
  next: readonly CheckedTodo[],
  runtime: ToolCallRuntime,
  options: CheckedTodosOptions,
): Promise<unknown> {
  const fail = (text: string) => failedCall(WRITE_TODOS, runtime, `Error: ${text}`);
  if (callsInTurn(runtime) > 1) return failedCall(WRITE_TODOS, runtime, CALLED_TWICE);
  const plan = planTodos(todosIn(runtime.state), next);
  const problem = problemOf(plan);
  if (problem !== undefined) return fail(problem);
  const calls = harnessCallsOf(runtime);
  if (calls === undefined) return fail("Completion checks cannot be run here. Nothing was changed.");
  if (plan.dropped.length > 0 && !calls.isApproved) return fail(droppedWords(plan.dropped));
  const backend = await options.backend(backendRuntime(runtime));
  const run = await runChecks(plan.toRun, { backend, calls, signal: runtime.signal });
  const todos = withoutUnproven(plan.todos, run.failed);
  const text = [todoSummary(todos), ...run.failed.map(failureWords)].join("\n\n");
  const answer = run.failed.length > 0 ? failedCall : succeededCall;
  const evidence = evidenceAfter(runtime, run);
  return new Command({
    update: { todos, [EVIDENCE]: evidence, messages: [answer(WRITE_TODOS, runtime, text)] },
  });
}

function problemOf({ todos }: TodoPlan): string | undefined {
  const checks = todos.flatMap(({ content, check }) =>
    check ? [{ content, problem: checkProblem(check) }] : [],
  );
  if (checks.length > MOST_CHECKS)
    return `A list can have ${MOST_CHECKS} checks, not ${checks.length}. Nothing was changed.`;
  const wrong = checks.find(({ problem }) => problem !== undefined);
  return wrong && `The check of "${wrong.content}" cannot be used: ${wrong.problem}. Nothing was changed.`;
}

function droppedWords(dropped: readonly CheckedTodo[]): string {
  return `A check can be dropped or changed only when a person approves it, and nobody did. Nothing was changed. Keep in the list:\n${listed(dropped)}`;
}

/** The todos with their checks, one a line. */
export function listed(todos: readonly CheckedTodo[]): string {
  return todos.map(({ content, check }) => `- ${content}: ${checkWords(check ?? {})}`).join("\n");
}

export function failureWords({ todo, reason }: FailedCheck): string {
  return `Not completed: "${todo.content}". Its check failed (${checkWords(todo.check ?? {})}):\n${reason}`;
}

/** A todo whose check failed is still at work. */
export function withoutUnproven(
  todos: readonly CheckedTodo[],
  failed: readonly FailedCheck[],
): readonly CheckedTodo[] {
  const unproven = new Set(failed.map(({ todo }) => todo));
  return todos.map((todo) =>
    unproven.has(todo) && todo.status === "completed" ? { ...todo, status: "in_progress" } : todo,
  );
}

/** Commands may have changed what other checks have looked at. */
function evidenceAfter(runtime: ToolCallRuntime, { passed, ranCommands }: CheckRun): Evidence {
  const before = evidenceIn(runtime.state?.[EVIDENCE]);
  const at = runtime.toolCallId ?? "";
  const now = Object.fromEntries(passed.map((key) => [key, at]));
  return { ...before, passed: ranCommands ? now : { ...before.passed, ...now } };
}

async function filesOfCommands(
  args: unknown,
  runtime: BackendRuntime,
  options: CheckedTodosOptions,
  signal: AbortSignal | undefined,
): Promise<CallInputs> {
  const toRun = planOfCall(args, runtime.state)?.toRun ?? [];
  const commands = toRun.flatMap(({ check }) => check?.command ?? []);
  if (commands.length === 0) return { files: [], isOpen: false };
  const backend = await options.backend(runtime);
  const read = await Promise.all(commands.map((command) => commandInputs(command, backend, signal)));
  const files = new Map(read.flatMap((inputs) => inputs.files.map((file) => [file.path, file])));
  return { files: [...files.values()], isOpen: read.some(({ isOpen }) => isOpen) };
}

export function messagesIn(state: unknown): readonly BaseMessage[] {
  return ((state as { messages?: BaseMessage[] } | undefined)?.messages ?? []) as readonly BaseMessage[];
}
