import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { createGuardedFetch } from "deepwright/net";
import { expect, it, onTestFinished } from "vitest";
import { fetchGate, fetchUrlTool } from "./fetch-url.ts";
import { pageText } from "./page-text.ts";

const PAGE = `<!doctype html><html><head><title>Roses &amp; more</title><style>p{}</style></head><body>
<nav><a href="/x">Menu</a></nav><h1>Roses</h1><p>They   are
<b>red</b> &ndash; see <a href="/guide?a=1&amp;b=2">the guide</a>.</p><script>if (a < b) alert("</p>")</script>
<!-- hidden --><ul><li>one<li>two</ul><pre>a
  b</pre><table><tr><td>1</td><td>2</td></tr></table><footer>Imprint</footer></body></html>`;

it("gives the readable text of a page: no scripts, styles, navigation", () => {
  const { title, text } = pageText(PAGE, new URL("https://x.test/a/"));
  expect(title).toBe("Roses & more");
  expect(text).toBe(
    [
      "# Roses",
      "They are red – see [the guide](https://x.test/guide?a=1&b=2).",
      "- one\n- two",
      "a\n  b",
      "| 1 | 2",
    ].join("\n\n"),
  );
  for (const broken of ["<", "<a", "<script>x", "a < b", "</p></p>", "&#x110000;", "<a href='"])
    expect(() => pageText(broken, new URL("https://x.test/"))).not.toThrow();
  const long = "<div><a href=x>".repeat(200_000);
  expect(pageText(long, new URL("https://x.test/")).text).toBe("");
});

it("follows redirects of the host, names another host, refuses private addresses and what is no text", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/old") response.writeHead(302, { location: "/new" }).end();
    else if (request.url === "/away") response.writeHead(301, { location: "https://other.test/x" }).end();
    else if (request.url === "/pdf")
      response.writeHead(200, { "content-type": "application/pdf" }).end("%PDF");
    else if (request.url === "/loop") response.writeHead(302, { location: "/loop" }).end();
    else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((done) => server.once("listening", done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const near = fetchUrlTool(createGuardedFetch({ allowPrivate: true, maxBytes: 100_000 }));
  const get = async (path: string) => String(await near.invoke({ url: base + path }));
  expect(await get("/old")).toContain(`${base}/new\nRoses & more\n\n# Roses`);
  expect(await get("/away")).toContain("call fetch_url with https://other.test/x");
  expect(await get("/pdf")).toContain("it is application/pdf, which is no text");
  expect(await get("/loop")).toContain("more than 5 redirects");
  expect(await fetchUrlTool().invoke({ url: `${base}/new` })).toContain(
    "must be an address of the public Internet",
  );
});

it("is asked about once per host: allowed hosts and hosts fetched before in the thread need no question", async () => {
  const { when } = fetchGate(["docs.test", "*.wide.test:8443"], "here");
  const asks = (url: unknown, messages: readonly unknown[] = []) =>
    when?.({
      toolCall: { name: "fetch_url", args: { url } },
      tool: undefined,
      state: { messages },
      runtime: {},
    });
  const called = (url: string, id: string) =>
    new AIMessage({ content: "", tool_calls: [{ id, name: "fetch_url", args: { url } }] });
  const result = (id: string, status: "success" | "error") =>
    new ToolMessage({ content: "x", tool_call_id: id, name: "fetch_url", status });
  expect(asks("https://docs.test/a")).toBe(false);
  expect(asks("https://a.wide.test/")).toBe(false);
  expect(asks("https://wide.test/")).toBe(true);
  expect(asks("https://docs.test.evil.test/")).toBe(true);
  expect(asks(7)).toBe(true);
  const fetched = [called("https://new.test/a", "1"), result("1", "success")];
  expect(asks("https://new.test/b", fetched)).toBe(false);
  expect(asks("https://other.test/b", fetched)).toBe(true);
  expect(asks("https://new.test/b", [called("https://new.test/a", "1"), result("1", "error")])).toBe(true);
});
