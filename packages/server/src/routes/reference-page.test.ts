/** The API reference as a page. */
import { routes } from "@deepwright/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test("the page names every route, and loads and runs nothing", async () => {
  const { status, headers, body } = await server.call("GET", "/docs");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/html/);
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  for (const { name } of routes) expect(body).toContain(`id="${name}"`);
  expect(body).not.toMatch(/<script|<link|<img|\son\w+=|https?:\/\/(?!json-schema)/i);
  const links = [...body.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.filter((id) => !body.includes(`id="${id}"`))).toEqual([]);
});

test("the page needs the token like every other answer", async () => {
  const { status } = await server.call("GET", "/docs", undefined, { authorization: "" });
  expect(status).toBe(401);
});
