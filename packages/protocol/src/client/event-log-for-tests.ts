/** A server with one run in this process: its events are a list, its connections break where a test says. */
import { formatEventId, parseEventId } from "../events/event-id.ts";
import { HEADER } from "../headers.ts";
import { encodeEvent, HEARTBEAT, type WireEvent } from "../sse.ts";

export interface LogOptions {
  /** The events of the run, `end` included where the server has one. */
  readonly events: readonly Omit<WireEvent, "id">[];
  /** How many bytes each connection carries before it breaks; the one after the last carries all. */
  readonly cuts?: readonly number[];
  /** Breaks are closes. */
  readonly politely?: boolean;
  /** Sends this many events again before those that were asked for. */
  readonly overlap?: number;
  /** Answers instead of the stream, connection by connection. */
  readonly refusals?: readonly (Response | Error | undefined)[];
  /** Never closes a stream. */
  readonly open?: boolean;
  readonly ids?: boolean;
}

export function eventLog(options: LogOptions) {
  const requests: Request[] = [];
  const { events, cuts = [], overlap = 0, refusals = [], ids = true } = options;
  let cancelled = 0;

  const fetch = async (request: Request): Promise<Response> => {
    const number = requests.length;
    requests.push(request);
    const refusal = refusals[number];
    if (refusal instanceof Error) throw refusal;
    if (refusal) return refusal;
    const after = parseEventId(request.headers.get(HEADER.lastEventId) ?? "0")?.sequence ?? 0;
    const wire = events
      .map((event, index) =>
        encodeEvent(ids ? { id: formatEventId({ sequence: index + 1 }), ...event } : event),
      )
      .slice(Math.max(0, after - overlap))
      .join(HEARTBEAT);
    const bytes = new TextEncoder().encode(HEARTBEAT + wire);
    const cut = cuts[number];
    let sent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!sent) {
          sent = true;
          controller.enqueue(cut === undefined ? bytes : bytes.subarray(0, cut));
        } else if (options.open) return new Promise(() => {});
        else if (cut === undefined || options.politely) controller.close();
        else controller.error(new TypeError("terminated"));
        return undefined;
      },
      cancel() {
        cancelled += 1;
      },
    });
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        ...(events.at(-1)?.event === "end" ? { [HEADER.streamEnd]: "end" } : {}),
        ...(request.method === "POST"
          ? { [HEADER.contentLocation]: "/threads/t/runs/r", [HEADER.location]: "/threads/t/runs/r/stream" }
          : {}),
      },
    });
  };

  return {
    fetch,
    requests,
    get cancelled() {
      return cancelled;
    },
  };
}
