/** The case of a directory: `case.yaml` as data, checked, with verifiers made from its rows. */
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import {
  answerContains,
  answerLacks,
  answerNumber,
  stateIs,
  structuredIs,
} from "../verifiers/answer-verifiers.ts";
import { called, calledInOrder, notCalled, onlyCalled } from "../verifiers/call-verifiers.ts";
import { commandExits } from "../verifiers/command-verifier.ts";
import { fileContains, fileEquals, fileLacks, fileMissing } from "../verifiers/file-verifiers.ts";
import { judged } from "../verifiers/judge-verifier.ts";
import type { Verifier } from "../verifiers/verifier.ts";
import type { EvalCase } from "./eval-case.ts";
import { EvalsError } from "./evals-error.ts";

const texts = z.union([z.string(), z.array(z.string())]);
const row = z.union([
  z.strictObject({ file: z.string(), contains: texts }),
  z.strictObject({ file: z.string(), lacks: texts }),
  z.strictObject({ file: z.string(), equals: z.string() }),
  z.strictObject({ file: z.string(), missing: z.literal(true) }),
  z.strictObject({ answerContains: texts }),
  z.strictObject({ answerLacks: texts }),
  z.strictObject({ answerNumber: z.number(), tolerance: z.number().min(0).optional() }),
  z.strictObject({
    called: z.string(),
    least: z.number().int().optional(),
    most: z.number().int().optional(),
  }),
  z.strictObject({ notCalled: z.string() }),
  z.strictObject({ onlyCalled: z.array(z.string()) }),
  z.strictObject({ calledInOrder: z.array(z.string()) }),
  z.strictObject({
    command: z.string(),
    exitCode: z.number().int().optional(),
    output: z.string().optional(),
  }),
  z.strictObject({ structured: z.record(z.string(), z.unknown()) }),
  z.strictObject({ state: z.string(), equals: z.unknown() }),
  z.strictObject({ judge: z.string() }),
]);
type Row = z.output<typeof row>;

const caseFile = z.strictObject({
  task: texts.optional(),
  tools: z.array(z.string()).optional(),
  limits: z.record(z.string(), z.number()).optional(),
  verify: z.array(z.unknown()).optional(),
  systemPrompt: z.string().optional(),
  memory: z.array(z.string()).optional(),
  permissions: z
    .array(
      z.strictObject({
        operations: z.array(z.enum(["read", "write"])),
        paths: z.array(z.string()),
        mode: z.enum(["allow", "deny"]).optional(),
      }),
    )
    .optional(),
  approvals: z
    .array(
      z.strictObject({
        tool: z.string(),
        answer: z.enum(["approve", "reject", "edit"]),
        args: z.record(z.string(), z.unknown()).optional(),
        message: z.string().optional(),
      }),
    )
    .optional(),
  subagents: z
    .array(z.strictObject({ name: z.string(), description: z.string(), systemPrompt: z.string() }))
    .optional(),
  budget: z.strictObject({ maxSteps: z.number().optional(), maxTokens: z.number().optional() }).optional(),
  responseSchema: z.looseObject({ type: z.literal("object") }).optional(),
  newThreads: z.boolean().optional(),
});

export interface CaseParts {
  readonly id: string;
  /** Text of `case.yaml`. */
  readonly text: string;
  /** Text of `task.md`, where there is one. */
  readonly task: string | undefined;
  readonly files: Readonly<Record<string, string>>;
}

/** Missing verifiers and budgets are left to the check of all cases, which names them all at once. */
export function caseOfFile({ id, text, task, files }: CaseParts): EvalCase {
  const where = `${id}/case.yaml`;
  const parsed = caseFile.safeParse(yamlOf(text, where));
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".") || "the file"}: ${message}`,
    );
    throw new EvalsError(`${where}: ${issues.join("; ")}`);
  }
  const { tools, verify = [], task: messages, limits, ...rest } = parsed.data;
  const bad = verify.filter((each) => !row.safeParse(each).success).map((each) => JSON.stringify(each));
  if (bad.length > 0)
    throw new EvalsError(`${where}: verify: no verifier is ${bad.join(", nor ")}.`, `There are ${KINDS}.`);
  return {
    ...rest,
    id,
    task: messages ?? task ?? "",
    files,
    ...(tools === undefined ? {} : { builtInTools: tools }),
    limits: limits as never,
    verify: verify.map((each) => made(row.parse(each))),
  };
}

function yamlOf(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new EvalsError(
      `${where} is no YAML: ${error instanceof Error ? error.message.split("\n")[0] : error}`,
    );
  }
}

const KINDS =
  "file with contains, lacks, equals or missing; answerContains; answerLacks; answerNumber; called; notCalled; onlyCalled; calledInOrder; command; structured; state; judge";

function made(given: Row): Verifier {
  if ("file" in given) return fileVerifier(given);
  if ("answerContains" in given) return answerContains(...[given.answerContains].flat());
  if ("answerLacks" in given) return answerLacks(...[given.answerLacks].flat());
  if ("answerNumber" in given) return answerNumber(given.answerNumber, given.tolerance);
  if ("called" in given) return called(given.called, given);
  if ("notCalled" in given) return notCalled(given.notCalled);
  if ("onlyCalled" in given) return onlyCalled(...given.onlyCalled);
  if ("calledInOrder" in given) return calledInOrder(...given.calledInOrder);
  if ("command" in given) return commandExits(given.command, given);
  if ("structured" in given) return structuredIs(given.structured);
  if ("judge" in given) return judged(given.judge);
  return stateIs(`${given.state} is ${JSON.stringify(given.equals)}`, (state) =>
    isDeepStrictEqual(valueAt(state, given.state), given.equals),
  );
}

function fileVerifier(given: Extract<Row, { file: string }>): Verifier {
  if ("contains" in given) return fileContains(given.file, ...[given.contains].flat());
  if ("lacks" in given) return fileLacks(given.file, ...[given.lacks].flat());
  return "equals" in given ? fileEquals(given.file, given.equals) : fileMissing(given.file);
}

/** The value at a path like `todos.0.status`. */
function valueAt(state: unknown, path: string): unknown {
  let value = state;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
