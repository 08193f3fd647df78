/** Shared by the methods of A2A: the call, its answer, and the task that it names. */
import { type Assistant, namedTask } from "@deepwright/protocol";
import { answerIn, type Task, taskIdOf, taskOf } from "../../a2a/a2a-task.ts";
import { olderResult } from "../../a2a/older-form.ts";
import type { RunHead } from "../../records/records.ts";
import { missing } from "../../runs/service-error.ts";
import type { Call } from "../call.ts";
import { waitingIn } from "../thread-work-routes.ts";

export interface RpcCall extends Call<"a2a.call"> {
  readonly assistant: Assistant;
  /** The client speaks A2A 0.3. The call itself is as 1.0 has it. */
  readonly isOlder: boolean;
}

export const NO_SUCH_TASK = -32001;

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = "RpcError";
  }
}

export function replyText({ body, services, isOlder }: RpcCall, result: object): string {
  return services.json({ jsonrpc: "2.0", id: body.id, result: isOlder ? olderResult(result) : result });
}

export function reply(call: RpcCall, result: object): Response {
  return new Response(replyText(call, result), { headers: { "content-type": "application/json" } });
}

/** How many runs of a thread are searched for the newest of a task. */
const SEARCHED = 100;

/** The newest run of a task of this assistant. NOT_FOUND for one that is not there, or of somebody else. */
export async function taskRun({ services, owner, assistant }: RpcCall, taskId: string): Promise<RunHead> {
  const first = await services.runs.get(owner, taskId);
  if (first === undefined) throw missing("task");
  const page = { limit: SEARCHED, offset: 0 };
  const heads = await services.records.runs.heads(owner, first.thread_id, page);
  const run = heads.find((one) => taskIdOf(one) === taskId) ?? first;
  if (run.assistant_id !== assistant.assistant_id) throw new RpcError(NO_SUCH_TASK, "There is no such task.");
  return run;
}

export async function namedRun(call: RpcCall): Promise<RunHead> {
  return taskRun(call, namedTask.parse(call.body.params).id);
}

/** Questions wait for the newest run of a thread alone. */
export async function waitingFor(call: RpcCall, run: RunHead) {
  if (run.status !== "interrupted" || !(await isNewest(call, run))) return [];
  return waitingIn(call, run.thread_id);
}

async function isNewest({ services, owner }: RpcCall, run: RunHead): Promise<boolean> {
  const [newest] = await services.records.runs.heads(owner, run.thread_id, { limit: 1, offset: 0 });
  return newest?.run_id === run.run_id;
}

export async function taskNow(call: RpcCall, given: RunHead): Promise<Task> {
  const { services, owner } = call;
  const run = (await services.runs.get(owner, given.run_id)) ?? given;
  const hasAnswer = run.status === "success" && (await isNewest(call, run));
  const values = hasAnswer
    ? await services.runs.wait(owner, run.run_id, { mostBytes: services.limits.answerBytes })
    : undefined;
  return taskOf({ run, waiting: await waitingFor(call, run), answer: answerIn(values) });
}
