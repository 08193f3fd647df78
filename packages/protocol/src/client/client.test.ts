import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { createClient, encodeEvent, ProtocolError, type StreamedEvent } from "../index.ts";
import { eventLog, type LogOptions } from "./event-log-for-tests.ts";

const body = { assistant_id: "agent", input: { messages: "hi" } };
const quick = { firstDelayMs: 1, maxDelayMs: 4 };

function clientOf(log: { fetch: (request: Request) => Promise<Response> }, reconnect = {}) {
  return createClient({
    fetch: log.fetch,
    baseUrl: "http://localhost/api/",
    token: "secret",
    reconnect: { ...quick, ...reconnect },
  });
}

async function all(stream: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> {
  const list: StreamedEvent[] = [];
  for await (const event of stream) list.push(event);
  return list;
}

const numbered = (count: number, end = true): LogOptions["events"] => [
  ...Array.from({ length: count }, (_, index) => ({ event: "values", data: JSON.stringify({ n: index }) })),
  ...(end ? [{ event: "end", data: '{"status":"success"}' }] : []),
];

describe("a stream of a run", () => {
  test("gives every event once and in order, wherever connections break and whatever is sent again", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(900), { maxLength: 7 }),
        fc.boolean(),
        fc.nat(3),
        async (cuts, politely, overlap) => {
          const log = eventLog({ events: numbered(20), cuts: [500, ...cuts], politely, overlap });
          const events = await all(clientOf(log, { attempts: 20 }).runs.stream("t", body));
          expect(events.map(({ id }) => Number(id))).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("is begun once, resumed under its Location with the last id, and names its run", async () => {
    const log = eventLog({ events: numbered(3), cuts: [90] });
    const named: unknown[] = [];
    await all(clientOf(log).runs.stream("t", body, { idempotencyKey: "k", onRun: (run) => named.push(run) }));
    const [first, second] = log.requests;
    expect([first?.method, first?.url]).toEqual(["POST", "http://localhost/api/threads/t/runs/stream"]);
    expect(first?.headers.get("authorization")).toBe("Bearer secret");
    expect(first?.headers.get("idempotency-key")).toBe("k");
    expect([second?.method, second?.url]).toEqual(["GET", "http://localhost/api/threads/t/runs/r/stream"]);
    expect(second?.headers.get("last-event-id")).toBe("1");
    expect(named).toEqual([{ runId: "r", threadId: "t" }]);
  });

  test("of a server without `end` is over when a second look brings nothing", async () => {
    const log = eventLog({ events: numbered(3, false) });
    expect(await all(clientOf(log).runs.stream("t", body))).toHaveLength(3);
    expect(log.requests).toHaveLength(2);
  });

  test("of which nothing is left is over, also when it was to close with `end`", async () => {
    const log = eventLog({ events: numbered(3) });
    expect(await all(clientOf(log).runs.joinStream("t", "r", { lastEventId: "4" }))).toEqual([]);
    expect(log.requests).toHaveLength(2);
  });

  test("without ids is over when it closes", async () => {
    const log = eventLog({ events: numbered(3, false), ids: false });
    expect(await all(clientOf(log).runs.stream("t", body))).toHaveLength(3);
    expect(log.requests).toHaveLength(1);
  });

  test("waits as long as the server asks, and tries again", async () => {
    const busy = Response.json(
      { code: "RATE_LIMITED", message: "slow down" },
      { status: 429, headers: { "retry-after": "1" } },
    );
    const log = eventLog({ events: numbered(3), cuts: [90], refusals: [undefined, busy] });
    const before = performance.now();
    expect(await all(clientOf(log).runs.stream("t", body))).toHaveLength(4);
    expect(performance.now() - before).toBeGreaterThan(900);
  });

  test("is given up after the tries it may have", async () => {
    const log = eventLog({ events: numbered(3), cuts: [90, 0, 0, 0, 0, 0, 0] });
    await expect(all(clientOf(log, { attempts: 3 }).runs.stream("t", body))).rejects.toThrow("terminated");
    expect(log.requests).toHaveLength(5);
  });

  test("what will not change is not tried again", async () => {
    const gone = Response.json({ code: "NOT_FOUND", message: "no such run" }, { status: 404 });
    const log = eventLog({ events: numbered(3), cuts: [90], refusals: [undefined, gone] });
    await expect(all(clientOf(log).runs.stream("t", body))).rejects.toMatchObject({
      status: 404,
      code: "NOT_FOUND",
      message: "no such run",
    });
  });

  test("a request that got no answer is made again only under an idempotency key", async () => {
    const refusals = [new TypeError("fetch failed")];
    const keyed = eventLog({ events: numbered(3), refusals });
    expect(await all(clientOf(keyed).runs.stream("t", body, { idempotencyKey: "k" }))).toHaveLength(4);
    const bare = eventLog({ events: numbered(3), refusals });
    await expect(all(clientOf(bare).runs.stream("t", body))).rejects.toMatchObject({
      status: 0,
      code: "UNREACHABLE",
    });
    expect(bare.requests).toHaveLength(1);
  });

  test("a Location of another host is not followed", async () => {
    for (const location of ["https://evil.example/x", "//evil.example/x", "/\\evil.example"]) {
      const asked: string[] = [];
      const fetch = async (request: Request) => {
        asked.push(request.url);
        const body = new ReadableStream({
          start: (controller) => {
            controller.enqueue(
              new TextEncoder().encode(encodeEvent({ id: "1", event: "values", data: "{}" })),
            );
          },
          pull: (controller) => controller.error(new TypeError("terminated")),
        });
        return new Response(body, { headers: { "content-type": "text/event-stream", location } });
      };
      await expect(all(clientOf({ fetch }).runs.stream("t", body))).rejects.toThrow();
      expect(asked).toEqual(["http://localhost/api/threads/t/runs/stream"]);
    }
  });

  test("an abort is thrown as its reason and lets go of the connection, also in this process", async () => {
    const log = eventLog({ events: numbered(3, false), open: true });
    const abort = new AbortController();
    const reason = new Error("enough");
    const read: StreamedEvent[] = [];
    await expect(
      (async () => {
        for await (const event of clientOf(log).runs.stream("t", body, { signal: abort.signal })) {
          read.push(event);
          if (read.length === 3) setTimeout(() => abort.abort(reason), 5);
        }
      })(),
    ).rejects.toBe(reason);
    expect(log.cancelled).toBe(1);
  });

  test("leaving the loop lets go of the connection", async () => {
    const log = eventLog({ events: numbered(3, false), open: true });
    for await (const _ of clientOf(log).runs.stream("t", body)) break;
    expect(log.cancelled).toBe(1);
  });

  test("a connection without a byte is taken for dead and resumed", async () => {
    const log = eventLog({ events: numbered(3), cuts: [90], open: true });
    expect(await all(clientOf(log, { idleMs: 50 }).runs.stream("t", body))).toHaveLength(4);
    expect(log.requests).toHaveLength(2);
  });

  test("that was begun elsewhere is joined behind an event, with the modes that were asked for", async () => {
    const log = eventLog({ events: numbered(5), cuts: [140] });
    const events = await all(
      clientOf(log).runs.joinStream("t", "r", { lastEventId: "2", streamMode: ["values", "updates"] }),
    );
    expect(events.map(({ id }) => id)).toEqual(["3", "4", "5", "6"]);
    expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set(["r"]));
    for (const { url } of log.requests)
      expect(url).toBe("http://localhost/api/threads/t/runs/r/stream?stream_mode=values&stream_mode=updates");
  });

  test("over a real socket that is destroyed halfway is resumed", async () => {
    const texts = numbered(6).map((event, index) => encodeEvent({ id: String(index + 1), ...event }));
    const events: StreamedEvent[] = [];
    let connections = 0;
    const server = createServer((request, response) => {
      connections += 1;
      const after = Number(request.headers["last-event-id"] ?? 0);
      response.writeHead(200, { "content-type": "text/event-stream", location: "/threads/t/runs/r/stream" });
      response.write(texts.slice(after, after + 2).join(""));
      if (after + 2 >= texts.length) response.end(texts.slice(after + 2).join(""));
      else void until(() => events.length === after + 2).then(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const stream = createClient({ baseUrl, reconnect: quick }).runs.stream("t", body);
      for await (const event of stream) events.push(event);
      expect(events.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
      expect(connections).toBeGreaterThan(1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("a call", () => {
  const answering = (answer: () => Response) => {
    const requests: Request[] = [];
    const client = createClient({
      baseUrl: "http://localhost",
      fetch: async (request) => {
        requests.push(request.clone());
        return answer();
      },
    });
    return { client, requests };
  };

  test("puts ids into the path, whatever they contain", async () => {
    const { client, requests } = answering(() => new Response(null, { status: 204 }));
    await client.threads.delete("../a b?c#d");
    expect(requests[0]?.url).toBe("http://localhost/threads/..%2Fa%20b%3Fc%23d");
    await client.runs.cancel("t", "r", { wait: true, action: "rollback" });
    expect(requests[1]?.url).toBe("http://localhost/threads/t/runs/r/cancel?wait=true&action=rollback");
    await expect(client.threads.delete("..")).rejects.toThrow(TypeError);
  });

  test("reads the answer as the schema of the route says", async () => {
    const found = { namespace: ["a.b"], key: "k", value: { x: 1 }, created_at: "", updated_at: "" };
    const { client, requests } = answering(() => Response.json(found));
    expect((await client.store.get(["a.b"], "k"))?.value).toEqual({ x: 1 });
    expect(new URL(requests[0]!.url).searchParams.get("namespace")).toBe('["a.b"]');
    await expect(client.threads.get("t")).rejects.toMatchObject({ code: "INVALID_ANSWER", status: 200 });
  });

  test("that is refused says why, in whichever words the server has", async () => {
    const refused = async (response: Response) => {
      const error = await answering(() => response)
        .client.ok()
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ProtocolError);
      return error as ProtocolError;
    };
    expect(await refused(Response.json({ detail: "Thread is busy" }, { status: 409 }))).toMatchObject({
      status: 409,
      code: "HTTP_409",
      message: "Thread is busy",
    });
    expect(
      await refused(
        Response.json(
          { code: "RATE_LIMITED", message: "slow", hint: "wait" },
          { status: 429, headers: { "retry-after": "7" } },
        ),
      ),
    ).toMatchObject({ code: "RATE_LIMITED", retryAfter: 7, hint: "wait", temporary: true });
    const page = await refused(new Response("<html>".repeat(1000), { status: 502 }));
    expect(page).toMatchObject({ code: "HTTP_502", temporary: true });
    expect(page.message.length).toBeLessThanOrEqual(1000);
  });

  test("an abort ends the wait for a server of this process that never answers", async () => {
    const client = createClient({ baseUrl: "http://localhost", fetch: () => new Promise(() => {}) });
    const signal = AbortSignal.timeout(20);
    await expect(client.runs.wait("t", body, { signal })).rejects.toMatchObject({ name: "TimeoutError" });
  });
});
