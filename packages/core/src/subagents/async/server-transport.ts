/** Tasks for an agent on a server that speaks the Agent Protocol, by the endpoints LangGraph's SDK uses. */
import type { AsyncTaskStatus } from "./async-task.ts";
import { errorIn, idIn, lastWordsIn, resultIn, statusIn, type ThreadState } from "./server-answers.ts";
import { joinTask, lookAtTask } from "./server-looks.ts";
import { type Server, serverAt } from "./server-requests.ts";
import type { AsyncCall, AsyncReport, AsyncRun, AsyncTransport } from "./transport.ts";
import { withLastWords } from "./words.ts";

export interface ServerTransportOptions {
  readonly graphId: string;
  /** Checked. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The agent there tells of its end itself: its state is given the thread to tell, and it is looked at rarely. */
  readonly tellsItself: boolean;
  /** Milliseconds between looks at a run until it ends: the first pause, and the longest. */
  readonly pause?: readonly [first: number, most: number];
}

export const PAUSES = [1_000, 20_000] as const;
/** Pauses for a server that reports ends itself: looks only replace a report that was lost with its sender. */
const PAUSES_OF_ONE_THAT_TELLS = [15_000, 120_000] as const;

export function serverTransport(options: ServerTransportOptions): AsyncTransport {
  const server = serverAt(options.url, options.headers);
  const pauses = options.pause ?? (options.tellsItself ? PAUSES_OF_ONE_THAT_TELLS : PAUSES);
  const begin = (
    threadId: string,
    text: string,
    call: AsyncCall,
    strategy?: "interrupt",
  ): Promise<AsyncRun> => beginRun(server, options, { threadId, text, call, strategy });
  return {
    pauses,
    async start(description, call) {
      const key = keyOf(call);
      const again = key && { thread_id: await idFrom(key), if_exists: "do_nothing" };
      const body = { metadata: { graph_id: options.graphId }, ...again };
      const thread = await server({ method: "POST", path: "/threads", body, signal: call.signal });
      return begin(idIn(thread, "thread_id"), description, call);
    },
    look: async (run, signal) => ({ status: await lookAtTask(server, run, signal) }),
    check: (run, { signal }) => checkTask(server, run, signal),
    update: (run, message, call) => begin(run.threadId, message, call, "interrupt"),
    async cancel({ threadId, runId }, { signal }) {
      // A server that does not know `tasks` leaves it unread.
      const path = `/threads/${threadId}/runs/${runId}/cancel?wait=0&action=interrupt&tasks=1`;
      await server({ method: "POST", path, signal });
    },
    join: (run, signal) => joinTask(() => lookAtTask(server, run, signal), signal, pauses),
  };
}

interface Order {
  readonly threadId: string;
  readonly text: string;
  readonly call: AsyncCall;
  readonly strategy?: "interrupt" | undefined;
}

async function beginRun(
  server: Server,
  { graphId, tellsItself }: ServerTransportOptions,
  { threadId, text, call, strategy }: Order,
): Promise<AsyncRun> {
  const callback = tellsItself && call.ownerThreadId !== undefined;
  const key = keyOf(call);
  const run = await server({
    method: "POST",
    path: `/threads/${threadId}/runs`,
    signal: call.signal,
    ...(key !== undefined && { headers: { "idempotency-key": await idFrom(key) } }),
    body: {
      assistant_id: graphId,
      input: {
        messages: [{ role: "user", content: text }],
        ...(callback && { callbackThreadId: call.ownerThreadId }),
      },
      ...(strategy && { multitask_strategy: strategy }),
    },
  });
  return { threadId, runId: idIn(run, "run_id"), status: statusIn(run) };
}

/** By this a server that can tell repeated requests knows the same call again. */
export function keyOf({ ownerThreadId, callId }: AsyncCall): string | undefined {
  return ownerThreadId && callId ? `${ownerThreadId}\n${callId}` : undefined;
}

/** A UUID that is the same for the same text and does not reveal the text. */
export async function idFrom(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function checkTask(
  server: Server,
  run: AsyncRun,
  signal: AbortSignal | undefined,
): Promise<AsyncReport> {
  const status = await lookAtTask(server, run, signal);
  if (status === "pending" || status === "running") return { status };
  const path = `/threads/${run.threadId}/state`;
  const state = (await server({ method: "GET", path, signal })) as ThreadState | undefined;
  if (status === "success") return { status, result: resultIn(state) };
  const reason = errorIn(state) ?? REASONS[status] ?? "It did not finish.";
  return { status, reason: withLastWords(reason, lastWordsIn(state)) };
}

const REASONS: Partial<Record<AsyncTaskStatus, string>> = {
  error: "It failed; the server does not say why.",
  timeout: "It ran out of time.",
  cancelled: "It was stopped.",
  interrupted: "It was stopped there, or it waits for a person's decision.",
};
