/** Cases from JSON lines, as scripts make them from other benchmarks: a task, files to start with, and what is expected. */
import { z } from "zod";
import { EvalsError } from "../format/check-case.ts";
import { defineCase, type EvalCase } from "../format/eval-case.ts";
import { answerContains, answerNumber } from "../verifiers/answer-verifiers.ts";
import { fileContains, fileEquals, fileMissing } from "../verifiers/file-verifiers.ts";
import type { Verifier } from "../verifiers/verifier.ts";

const files = z.record(z.string().regex(/^\//, "paths begin with /"), z.string());

const expected = z.strictObject({
  /** Text that the last reply contains. */
  answer: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  /** A number in the last reply. */
  number: z.number().optional(),
  /** How far it may be off. */
  tolerance: z.number().nonnegative().optional(),
  /** Final files, whole; null: the file is gone. */
  files: z.record(z.string().regex(/^\//, "paths begin with /"), z.string().nullable()).optional(),
  /** Text that final files contain. */
  contains: files.optional(),
});

const line = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "small letters, digits and hyphens"),
  task: z.union([z.string(), z.array(z.string()).min(1)]),
  files: files.optional(),
  expected,
  system_prompt: z.string().optional(),
  /** Default 20. */
  model_calls: z.number().int().positive().optional(),
});

type Line = z.infer<typeof line>;

const MOST_PROBLEMS = 20;

/** Throws one `EvalsError` that lists the bad lines; `source` names the file in it. Empty lines are skipped. */
export function casesFromJsonl(text: string, source = "These cases"): EvalCase[] {
  const problems: string[] = [];
  const cases: EvalCase[] = [];
  const seen = new Set<string>();
  for (const [index, row] of text.split(/\r?\n/).entries()) {
    if (row.trim() === "") continue;
    const read = readLine(row);
    const problem =
      "problem" in read
        ? read.problem
        : seen.has(read.line.id)
          ? `the id '${read.line.id}' is used twice`
          : undefined;
    if (problem !== undefined) problems.push(`line ${index + 1}: ${problem}`);
    else if ("line" in read) {
      seen.add(read.line.id);
      cases.push(caseOf(read.line));
    }
  }
  const more = problems.length > MOST_PROBLEMS ? [`and ${problems.length - MOST_PROBLEMS} more`] : [];
  if (problems.length > 0)
    throw new EvalsError(
      `${source} cannot run:\n  ${[...problems.slice(0, MOST_PROBLEMS), ...more].join("\n  ")}`,
    );
  if (cases.length === 0) throw new EvalsError(`${source}: there is no case.`);
  return cases;
}

function readLine(row: string): { readonly line: Line } | { readonly problem: string } {
  let given: unknown;
  try {
    given = JSON.parse(row);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `not JSON (${error.message})` };
  }
  const { success, data, error } = line.safeParse(given);
  if (!success)
    return {
      problem: error.issues.map(({ path, message }) => `${path.join(".") || "line"}: ${message}`).join("; "),
    };
  if (data.expected.tolerance !== undefined && data.expected.number === undefined)
    return { problem: "expected.tolerance: it goes with expected.number" };
  return verifiersOf(data.expected).length === 0
    ? { problem: "expected: nothing is expected" }
    : { line: data };
}

function caseOf(given: Line): EvalCase {
  return defineCase({
    id: given.id,
    task: given.task,
    ...(given.files === undefined ? {} : { files: given.files }),
    ...(given.system_prompt === undefined ? {} : { systemPrompt: given.system_prompt }),
    limits: { modelCalls: given.model_calls ?? 20 },
    verify: verifiersOf(given.expected),
  });
}

function verifiersOf({
  answer,
  number,
  tolerance,
  files: final = {},
  contains = {},
}: Line["expected"]): Verifier[] {
  const answers = answer === undefined ? [] : [answer].flat();
  return [
    ...answers.map((text) => answerContains(text)),
    ...(number === undefined ? [] : [answerNumber(number, tolerance)]),
    ...Object.entries(final).map(([path, content]) =>
      content === null ? fileMissing(path) : fileEquals(path, content),
    ),
    ...Object.entries(contains).map(([path, text]) => fileContains(path, text)),
  ];
}
