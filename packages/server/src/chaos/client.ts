/** A client that begins runs and reads their streams, over connections that break. */
import { createClient, type StreamedEvent } from "@deepwright/protocol";
import type { Random } from "../../../checkpoint/src/chaos/random.ts";

/** Longest life of a connection with a stream. */
const LONGEST_CONNECTION_MS = 20_000;
const PATIENCE = { attempts: 1_000, firstDelayMs: 50, maxDelayMs: 500 };

export interface ChaosClient {
  /** Begins the run of the thread once, however often that takes, and reads its events to the end. */
  play(thread: string): Promise<StreamedEvent[]>;
  /** All events of a run, read by somebody who comes when it has ended. */
  read(thread: string, runId: string): Promise<StreamedEvent[]>;
  readonly client: ReturnType<typeof createClient>;
  /** Events of running graphs that were read so far. */
  readonly updates: number;
  /** Connections that were cut while something was read. */
  readonly cuts: number;
}

export function chaosClient(baseUrl: string, token: string, random: Random): ChaosClient {
  let cuts = 0;
  let updates = 0;
  const fragile = async (request: Request): Promise<Response> => {
    const cut = new AbortController();
    const response = await fetch(new Request(request, { signal: cut.signal }));
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream || !response.body) return response;
    const timer = setTimeout(() => {
      cuts += 1;
      cut.abort();
    }, random.below(LONGEST_CONNECTION_MS));
    const body = response.body.pipeThrough(new TransformStream({ flush: () => clearTimeout(timer) }));
    return new Response(body, response);
  };
  const client = createClient({ baseUrl, token, fetch: fragile, reconnect: PATIENCE });
  const steady = createClient({ baseUrl, token, reconnect: PATIENCE });
  return {
    client: steady,
    get updates() {
      return updates;
    },
    get cuts() {
      return cuts;
    },
    async play(thread) {
      const body = {
        assistant_id: "planned",
        input: { messages: [{ role: "user", content: thread }] },
        stream_mode: ["updates" as const],
        if_not_exists: "create" as const,
      };
      return all(client.runs.stream(thread, body, { idempotencyKey: thread }), ({ kind }) => {
        if (kind === "updates") updates += 1;
      });
    },
    read: (thread, runId) => all(steady.runs.joinStream(thread, runId)),
  };
}

async function all(
  events: AsyncIterable<StreamedEvent>,
  onEvent: (event: StreamedEvent) => void = () => {},
): Promise<StreamedEvent[]> {
  const list: StreamedEvent[] = [];
  for await (const event of events) {
    list.push(event);
    onEvent(event);
  }
  return list;
}
