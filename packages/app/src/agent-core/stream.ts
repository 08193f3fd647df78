/** A run of an agent as events for a screen. */
import { encodeEvent } from "@deepwright/protocol";
import { createErrorWords, createWireJson, streamShape } from "@deepwright/server/wire";

/** `event` is `updates`, `messages`, `error` or `end`; `<name>|<graph>|…` for what happens in a child. */
export interface AgentEvent {
  readonly event: string;
  /** Plain JSON. */
  readonly data: unknown;
}

/** Can be read once, one way or the other; to stop reading is to stop the run. */
export interface AgentEvents extends AsyncIterable<AgentEvent> {
  /** The body of a response of type `text/event-stream`. */
  sse(): ReadableStream<Uint8Array>;
}

export interface StreamingAgent {
  stream(input: unknown, options?: unknown): Promise<AsyncIterable<unknown>>;
}

export interface StreamConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly [option: string]: unknown;
}

const MODES = ["updates", "messages-tuple"] as const;

/** Begins with the first read. A run that fails is told by the event `error`; one that is aborted throws the reason. */
export function eventsOf(agent: StreamingAgent, input: unknown, config: StreamConfig): AgentEvents {
  const left = new AbortController();
  const events = generate(agent, input, config, left);
  return {
    [Symbol.asyncIterator]: () => events,
    sse: () => encoded(events, left),
  };
}

async function* generate(
  agent: StreamingAgent,
  input: unknown,
  config: StreamConfig,
  left: AbortController,
): AsyncGenerator<AgentEvent, void, undefined> {
  const signal = config.signal ? AbortSignal.any([config.signal, left.signal]) : left.signal;
  const json = createWireJson(process.env);
  const shape = streamShape(MODES);
  let isWaiting = false;
  let outcome: unknown;
  try {
    const run = await agent.stream(input, { ...config, streamMode: shape.modes, subgraphs: true, signal });
    for await (const [namespace, mode, payload] of run as AsyncIterable<[string[], string, unknown]>) {
      if (namespace.length === 0 && mode === "updates") {
        isWaiting ||= asks(payload);
        outcome = outcomeIn(payload) ?? outcome;
      }
      for (const { event, data } of shape.events(namespace, mode, payload))
        yield { event, data: JSON.parse(json(data)) };
    }
    const end = isWaiting ? { status: "interrupted" } : { status: "success", outcome };
    yield { event: "end", data: JSON.parse(json(end)) };
  } catch (error) {
    if (config.signal?.aborted) throw config.signal.reason;
    yield { event: "error", data: createErrorWords(process.env)(error) };
    yield { event: "end", data: { status: "error" } };
  } finally {
    left.abort();
  }
}

function asks(update: unknown): boolean {
  const { __interrupt__: interrupts } = (update ?? {}) as { __interrupt__?: unknown };
  return Array.isArray(interrupts) && interrupts.length > 0;
}

/** Why the agent stopped: its last step says so. */
function outcomeIn(update: unknown): unknown {
  const written = Object.values((update ?? {}) as Record<string, { outcome?: unknown } | null>);
  return written.find((one) => one?.outcome != null)?.outcome;
}

function encoded(
  events: AsyncGenerator<AgentEvent, void, undefined>,
  left: AbortController,
): ReadableStream<Uint8Array> {
  const text = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else
        controller.enqueue(
          text.encode(encodeEvent({ event: value.event, data: JSON.stringify(value.data) })),
        );
    },
    async cancel() {
      // A model that is being waited for would hold up the generator's own end.
      left.abort();
      await events.return();
    },
  });
}
