import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createSseDecoder,
  decodeEvents,
  encodeEvent,
  HEARTBEAT,
  type SseEvent,
  SseLimitError,
} from "./sse.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Cuts bytes at the given places. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const list: Uint8Array[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    list.push(bytes.subarray(from, place));
    from = place;
  }
  return list;
}

function decode(chunks: Iterable<Uint8Array>, maxLength?: number): SseEvent[] {
  const decoder = createSseDecoder(maxLength === undefined ? {} : { maxLength });
  return [...chunks].flatMap((chunk) => decoder.push(chunk));
}

describe("encodeEvent", () => {
  test("SV-12 text that looks like an event stays text in one event", () => {
    const evil = "hello\n\nevent: x\ndata: y\r\n\r\nid: 9\rdata: z\u2028\u2029\u0085";
    const wire = encodeEvent({ id: "1", event: "messages", data: JSON.stringify([{ content: evil }]) });
    expect(decode([bytesOf(wire)])).toHaveLength(1);
    expect(JSON.parse(decode([bytesOf(wire)])[0]!.data)).toEqual([{ content: evil }]);
    expect(wire.split(/\r\n|[\r\n\u0085\u2028\u2029]/)).toHaveLength(5);
  });

  test("SV-12 neither a name nor an id can begin a line", () => {
    const wire = encodeEvent({ id: "1\ndata: a", event: "x\r\n\r\nevent: y", data: "{\n}" });
    expect(decode([bytesOf(wire)])).toEqual([{ id: "1 data: a", event: "x    event: y", data: "{\n}" }]);
  });

  test("a heartbeat is no event, whatever stands around it", () => {
    const event = encodeEvent({ id: "1", event: "values", data: "{}" });
    expect(decode([bytesOf(HEARTBEAT + event + HEARTBEAT + HEARTBEAT + event + HEARTBEAT)])).toHaveLength(2);
  });
});

const text = fc.string({ unit: "binary", maxLength: 40 });
const events = fc.array(
  fc.record({
    id: fc.nat().map(String),
    event: fc.constantFrom("values", "messages|tools:1", "end"),
    data: fc.oneof(
      text.map((value) => JSON.stringify(value.toWellFormed())),
      fc.json({ maxDepth: 2 }).map((json) => JSON.stringify(JSON.parse(json.toWellFormed()), null, 1)),
    ),
  }),
  { maxLength: 6 },
);
const cuts = fc.array(fc.nat(100_000), { maxLength: 30 });

describe("the decoder", () => {
  test("gives what was encoded, wherever the bytes are cut and whichever line ends and mark they have", () => {
    fc.assert(
      fc.property(
        events,
        cuts,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.boolean(),
        (list, places, end, mark) => {
          const wire = list.map((event) => HEARTBEAT + encodeEvent(event)).join("");
          const bytes = bytesOf((mark ? "\ufeff" : "") + wire.replaceAll("\n", end));
          const read = decode(pieces(bytes, places));
          expect(read.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) }))).toEqual(
            list.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) })),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  test("reads one byte at a time what it reads at once", () => {
    const bytes = bytesOf('id: 1\r\nevent: a\r\ndata: "äöü🙂"\r\n\r\ndata: 1\ndata: 2\n\n\revent: b\r\r');
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(decode(single)).toEqual(decode([bytes]));
    expect(decode([bytes])).toEqual([
      { id: "1", event: "a", data: '"äöü🙂"' },
      { event: "message", data: "1\n2" },
      { event: "b", data: "" },
    ]);
  });

  test("does not give an event that the stream does not finish, but knows its id", () => {
    const decoder = createSseDecoder();
    expect(decoder.push(bytesOf("id: 7\nevent: a\ndata: 1\n"))).toEqual([]);
    expect(decoder.lastEventId).toBe("7");
  });

  test("fields without a colon, unknown fields, a NUL in an id and a bad retry change nothing", () => {
    expect(decode([bytesOf("id: a\0b\nretry: x\nfoo: bar\nnonsense\nretry: 50\ndata:x\n\n")])).toEqual([
      { event: "message", data: "x", retry: 50 },
    ]);
  });

  test("a line or an event that grows without end is refused when it passes the limit", () => {
    const endless = function* () {
      for (let sent = 0; sent < 100; sent += 1) yield bytesOf("x".repeat(100));
    };
    expect(() => decode(endless(), 1000)).toThrow(SseLimitError);
    const lines = function* () {
      for (let sent = 0; sent < 100; sent += 1) yield bytesOf(`data: ${"x".repeat(100)}\n`);
    };
    expect(() => decode(lines(), 1000)).toThrow(SseLimitError);
    expect(decode([bytesOf(`data: ${"x".repeat(900)}\n\n`)], 1000)).toHaveLength(1);
  });

  test("a line of 8 MiB in pieces of 1 KiB is read in a time that grows with it", () => {
    const chunk = bytesOf("x".repeat(1024));
    const long = function* (count: number) {
      yield bytesOf("data: ");
      for (let sent = 0; sent < count; sent += 1) yield chunk;
      yield bytesOf("\n\n");
    };
    expect(decode(long(8192))[0]!.data).toHaveLength(8 * 1024 * 1024);
  });
});

test("leaving the loop lets go of the body", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytesOf(encodeEvent({ event: "values", data: "{}" }))),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const event of decodeEvents(body)) {
    expect(event.event).toBe("values");
    break;
  }
  expect(cancelled).toBe(true);
  expect(body.locked).toBe(false);
});
