/** The journal of a run: one line a trial, so that a stopped run can be continued. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { EvalsError } from "../format/evals-error.ts";
import { trialRecordSchema } from "../report/read-report.ts";
import type { RunEvalsOptions } from "./run-evals.ts";
import type { TrialRecord } from "./trial-record.ts";

/** Changes whenever the cases, harnesses, models or number of trials change. Bodies of functions do not count. */
export function planHash({
  suites,
  harnesses,
  models,
  trials = 1,
}: Pick<RunEvalsOptions, "suites" | "harnesses" | "models" | "trials">): string {
  const plan = [suites, harnesses.map(({ name }) => name), models.map(({ name }) => name), trials];
  const text = JSON.stringify(plan, (_, value: unknown) => {
    if (value instanceof Uint8Array) return hashOf(value);
    return value instanceof RegExp ? String(value) : value;
  });
  return hashOf(text);
}

function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export class Journal {
  /** Records of the run so far. */
  readonly done: readonly TrialRecord[];
  readonly path: string;

  private constructor(path: string, done: readonly TrialRecord[]) {
    this.path = path;
    this.done = done;
  }

  /** A new one. The file must not be there yet. */
  static create(path: string, plan: string): Journal {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify({ version: 1, plan })}\n`, { flag: "wx", mode: 0o600 });
    return new Journal(path, []);
  }

  /** Throws for a journal of another plan. A last line that was cut off is left out. */
  static resume(path: string, plan: string): Journal {
    if (!existsSync(path)) throw new EvalsError(`There is no run to continue at ${path}.`);
    const text = readFileSync(path, "utf8");
    const [head = "", ...lines] = text.split("\n");
    if (planOf(head) !== plan)
      throw new EvalsError(
        `${path} belongs to other cases, models, harnesses or another number of trials.`,
        "Start a new run without --resume.",
      );
    if (!text.endsWith("\n")) appendFileSync(path, "\n");
    return new Journal(path, lines.flatMap(recordOf));
  }

  add(record: TrialRecord): void {
    appendFileSync(this.path, `${JSON.stringify(record)}\n`);
  }

  /** Nothing is left to continue. */
  remove(): void {
    rmSync(this.path, { force: true });
  }
}

function planOf(line: string): string | undefined {
  const head = json(line) as { version?: unknown; plan?: unknown } | undefined;
  return head?.version === 1 && typeof head.plan === "string" ? head.plan : undefined;
}

function recordOf(line: string): TrialRecord[] {
  const parsed = trialRecordSchema.safeParse(json(line));
  return parsed.success ? [parsed.data as TrialRecord] : [];
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
