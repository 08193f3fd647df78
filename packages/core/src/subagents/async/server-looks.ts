/** How a task on a server stands, and waiting for its end by looking. */
import type { AsyncTaskStatus } from "./async-task.ts";
import { statusIn } from "./server-answers.ts";
import { isUnknownThere, type Server } from "./server-requests.ts";
import type { AsyncReport, AsyncRun } from "./transport.ts";

/**
 * A run that has ended is not the end of its task while its thread goes on: with a run that followed, or, on a server
 * of ours, with tasks that the agent has started itself. A server that has nothing to say of threads is believed about
 * the run.
 */
export async function lookAtTask(
  server: Server,
  { threadId, runId }: AsyncRun,
  signal: AbortSignal | undefined,
): Promise<AsyncTaskStatus> {
  const path = `/threads/${threadId}`;
  const status = statusIn(await server({ method: "GET", path: `${path}/runs/${runId}`, signal }));
  if (status !== "success" && status !== "interrupted") return status;
  const thread = await threadAt(server, path, signal);
  if (thread === undefined) return status;
  if (thread.status === "busy") return "running";
  if (thread.status === "interrupted" || thread.status === "error") return thread.status;
  const last = status === "success" ? status : await lastStatus(server, path, signal);
  if (last === "success") return thread.goesOn ? "running" : "success";
  return last === "interrupted" ? "cancelled" : last;
}

interface SeenThread {
  readonly status: unknown;
  readonly goesOn: boolean;
}

async function threadAt(
  server: Server,
  path: string,
  signal: AbortSignal | undefined,
): Promise<SeenThread | undefined> {
  try {
    const answer = await server({ method: "GET", path, signal });
    const { status, open_tasks: open } = (answer ?? {}) as Record<string, unknown>;
    return { status, goesOn: typeof open === "number" && open > 0 };
  } catch (error) {
    if (isUnknownThere(error)) return undefined;
    throw error;
  }
}

/** Status of the newest run: the answer to a run that waited for a person is another run. */
async function lastStatus(
  server: Server,
  path: string,
  signal: AbortSignal | undefined,
): Promise<AsyncTaskStatus> {
  const answer = await server({ method: "GET", path: `${path}/runs?limit=1`, signal });
  return Array.isArray(answer) && answer.length > 0 ? statusIn(answer[0]) : "interrupted";
}

/** Looks in a row that may fail before a run counts as lost: some minutes. */
const MOST_FAILURES = 20;

/** Looks less and less often. */
export async function joinTask(
  look: () => Promise<AsyncTaskStatus>,
  signal: AbortSignal,
  [first, most]: readonly [number, number],
): Promise<AsyncReport> {
  let failures = 0;
  for (let wait = first; ; wait = Math.min(wait * 1.5, most)) {
    await pause(wait, signal);
    try {
      const status = await look();
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
