import { createGzip } from "node:zlib";
import { createGuardedFetch } from "deepwright/net";
import { expect, test } from "vitest";
import { privateName } from "../../../core/src/net/private-name-for-tests.ts";
import { httpTools, listening, sseTools } from "../http-server-for-tests.ts";
import { opened } from "../mcp-for-tests.ts";

const echo = async (mcp: Awaited<ReturnType<typeof opened>>["mcp"]): Promise<string> =>
  String(await mcp.tools.find(({ name }) => name === "mcp__web__echo")?.invoke({ words: "hi" }));

test("tools of a server over HTTP work, with its headers; one that forgot the session is greeted again", async () => {
  const first = await httpTools();
  const servers = {
    web: {
      type: "http",
      url: first.url,
      headers: { "x-token": `$${"{MCP_TEST_TOKEN}"}` },
      allowPrivate: true,
    },
  };
  const { mcp, codes } = await opened({ servers, environment: { MCP_TEST_TOKEN: "t0ken" } });
  expect(await echo(mcp)).toBe("http: hi");
  expect(first.seen.every((headers) => headers["x-token"] === "t0ken")).toBe(true);
  await first.close();
  await httpTools(Number(new URL(first.url).port));
  expect(await echo(mcp)).toBe("http: hi");
  expect(codes()).toContain("RECONNECTED");
});

test("a server of the older kind works", async () => {
  const { url } = await sseTools();
  const { mcp } = await opened({ servers: { web: { type: "sse", url, allowPrivate: true } } });
  expect(await echo(mcp)).toBe("sse: hi");
});

test.each([
  "http://127.0.0.1:1/mcp",
  "http://localhost:1/mcp",
  "http://[::1]:1/mcp",
  "http://[::ffff:7f00:1]:1/mcp",
  "http://0.0.0.0:1/mcp",
  "http://169.254.169.254/mcp",
  "http://2130706433:1/mcp",
  "http://0x7f.1:1/mcp",
  "http://10.0.0.1/mcp",
  "http://ok@127.0.0.1:1/mcp",
  "file:///etc/passwd",
  "gopher://example.com/",
])("TR-07 the url %s is refused before anything is dialled", async (url) => {
  const { mcp, notices } = await opened({ servers: { web: { url } } });
  expect(mcp.servers[0]?.state).toBe("unavailable");
  expect(notices[0]?.message).toMatch(/The url must/);
});

test("TR-07 metadata of clouds is refused also where private addresses are allowed", async () => {
  const { notices } = await opened({
    servers: { web: { url: "http://169.254.169.254/mcp", allowPrivate: true } },
  });
  expect(notices[0]?.message).toContain("must be an address of the public Internet");
});

test("TR-07 a name that leads to this machine is not dialled", async () => {
  const fetch = createGuardedFetch({ allowPrivate: false, maxBytes: 1_000 });
  await expect(fetch("http://ip6-localhost.localdomain.localhost/")).rejects.toThrow("public Internet");
  const { url } = await listening((_, response) => response.end("here"), 0, "::");
  const named = `http://${await privateName()}:${new URL(url).port}/`;
  await expect(fetch(named)).rejects.toThrow("The name leads to a private address.");
  // Not because the name leads nowhere.
  const allowed = createGuardedFetch({ allowPrivate: true, maxBytes: 1_000 });
  expect(await (await allowed(named)).text()).toBe("here");
});

test("TR-07 redirects are not followed, packed answers not unpacked, long ones not read", async () => {
  const inner = await listening((_, response) => response.end("secret"));
  const { url } = await listening((request, response) => {
    if (request.url === "/redirect") response.writeHead(302, { location: inner.url }).end();
    else if (request.url === "/packed") {
      response.writeHead(200, { "content-encoding": "gzip" });
      createGzip()
        .on("data", (chunk) => response.write(chunk))
        .end("a".repeat(1_000));
    } else if (request.url === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let i = 0; i < 100; i += 1) response.write(`data: ${"x".repeat(50)}\n\n`);
      response.end(`data: ${"y".repeat(2_000)}`);
    } else response.end("x".repeat(5_000));
  });
  const fetch = createGuardedFetch({ allowPrivate: true, maxBytes: 1_000 });
  await expect(fetch(new URL("/redirect", url))).rejects.toThrow("redirect (302), which is not followed");
  await expect(fetch(new URL("/packed", url))).rejects.toThrow("content-encoding gzip");
  await expect((await fetch(new URL("/long", url))).text()).rejects.toThrow("more than 1000 bytes");
  const reader = (await fetch(new URL("/events", url))).body?.getReader();
  const read = async (): Promise<void> => {
    while (!(await reader?.read())?.done);
  };
  await expect(read()).rejects.toThrow("more than 1000 bytes");
});
