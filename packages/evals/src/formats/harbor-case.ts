/** A Harbor task as a case of a suite. */
import { basename } from "node:path";
import type { EvalCase } from "../format/eval-case.ts";
import { worldIs } from "../verifiers/answer-verifiers.ts";
import { readHarborTask } from "./harbor-task.ts";

/** Harbor tasks limit time alone; a case needs a budget. */
const MODEL_CALLS = 200;

/** The id is the name of the directory. */
export async function harborCase(directory: string): Promise<EvalCase> {
  const harbor = await readHarborTask(directory);
  return {
    id: basename(directory)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, ""),
    task: harbor.instruction,
    limits: { modelCalls: MODEL_CALLS },
    verify: [worldIs("the task's tests give the reward 1", ({ reward }) => reward === 1)],
    harbor,
  };
}
