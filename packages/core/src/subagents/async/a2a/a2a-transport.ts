/** Tasks for another agent that speaks A2A. A context is the thread of a task, and a task is a run. */
import { DeepwrightError } from "../../../errors.ts";
import { idIn } from "../server-answers.ts";
import { joinTask } from "../server-looks.ts";
import { idFrom, keyOf, PAUSES } from "../server-transport.ts";
import type { AsyncCall, AsyncReport, AsyncRun, AsyncTransport } from "../transport.ts";
import { reportOf, runOfTask, sentAnswer, statusOf, taskIn } from "./a2a-answers.ts";
import { a2aCalls, type SentMessage } from "./a2a-calls.ts";

export interface A2aTransportOptions {
  /** Checked. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds between looks at a task until it ends: the first pause, and the longest. */
  readonly pauses?: readonly [first: number, most: number];
}

/** Answers without a task that are kept for `check`. */
const MOST_ANSWERS = 200;

export function a2aTransport({ url, headers, pauses = PAUSES }: A2aTransportOptions): AsyncTransport {
  const calls = a2aCalls(url, headers);
  const answers = new Map<string, string>();
  const send = async (message: SentMessage, signal: AbortSignal | undefined): Promise<AsyncRun> => {
    const sent = sentAnswer(await calls.send(message, signal));
    return "task" in sent ? runOfTask(sent.task) : keptAnswer(answers, sent, message);
  };
  const check = async ({ runId }: AsyncRun, signal: AbortSignal | undefined): Promise<AsyncReport> => {
    if (runId.startsWith(AT_ONCE)) return reportAtOnce(answers.get(runId));
    return reportOf(taskIn(await calls.get(runId, signal)));
  };
  return {
    pauses,
    start: async (text, call) => send({ messageId: await messageId(call), text }, call.signal),
    check: (run, { signal }) => check(run, signal),
    async update(run, text, call) {
      const message = { messageId: await messageId(call), text, contextId: run.threadId };
      if (run.runId.startsWith(AT_ONCE)) return send(message, call.signal);
      const status = statusOf(taskIn(await calls.get(run.runId, call.signal)));
      if (status === "interrupted") return send({ ...message, taskId: run.runId }, call.signal);
      if (status === "pending" || status === "running")
        // It may have ended meanwhile, and not every agent can stop.
        await calls.cancel(run.runId, call.signal).catch(onlyRefusals);
      return send(message, call.signal);
    },
    cancel: ({ runId }, { signal }) => calls.cancel(runId, signal),
    join: (run, signal) => joinTask(async () => (await check(run, signal)).status, signal, pauses),
  };
}

/** Begins the id of an answer that came without a task. */
const AT_ONCE = "at-once-";

/** An agent may answer with a message alone, which cannot be asked for again. */
function keptAnswer(
  answers: Map<string, string>,
  { text, contextId }: { readonly text: string; readonly contextId: unknown },
  message: SentMessage,
): AsyncRun {
  const runId = `${AT_ONCE}${message.messageId}`;
  answers.set(runId, text);
  const [oldest] = answers.keys();
  if (answers.size > MOST_ANSWERS && oldest !== undefined) answers.delete(oldest);
  const given = typeof contextId === "string" && contextId !== "" ? contextId : message.contextId;
  return { threadId: idIn({ contextId: given ?? message.messageId }, "contextId"), runId, status: "success" };
}

function reportAtOnce(text: string | undefined): AsyncReport {
  if (text !== undefined) return { status: "success", result: text };
  return { status: "error", reason: "Its answer came at once and is not kept any more. Ask it again." };
}

/** An agent that knows messages by their ids takes a repeated call for the same one. */
async function messageId(call: AsyncCall): Promise<string> {
  const key = keyOf(call);
  return key === undefined ? crypto.randomUUID() : idFrom(key);
}

function onlyRefusals(error: unknown): void {
  if (!(error instanceof DeepwrightError)) throw error;
}
