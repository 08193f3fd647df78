/** Runs of real agents as the events a server would send. */
import { formatEventId } from "../events/event-id.ts";
import { formatEventName } from "../events/event-name.ts";

/** The part of an agent that is used. */
interface StreamingAgent {
  stream(input: never, options: never): Promise<AsyncIterable<unknown>>;
}

export interface RecordedEvent {
  readonly id: string;
  readonly runId: string;
  readonly event: string;
  readonly data: unknown;
}

export interface RecordOptions {
  readonly modes: readonly string[];
  readonly runId?: string;
  readonly threadId?: string;
  readonly subgraphs?: boolean;
}

/** The events of one run, from `metadata` to `end`. */
export async function record(
  agent: StreamingAgent,
  input: unknown,
  { modes, runId = "run-1", threadId = "thread-1", subgraphs = true }: RecordOptions,
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const add = (event: string, data: unknown) =>
    events.push({
      id: formatEventId({ sequence: events.length + 1 }),
      runId,
      event,
      data: JSON.parse(wireJson(data)),
    });
  add("metadata", { run_id: runId, thread_id: threadId });
  const options = { streamMode: modes, subgraphs, version: "v2", configurable: { thread_id: threadId } };
  let status = "success";
  try {
    for await (const part of await agent.stream(input as never, options as never)) {
      const { type, ns, data } = part as { type: string; ns: string[]; data: unknown };
      if (typeof data === "object" && data !== null && "__interrupt__" in data) status = "interrupted";
      add(formatEventName(type, ns), data);
    }
  } catch (error) {
    status = "error";
    add("error", { error: (error as Error).name, message: (error as Error).message });
  }
  add("end", { run_id: runId, status });
  return events;
}

interface MessageObject {
  getType(): string;
  toDict(): { readonly type: string; readonly data: object };
}

function isMessageObject(value: unknown): value is MessageObject {
  return typeof (value as Partial<MessageObject> | null)?.toDict === "function";
}

/** Message objects as the plain data a server makes of them. */
function wireJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name: string, made: unknown) {
    const held = this[name];
    if (!isMessageObject(held)) return made;
    const { type, data } = held.toDict();
    return { ...data, type: "concat" in held && type === "ai" ? "AIMessageChunk" : type };
  });
}
