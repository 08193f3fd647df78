/** Answers of strangers are bounded: a whole answer, or each event of a stream. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGuardedFetch } from "./guarded-fetch.ts";

let answer: (response: ServerResponse) => void = () => {};
const server = createServer((_, response) => answer(response));
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

const fetchBounded = createGuardedFetch({ allowPrivate: true, maxBytes: 20 });

async function read(type: string, body: string): Promise<string> {
  answer = (response) => response.writeHead(200, { "content-type": type }).end(body);
  return (await fetchBounded(url)).text();
}

const events = (end: string): string => `data: 12345${end}${end}`.repeat(9);

test("an answer of at most so many bytes is read, a longer one fails", async () => {
  expect(await read("text/plain", "x".repeat(20))).toHaveLength(20);
  await expect(read("text/plain", "x".repeat(21))).rejects.toThrow("more than 20 bytes");
});

test.each([["\n"], ["\r\n"]])(
  "a stream of events may be longer than any of them: ends with %j",
  async (end) => {
    expect(await read("text/event-stream", events(end))).toBe(events(end));
  },
);

test("one event that is too long fails, also on several lines", async () => {
  await expect(read("text/event-stream", `data: ${"x".repeat(20)}`)).rejects.toThrow("more than 20");
  await expect(read("text/event-stream", "data: 1\n".repeat(3))).rejects.toThrow("more than 20");
});

test.each([
  ["a redirect", 302, { location: "http://example.com/" }, "redirect (302)"],
  ["a packed answer", 200, { "content-encoding": "gzip" }, "content-encoding gzip"],
])("is refused: %s", async (_, status, headers, words) => {
  answer = (response) => response.writeHead(status, headers as never).end();
  await expect(fetchBounded(url)).rejects.toThrow(words);
});

test("is taken: an answer that is said to be unpacked, and one without a body; headers come along", async () => {
  answer = (response) =>
    response.writeHead(304, { "content-encoding": "identity", "set-cookie": ["a=1", "b=2"] }).end();
  const { status, headers } = await fetchBounded(url);
  expect([status, headers.getSetCookie()]).toEqual([304, ["a=1", "b=2"]]);
});

test("sends a body that is text, and refuses another", async () => {
  answer = (response) => response.end("ok");
  expect(await (await fetchBounded(url, { method: "POST", body: "text" })).text()).toBe("ok");
  const bytes = { method: "POST", body: new Uint8Array([1]) };
  await expect(fetchBounded(url, bytes)).rejects.toThrow("The body must be a text.");
});

test("is refused: an address that is private where none is allowed", async () => {
  await expect(createGuardedFetch({ allowPrivate: false, maxBytes: 20 })(url)).rejects.toThrow(
    "public Internet",
  );
});
