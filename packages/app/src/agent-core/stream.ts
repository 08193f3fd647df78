/** Runs an agent and gives its events for a screen, as objects or as server-sent events. */
import { encodeEvent } from "@deepwright/protocol";
import { createErrorWords, createWireJson, streamShape } from "@deepwright/server/wire";

/** `event` is `updates`, `messages`, `error` or `end`. Events of a subagent have its graph behind: `updates|<graph>|…`. */
export interface AgentEvent {
  readonly event: string;
  /** Plain JSON. */
  readonly data: unknown;
}

/** Events of one run, to be read once: as objects or as bytes. The run stops when the reader stops. */
export interface AgentEvents extends AsyncIterable<AgentEvent> {
  /** Body of an HTTP response of type `text/event-stream`. */
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

/** The run starts with the first read. A failed run ends with an `error` event. An aborted run throws its reason. */
export function eventsOf(agent: StreamingAgent, input: unknown, config: StreamConfig): AgentEvents {
  const readerLeft = new AbortController();
  const events = generate(agent, input, config, readerLeft);
  return {
    [Symbol.asyncIterator]: () => events,
    sse: () => encoded(events, readerLeft),
  };
}

async function* generate(
  agent: StreamingAgent,
  input: unknown,
  config: StreamConfig,
  readerLeft: AbortController,
): AsyncGenerator<AgentEvent, void, undefined> {
  const signal = config.signal ? AbortSignal.any([config.signal, readerLeft.signal]) : readerLeft.signal;
  const json = createWireJson(process.env);
  const shape = streamShape(MODES);
  let isWaiting = false;
  let outcome: unknown;
  try {
    const run = await agent.stream(input, { ...config, streamMode: shape.modes, subgraphs: true, signal });
    for await (const [namespace, mode, payload] of run as AsyncIterable<[string[], string, unknown]>) {
      if (namespace.length === 0 && mode === "updates") {
        isWaiting ||= hasInterrupts(payload);
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
    readerLeft.abort();
  }
}

/** True when the agent stops to ask a person. */
function hasInterrupts(update: unknown): boolean {
  const { __interrupt__: interrupts } = (update ?? {}) as { __interrupt__?: unknown };
  return Array.isArray(interrupts) && interrupts.length > 0;
}

/** The outcome that the last step of the agent writes: why it stopped. */
function outcomeIn(update: unknown): unknown {
  const written = Object.values((update ?? {}) as Record<string, { outcome?: unknown } | null>);
  return written.find((one) => one?.outcome != null)?.outcome;
}

function encoded(
  events: AsyncGenerator<AgentEvent, void, undefined>,
  readerLeft: AbortController,
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
      // Without this a pending model call would delay the end of the generator.
      readerLeft.abort();
      await events.return();
    },
  });
}
