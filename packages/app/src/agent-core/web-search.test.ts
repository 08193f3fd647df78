/** The search of the web, against a server on this machine that answers as Tavily does. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chosenSearch } from "./search-settings.ts";
import { tavilySearch } from "./tavily.ts";
import { webSearchTool } from "./web-search.ts";

const KEY = "tvly-key-for-tests";
let baseUrl: string;
let close: () => void;
/** The answer to the next request; the body of that request is put here. */
let answer: (response: ServerResponse) => void;
const asked: { path: string | undefined; key: string | undefined; body: any }[] = [];

beforeEach(async () => {
  asked.length = 0;
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    asked.push({ path: request.url, key: request.headers.authorization, body: JSON.parse(text) });
    answer(response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => {
    server.close();
    server.closeAllConnections();
  };
});
afterEach(() => close());

const says = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};
const page = (n: number) => ({
  title: `Roses ${n}`,
  url: `https://roses.example/${n}`,
  content: "Red.",
  score: 0.9,
  raw_content: null,
});
const pages = { query: "roses", images: [], results: [1, 2, 3].map(page), response_time: 0.5 };

test("asks with the key and gives titles, addresses and contents", async () => {
  answer = says(200, { ...pages, answer: "They are red." });
  const search = chosenSearch({ provider: "tavily", apiKey: KEY, baseUrl: `${baseUrl}/` }, {});
  const found = await webSearchTool(search!).invoke({ query: "roses", max_results: 2 });
  expect(asked).toEqual([
    { path: "/search", key: `Bearer ${KEY}`, body: { query: "roses", max_results: 2 } },
  ]);
  const pieces = [1, 2].map(page).map(({ title, url, content }) => ({ title, url, content }));
  expect(JSON.parse(found)).toEqual({ answer: "They are red.", results: pieces });
  answer = says(200, { ...pages, results: [] });
  expect(await webSearchTool(search!).invoke({ query: "roses" })).toBe("Nothing was found.");
});

test("without a key there is none; the key may be in the environment, and a function is taken as it is", () => {
  expect(chosenSearch(undefined, {})).toBeUndefined();
  expect(chosenSearch({ provider: "tavily" }, { TAVILY_API_KEY: "" })).toBeUndefined();
  expect(chosenSearch(null, { TAVILY_API_KEY: KEY })).toBeTypeOf("function");
  expect(chosenSearch(false, { TAVILY_API_KEY: KEY })).toBeUndefined();
  const own = () => "found";
  expect(chosenSearch(own, { TAVILY_API_KEY: KEY })).toBe(own);
});

test.each([
  [{ provider: "nobody", apiKey: KEY }, "There is no search provider 'nobody'"],
  [{ provider: "tavily", key: KEY }, "have no 'key'"],
  [{ provider: "tavily", apiKey: "a b" }, "The key of the search"],
  [{ provider: "tavily", apiKey: KEY, baseUrl: "file:///x" }, "baseUrl"],
])("settings that are wrong are refused: %j", (settings, words) => {
  expect(() => chosenSearch(settings as never, {})).toThrow(words);
});

test.each([
  [says(401, { detail: { error: "Unauthorized: missing or invalid API key." } }), "(401): the key"],
  [says(429, { detail: { error: "Too many requests" } }), "(429): too many"],
  [says(432, { detail: { error: "Plan limit" } }), "(432): the plan"],
  [says(500, {}), "(500)"],
  [says(200, { pages: [] }), "something else than results"],
  [(response: ServerResponse) => response.end("<html>"), "something else than results"],
  [
    (response: ServerResponse) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    "cannot be reached",
  ],
  [(response: ServerResponse) => response.destroy(), "cannot be reached"],
])("what fails is told in words without the key (%#)", async (how, words) => {
  answer = how;
  const failed = tavilySearch({ apiKey: KEY, baseUrl })("roses", { maxResults: 5 });
  await expect(failed).rejects.toThrow(words);
  await expect(failed).rejects.not.toThrow(KEY);
});

test("is given up when its time is up, or with the run", async () => {
  answer = () => {};
  const slow = tavilySearch({ apiKey: KEY, baseUrl, timeoutSeconds: 0.1 });
  await expect(slow("roses", { maxResults: 5 })).rejects.toThrow("longer than 0.1 s");
  const stop = new AbortController();
  const stopped = tavilySearch({ apiKey: KEY, baseUrl })("lilies", { maxResults: 5, signal: stop.signal });
  await expect.poll(() => asked.map(({ body }) => body.query)).toContain("lilies");
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
});
