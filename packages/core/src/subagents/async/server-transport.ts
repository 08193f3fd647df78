/** Tasks for an agent on a server that speaks the Agent Protocol, by the endpoints LangGraph's SDK uses. */
import type { AsyncTaskStatus } from "./async-task.ts";
import { failed, type Server, serverAt } from "./server-requests.ts";
import type { AsyncCall, AsyncReport, AsyncRun, AsyncTransport } from "./transport.ts";

export interface ServerTransportOptions {
  readonly graphId: string;
  /** Checked. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The agent there tells of its end itself: its state is given the thread to tell, and nobody watches from here. */
  readonly tellsItself: boolean;
  /** Milliseconds between looks at a run whose end is waited for: the first, and the most. */
  readonly pause?: readonly [first: number, most: number];
}

export function serverTransport(options: ServerTransportOptions): AsyncTransport {
  const server = serverAt(options.url, options.headers);
  const begin = (
    threadId: string,
    text: string,
    call: AsyncCall,
    strategy?: "interrupt",
  ): Promise<AsyncRun> => beginRun(server, options, { threadId, text, call, strategy });
  return {
    async start(description, call) {
      const key = keyOf(call);
      const again = key && { thread_id: await idFrom(key), if_exists: "do_nothing" };
      const body = { metadata: { graph_id: options.graphId }, ...again };
      const thread = await server({ method: "POST", path: "/threads", body, signal: call.signal });
      return begin(idIn(thread, "thread_id"), description, call);
    },
    check: (run, { signal }) => checkRun(server, run, signal),
    update: (run, message, call) => begin(run.threadId, message, call, "interrupt"),
    async cancel({ threadId, runId }, { signal }) {
      const path = `/threads/${threadId}/runs/${runId}/cancel?wait=0&action=interrupt`;
      await server({ method: "POST", path, signal });
    },
    ...(!options.tellsItself && { join: (run, signal) => joinRun(server, run, signal, options.pause) }),
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
function keyOf({ ownerThreadId, callId }: AsyncCall): string | undefined {
  return ownerThreadId && callId ? `${ownerThreadId}\n${callId}` : undefined;
}

/** A UUID that is the same for the same text; nobody can tell the text from it. */
async function idFrom(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function checkRun(
  server: Server,
  run: AsyncRun,
  signal: AbortSignal | undefined,
): Promise<AsyncReport> {
  const thread = `/threads/${run.threadId}`;
  const status = statusIn(await server({ method: "GET", path: `${thread}/runs/${run.runId}`, signal }));
  if (status === "pending" || status === "running") return { status };
  const state = (await server({ method: "GET", path: `${thread}/state`, signal })) as ThreadState | undefined;
  if (status === "success") return { status, result: resultIn(state?.values) };
  return { status, reason: errorIn(state) ?? REASONS[status] };
}

const REASONS: Partial<Record<AsyncTaskStatus, string>> = {
  error: "It failed; the server does not say why.",
  timeout: "It ran out of time.",
  interrupted: "It was stopped there, or it waits for a person's decision.",
};

const FIRST_PAUSE = 1_000;
const MOST_PAUSE = 20_000;
/** Looks in a row that may fail before a run counts as lost: some minutes. */
const MOST_FAILURES = 20;

/** Looks less and less often. */
async function joinRun(
  server: Server,
  { threadId, runId }: AsyncRun,
  signal: AbortSignal,
  [first, most]: readonly [number, number] = [FIRST_PAUSE, MOST_PAUSE],
): Promise<AsyncReport> {
  let failures = 0;
  for (let wait = first; ; wait = Math.min(wait * 1.5, most)) {
    await pause(wait, signal);
    try {
      const status = statusIn(
        await server({ method: "GET", path: `/threads/${threadId}/runs/${runId}`, signal }),
      );
      if (status !== "pending" && status !== "running") return { status };
      failures = 0;
    } catch (error) {
      failures += 1;
      if (signal.aborted || failures > MOST_FAILURES) throw error;
    }
  }
}

/** The timer keeps no process alive. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const giveUp = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    }, milliseconds);
    (timer as { unref?: () => void }).unref?.();
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** Ids become parts of paths and keys of the state. */
function idIn(answer: unknown, key: "thread_id" | "run_id"): string {
  const id = (answer as Record<string, unknown> | undefined)?.[key];
  if (typeof id === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(id)) return id;
  throw failed(`answered without a usable '${key}'`);
}

const STATUSES: ReadonlySet<string> = new Set([
  "pending",
  "running",
  "success",
  "error",
  "timeout",
  "interrupted",
]);

function statusIn(answer: unknown): AsyncTaskStatus {
  const status = (answer as { status?: unknown } | undefined)?.status;
  if (typeof status === "string" && STATUSES.has(status)) return status as AsyncTaskStatus;
  if (status === "cancelled") return status;
  throw failed("answered without a usable 'status'");
}

interface ThreadState {
  readonly values?: Readonly<Record<string, unknown>>;
  readonly tasks?: readonly { readonly error?: unknown }[];
}

/** The JSON of the structured response, or the last words. */
function resultIn(values: ThreadState["values"]): string {
  if (values?.structuredResponse != null) return JSON.stringify(values.structuredResponse);
  const messages = Array.isArray(values?.messages) ? (values.messages as readonly SentMessage[]) : [];
  const own = messages.filter((message) => message?.type === "ai" || message?.role === "assistant");
  return own.map(textOf).findLast((text) => text !== "") ?? "";
}

interface SentMessage {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
}

function textOf({ content }: SentMessage): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  const texts = content.filter((block) => block?.type === "text").map(({ text }) => String(text));
  return texts.join("").trim();
}

const REASON_LENGTH = 1_000;

function errorIn(state: ThreadState | undefined): string | undefined {
  const error = state?.tasks?.find((task) => task.error != null)?.error;
  if (error === undefined) return undefined;
  const { message } = error as { message?: unknown };
  return String(message ?? (typeof error === "string" ? error : JSON.stringify(error))).slice(
    0,
    REASON_LENGTH,
  );
}
