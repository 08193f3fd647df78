/** Runs checks: commands as calls of `execute` through the gate of tool calls, conditions of files on the backend. */
import type { BackendProtocol } from "../backends/backend.ts";
import type { HarnessCalls } from "../loop/contract/harness-calls.ts";
import { jsonSchemaDetail } from "../loop/failures/argument-words.ts";
import { canonicalPath, showPath } from "../paths.ts";
import { isSuccess } from "../tools/execute.ts";
import { type Check, type CheckedTodo, checkKey, checkProblem, jsonOf } from "./check.ts";

export interface CheckScene {
  readonly backend: BackendProtocol;
  readonly calls: HarnessCalls;
  readonly signal: AbortSignal | undefined;
}

export interface FailedCheck {
  readonly todo: CheckedTodo;
  /** Why, for the model; bounded. */
  readonly reason: string;
}

export interface CheckRun {
  /** Keys of the checks that passed. */
  readonly passed: readonly string[];
  readonly failed: readonly FailedCheck[];
  /** A command ran: it may have changed files. */
  readonly ranCommands: boolean;
}

/** One after the other; a check that several todos have runs once. */
export async function runChecks(todos: readonly CheckedTodo[], scene: CheckScene): Promise<CheckRun> {
  const reasons = new Map<string, string | undefined>();
  const failed: FailedCheck[] = [];
  for (const todo of todos) {
    if (todo.check === undefined) continue;
    scene.signal?.throwIfAborted();
    const key = checkKey(todo.check);
    if (!reasons.has(key)) reasons.set(key, await failureOf(todo.check, scene));
    const reason = reasons.get(key);
    if (reason !== undefined) failed.push({ todo, reason: bounded(reason) });
  }
  const passed = [...reasons].flatMap(([key, reason]) => (reason === undefined ? [key] : []));
  return { passed, failed, ranCommands: todos.some(({ check }) => check?.command !== undefined) };
}

/** Undefined: the check passed. */
async function failureOf(check: Check, scene: CheckScene): Promise<string | undefined> {
  const problem = checkProblem(check);
  if (problem !== undefined) return `The check cannot be run: ${problem}.`;
  if (check.command === undefined) return fileFailure(check, scene);
  const result = await scene.calls.call("execute", { command: check.command });
  return isSuccess(result) ? undefined : result.text;
}

/** Lines of a file that are looked at. */
const MOST_LINES = 50_000;

async function fileFailure(check: Check, { backend, signal }: CheckScene): Promise<string | undefined> {
  const { path, error } = canonicalPath(check.file ?? "", { base: backend.workingDirectory ?? "/" });
  if (path === undefined) return error;
  const page = await backend.read(path, 0, MOST_LINES, signal ? { signal } : {});
  if (check.absent) {
    if (page.error === undefined) return `${showPath(path)} is there.`;
    return page.code === "FILE_NOT_FOUND" ? undefined : page.error;
  }
  if (page.error !== undefined) return page.error;
  if (check.contains === undefined && check.json_schema === undefined) return undefined;
  if (typeof page.content !== "string") return `${showPath(path)} is not text.`;
  if (page.nextOffset !== undefined || page.truncated) return `${showPath(path)} is too long for a check.`;
  return contentFailure(check, page.content, showPath(path));
}

function contentFailure(check: Check, text: string, path: string): string | undefined {
  const { contains, json_schema: schema } = check;
  if (contains !== undefined)
    return text.includes(contains) ? undefined : `${path} does not contain ${JSON.stringify(contains)}.`;
  const value = jsonOf(text);
  if (value === undefined) return `${path} is not JSON.`;
  const problems = jsonSchemaDetail(jsonOf(schema ?? "{}"), value);
  return problems === "" ? undefined : `${path} does not fit its JSON schema:\n${problems}`;
}

const HEAD = 1_000;
const TAIL = 2_000;

/** The end of an output tells most. */
function bounded(text: string): string {
  const left = text.length - HEAD - TAIL;
  return left <= 0 ? text : `${text.slice(0, HEAD)}\n[… ${left} characters left out …]\n${text.slice(-TAIL)}`;
}
