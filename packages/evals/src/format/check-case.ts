/** Refuses bad cases before anything is spent. */
import { BUILT_IN_TOOLS, knownTools } from "../verifiers/verifier.ts";
import type { EvalCase, Suite } from "./eval-case.ts";
import { EvalsError } from "./evals-error.ts";

export { EvalsError } from "./evals-error.ts";

/** Throws one error that lists every problem of every suite. */
export function checkSuites(suites: readonly Suite[]): void {
  const problems = suites.flatMap(problemsOfSuite);
  const categories = suites.map(({ category }) => category);
  for (const category of repeated(categories)) problems.push(`category '${category}': given twice`);
  if (suites.every(({ cases }) => cases.length === 0)) problems.push("there is no case to run");
  if (problems.length > 0) throw new EvalsError(`These evals cannot run:\n  ${problems.join("\n  ")}`);
}

/** In sentences that name the case. */
export function problemsOfSuite({ category, cases }: Suite): string[] {
  const ids = cases.map(({ id }) => id);
  return [
    ...repeated(ids).map((id) => `${category}/${id}: the id is used twice`),
    ...cases.flatMap((each) => problemsOfCase(each).map((problem) => `${category}/${each?.id}: ${problem}`)),
  ];
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/** Sentences about mistakes in a case; empty for a good one. */
export function problemsOfCase(given: EvalCase): string[] {
  if (typeof given !== "object" || given === null) return ["a case must be an object, see defineCase"];
  const unknown = Object.keys(given).filter((key) => !KEYS.has(key));
  return [
    ...unknown.map((key) => `unknown field '${key}'`),
    ...problemsOfText(given),
    ...problemsOfLimits(given),
    ...problemsOfVerifiers(given),
    ...problemsOfTools(given),
  ];
}

const KEYS: ReadonlySet<string> = new Set<keyof EvalCase>([
  "id",
  "task",
  "files",
  "tools",
  "builtInTools",
  "limits",
  "verify",
  "systemPrompt",
  "memory",
  "permissions",
  "approvals",
  "subagents",
  "budget",
  "responseSchema",
  "window",
  "faults",
  "newThreads",
  "script",
  "harbor",
]);

function problemsOfText({ id, task, files = {} }: EvalCase): string[] {
  const problems: string[] = [];
  if (typeof id !== "string" || !/^[a-z0-9][a-z0-9-]{0,79}$/.test(id))
    problems.push("the id must be small letters, digits and hyphens");
  const messages = [task].flat();
  if (messages.length === 0 || messages.some((text) => typeof text !== "string" || text.trim() === ""))
    problems.push("the task is empty");
  for (const [path, content] of Object.entries(files)) {
    if (!path.startsWith("/") || path.split("/").includes(".."))
      problems.push(`the file '${path}' must have an absolute path`);
    if (typeof content !== "string") problems.push(`the content of '${path}' must be text`);
  }
  return problems;
}

const LIMITS: ReadonlySet<string> = new Set(["modelCalls", "tokens", "cost", "seconds"]);

function problemsOfLimits({ limits }: EvalCase): string[] {
  if (typeof limits !== "object" || limits === null) return ["no budget: give limits: { modelCalls }"];
  const problems = Object.keys(limits)
    .filter((key) => !LIMITS.has(key))
    .map((key) => `unknown limit '${key}'`);
  if (limits.modelCalls === undefined) problems.push("no budget: give limits: { modelCalls }");
  for (const [name, value] of Object.entries(limits))
    if (value !== undefined && !(typeof value === "number" && Number.isFinite(value) && value > 0))
      problems.push(`the limit '${name}' must be a number above 0, not ${String(value)}`);
  return problems;
}

function problemsOfVerifiers({ verify, tools }: EvalCase): string[] {
  if (!Array.isArray(verify) || verify.length === 0) return ["no verifier: give at least one in verify"];
  const known = knownTools(Array.isArray(tools) ? tools : []);
  return verify.flatMap((verifier) => {
    if (typeof verifier?.check !== "function") return ["a verifier has no check function"];
    return ((verifier.tools ?? []) as readonly string[])
      .filter((name) => !known.has(name))
      .map((name) => `the verifier '${verifier.name}' speaks of the unknown tool '${name}'`);
  });
}

function problemsOfTools(given: EvalCase): string[] {
  const { tools = [], builtInTools = [], approvals = [], subagents = [] } = given;
  const known = knownTools(tools);
  const named = [
    ...approvals.map(({ tool }) => ["approvals", tool] as const),
    ...subagents.flatMap((child) =>
      (child.tools ?? []).map((tool) => [`subagent ${child.name}`, tool] as const),
    ),
  ];
  return [
    ...named
      .filter(([, tool]) => !known.has(tool))
      .map(([where, tool]) => `${where}: unknown tool '${tool}'`),
    ...builtInTools
      .filter((tool) => !BUILT_IN_TOOLS.includes(tool))
      .map((tool) => `unknown built-in tool '${tool}'; there are ${BUILT_IN_TOOLS.join(", ")}`),
    ...tools
      .filter((tool) => typeof tool?.run !== "function" || tool.parameters?.type !== "object")
      .map((tool) => `the tool '${tool?.name}' needs parameters of type object and a run function`),
    ...tools
      .filter(({ name }) => BUILT_IN_TOOLS.includes(name))
      .map(({ name }) => `the tool '${name}' has the name of a built-in one`),
  ];
}
