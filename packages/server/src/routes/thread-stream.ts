/** The events of a thread: one run after the other, in the order they were begun. */
import {
  type EventPlace,
  formatEventId,
  parseEventName,
  type ThreadStreamMode,
  type WireEvent,
} from "@deepwright/protocol";
import type { RunRecord } from "../records/records.ts";
import type { Services } from "./services.ts";

export interface ThreadReader {
  readonly owner: string;
  readonly threadId: string;
  /** The last event the reader has; without a run, what goes on now is the first. */
  readonly last: EventPlace;
  readonly modes: readonly ThreadStreamMode[];
}

const LOOK_AGAIN_MS = 1_000;
const PAGE = 100;

/** Without an end: it waits for the next run until the reader leaves or the thread is gone. */
export async function* threadEvents(
  services: Services,
  { owner, threadId, last, modes }: ThreadReader,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  let { seen, next } = await firstRun(services, owner, threadId, last);
  let after = last.runId === undefined ? 0 : last.sequence;
  while (!signal.aborted) {
    if (next === undefined) {
      await pause(signal);
      if (signal.aborted || !(await services.records.threads.get(owner, threadId))) return;
      next = await runAfter(services, owner, threadId, seen);
      continue;
    }
    const { run_id: runId } = next;
    for await (const { sequence, event, data } of services.runs.stream(owner, runId, { after, signal }))
      if (isWanted(event, modes)) yield { id: formatEventId({ sequence, runId }), event, data };
    seen = next.sequence;
    after = 0;
    next = await runAfter(services, owner, threadId, seen);
  }
}

async function firstRun(services: Services, owner: string, threadId: string, last: EventPlace) {
  const known = last.runId === undefined ? undefined : await services.runs.get(owner, last.runId);
  if (known?.thread_id === threadId)
    return { seen: known.sequence - 1, next: known as RunRecord | undefined };
  const [newest] = await services.runs.list(owner, threadId, { limit: 1, offset: 0 });
  const open = (await listed(services, owner, threadId)).find(isOpen);
  return { seen: open ? open.sequence - 1 : (newest?.sequence ?? 0), next: open };
}

/** The run begun next after this one. */
async function runAfter(services: Services, owner: string, threadId: string, sequence: number) {
  const [newest] = await services.runs.list(owner, threadId, { limit: 1, offset: 0 });
  if (newest === undefined || newest.sequence <= sequence) return undefined;
  return (await listed(services, owner, threadId)).find((run) => run.sequence > sequence);
}

/** The newest ones, in the order they were begun. */
async function listed({ runs }: Services, owner: string, threadId: string): Promise<RunRecord[]> {
  const found = await runs.list(owner, threadId, { limit: PAGE, offset: 0 });
  return found.sort((left, right) => left.sequence - right.sequence);
}

const isOpen = ({ status }: RunRecord): boolean => status === "pending" || status === "running";

const KINDS: Partial<Record<ThreadStreamMode, ReadonlySet<string>>> = {
  lifecycle: new Set(["metadata", "error", "end", "replaced"]),
  state_update: new Set(["values", "updates"]),
};

function isWanted(event: string, modes: readonly ThreadStreamMode[]): boolean {
  const { kind } = parseEventName(event);
  return modes.some((mode) => KINDS[mode]?.has(kind) ?? true);
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      done();
    };
    const timer = setTimeout(wake, LOOK_AGAIN_MS);
    signal.addEventListener("abort", wake, { once: true });
  });
}
