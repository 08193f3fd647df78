/** R-13 for the stream of a thread: a reader that comes back misses no run, however many there were meanwhile. */
import { createSseDecoder } from "@deepwright/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunClaim } from "../records/records.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ role: "api", limits: { runs: { burst: 10_000, perSecond: 10_000 } } });
});
afterAll(() => server.close());

interface Seen {
  readonly id: string;
  readonly event: string;
}

const run = (content: string) => ({ assistant_id: "echo", input: { messages: [{ role: "user", content }] } });
const runOf = ({ id }: Seen): string => id.slice(0, id.lastIndexOf(":"));

async function newThread(): Promise<string> {
  return (await server.call("POST", "/threads", {})).body.thread_id;
}

/** Begins so many, and ends each: nobody else works here. */
async function begin(thread: string, count: number): Promise<string[]> {
  const { runs } = server.app.storage.records;
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { run_id } = (await server.call("POST", `/threads/${thread}/runs`, run(`m${n}`))).body;
    const claim = await runs.claimNext(thread, "test", 60_000);
    const events = ["metadata", "values", "end"].map((event) => ({
      event,
      data: JSON.stringify({ run_id }),
    }));
    expect(await runs.finish(claim as RunClaim, { status: "success", threadStatus: "idle" }, events)).toBe(
      true,
    );
    ids.push(run_id);
  }
  return ids;
}

/** The events of the thread's stream until so many runs have ended. */
async function read(thread: string, ends: number, lastEventId?: string): Promise<Seen[]> {
  const leave = new AbortController();
  const response = await fetch(`${server.url}/threads/${thread}/stream`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...(lastEventId && { "last-event-id": lastEventId }) },
    signal: leave.signal,
  });
  expect(response.status).toBe(200);
  const decoder = createSseDecoder();
  const seen: Seen[] = [];
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    for (const { id, event } of decoder.push(bytes)) if (id !== undefined) seen.push({ id, event });
    if (seen.filter(({ event }) => event === "end").length >= ends) break;
  }
  leave.abort();
  return seen;
}

describe("R-13 the stream of a thread", () => {
  test("goes on behind the last event, with every one of 130 runs that came since", async () => {
    const thread = await newThread();
    const [first] = await begin(thread, 1);
    const later = await begin(thread, 129);
    const seen = await read(thread, 129, `${first}:999.1`);
    expect([...new Set(seen.map(runOf))]).toEqual(later);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  });

  test("goes on in the middle of a run, whichever form its id has", async () => {
    const thread = await newThread();
    const [id, next] = await begin(thread, 2);
    const whole = await read(thread, 2, `${id}:0.1`);
    expect(whole[0]).toEqual({ id: `${id}:1.1`, event: "metadata" });
    for (const last of [`${id}:2.1`, `${id}:2`]) expect(await read(thread, 2, last)).toEqual(whole.slice(2));
    expect(whole.at(-1)?.id.startsWith(`${next}:`)).toBe(true);
  });

  test("goes on with the next run when the one it was at is gone", async () => {
    const thread = await newThread();
    const [gone, next] = await begin(thread, 2);
    await server.call("DELETE", `/threads/${thread}/runs/${gone}`);
    expect(new Set((await read(thread, 1, `${gone}:2.1`)).map(runOf))).toEqual(new Set([next]));
  });

  test("is 404 for an id that does not say where to go on, and not silently somewhere else", async () => {
    const thread = await newThread();
    const [gone] = await begin(thread, 2);
    const [elsewhere] = await begin(await newThread(), 1);
    await server.call("DELETE", `/threads/${thread}/runs/${gone}`);
    for (const last of [`${gone}:2`, `${elsewhere}:2`, `${elsewhere}:2.1`])
      expect(
        await server.call("GET", `/threads/${thread}/stream`, undefined, { "last-event-id": last }),
      ).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });
});
