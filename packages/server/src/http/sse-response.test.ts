import { decodeEvents, type WireEvent } from "@deepwright/protocol";
import { expect, onTestFinished, test, vi } from "vitest";
import { Heartbeat } from "./heartbeat.ts";
import { type EventStreamOptions, eventResponse } from "./sse-response.ts";

function options(given: Partial<EventStreamOptions> = {}): EventStreamOptions {
  return {
    heartbeat: new Heartbeat(10),
    headers: {},
    closing: new AbortController().signal,
    stallMs: 60_000,
    ...given,
  };
}

const until = (signal: AbortSignal) =>
  new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));

/** Nothing, until the reader leaves. */
async function* quiet(signal: AbortSignal): AsyncGenerator<WireEvent> {
  await until(signal);
  yield* [];
}

async function* numbered(count: number): AsyncGenerator<WireEvent> {
  for (let id = 1; id <= count; id++) yield { id: String(id), event: "custom", data: String(id) };
}

test("a reader gets every event in order, then the end", async () => {
  const ends: boolean[] = [];
  const response = eventResponse(() => numbered(500), options({ onEnd: (complete) => ends.push(complete) }));
  const ids: (string | undefined)[] = [];
  for await (const { id } of decodeEvents(response.body!)) ids.push(id);
  expect(ids).toEqual(Array.from({ length: 500 }, (_, index) => String(index + 1)));
  expect(ends).toEqual([true]);
});

test("while nothing happens the connection is kept alive by comments", async () => {
  const response = eventResponse(quiet, options());
  const reader = response.body!.getReader();
  for (let beat = 0; beat < 3; beat++)
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(": heartbeat\n");
  await reader.cancel();
});

test("events are fetched as fast as the reader takes them, so a slow one costs no memory", async () => {
  let fetched = 0;
  const response = eventResponse(async function* () {
    for (;;) {
      fetched++;
      yield { event: "custom", data: JSON.stringify("x".repeat(1024 * 1024)) };
    }
  }, options());
  const reader = response.body!.getReader();
  await reader.read();
  await new Promise((done) => setTimeout(done, 100));
  expect(fetched).toBeLessThanOrEqual(3);
  await reader.cancel();
});

test("a reader that takes nothing for too long is cut off, not ended", async () => {
  const ends: boolean[] = [];
  const given = options({ stallMs: 30, onEnd: (complete) => ends.push(complete) });
  const response = eventResponse(() => numbered(10), given);
  const reader = response.body!.getReader();
  await reader.read();
  await expect.poll(() => ends).toEqual([false]);
  await expect(
    (async () => {
      for (;;) if ((await reader.read()).done) return "ended";
    })(),
  ).rejects.toThrow();
});

test("a large event is taken in pieces: who takes them slowly is not cut off, and no heartbeat is in it", async () => {
  const data = JSON.stringify("x".repeat(1024 * 1024));
  const large = async function* (): AsyncGenerator<WireEvent> {
    yield { id: "1", event: "custom", data };
  };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const response = eventResponse(large, options({ stallMs: 100 }));
  const slowly = response.body!.pipeThrough(
    new TransformStream({
      transform: (piece, out) => {
        vi.advanceTimersByTime(60);
        out.enqueue(piece);
      },
    }),
  );
  const seen: string[] = [];
  for await (const event of decodeEvents(slowly)) seen.push(event.data);
  expect(seen).toEqual([data]);
});

test("a reader that leaves lets go of its source at once", async () => {
  let released = false;
  const ends: boolean[] = [];
  const response = eventResponse(
    async function* (signal) {
      try {
        yield { event: "custom", data: "1" };
        await until(signal);
      } finally {
        released = true;
      }
    },
    options({ onEnd: (complete) => ends.push(complete) }),
  );
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  await expect.poll(() => released).toBe(true);
  expect(ends).toEqual([false]);
});

test("a server that closes breaks streams off, so that clients come back", async () => {
  const closing = new AbortController();
  const response = eventResponse(quiet, options({ closing: closing.signal }));
  const read = (async () => {
    for await (const _ of decodeEvents(response.body!));
  })();
  closing.abort();
  await expect(read).rejects.toThrow("The server closes.");
});
