import { createHash } from "node:crypto";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { ConfigurationError } from "deepwright";
import { describe, expect, test } from "vitest";
import {
  newAuthority,
  Opened,
  openConnect,
  openTestProxy,
  secure,
  send,
  type TestProxy,
} from "./egress-for-tests.ts";
import type { EgressOptions } from "./egress-options.ts";
import { checkEgressOptions } from "./egress-policy.ts";

const HOST = "api.example.com";
const SECRET = "sk-very-secret-0123456789";
const INJECT = [{ host: HOST, header: "Authorization", value: `Bearer ${SECRET}` }];

/** A proxy that adds a header for `HOST`, which is an HTTPS server with an authority the proxy trusts. */
async function injecting(opened: Opened, listener: RequestListener, options: Partial<EgressOptions> = {}) {
  const authority = await newAuthority([HOST, "evil.io"]);
  const port = await opened.https(authority, listener);
  return openTestProxy(opened, {
    allow: [HOST],
    inject: INJECT,
    authority,
    ports: { 443: port },
    ...options,
  });
}

/** A connection to the host as a client in the sandbox has it: it trusts the authority of the proxy. */
async function overTls(proxy: TestProxy, servername = HOST, ALPNProtocols?: string[]) {
  const { socket } = await openConnect(proxy.socketPath, `${HOST}:443`);
  return secure(socket, {
    ca: proxy.caCertificate!,
    servername,
    ...(ALPNProtocols ? { ALPNProtocols } : {}),
  });
}

async function ask(proxy: TestProxy, path = "/", sent: Parameters<typeof send>[2] = {}) {
  return send("", path, { over: await overTls(proxy), ...sent, headers: { host: HOST, ...sent.headers } });
}

describe("an injected header", () => {
  test("arrives at its host, in the place of whatever the client sent under that name", async () => {
    await using opened = new Opened();
    const seen: (string | string[] | undefined)[] = [];
    const proxy = await injecting(opened, ({ headers, rawHeaders }, response) => {
      seen.push(
        headers.authorization,
        rawHeaders.filter((name) => /^authorization$/i.test(name)),
        headers.authorization_,
      );
      response.end(JSON.stringify(Object.keys(headers)));
    });
    const headers = { AUTHORIZATION: "Bearer mine", connection: "keep-alive, authorization" };
    expect((await ask(proxy, "/", { headers })).status).toBe(200);
    expect(seen).toEqual([`Bearer ${SECRET}`, ["Authorization"], undefined]);
  });

  test("takes the place of a name that differs in _ and - alone", async () => {
    await using opened = new Opened();
    const inject = [{ host: HOST, header: "X-Api-Key", value: SECRET }];
    const proxy = await injecting(
      opened,
      ({ headers }, response) => response.end(Object.keys(headers).join()),
      { inject },
    );
    expect((await ask(proxy, "/", { headers: { x_api_key: "mine", "x-other": "1" } })).body).toBe(
      "host,x-other,x-api-key,accept-encoding,connection",
    );
  });

  test("is asked for with each request when it is a function", async () => {
    await using opened = new Opened();
    let count = 0;
    const inject = [{ host: HOST, header: "x-token", value: async () => `token-${++count}` }];
    const seen: unknown[] = [];
    const proxy = await injecting(
      opened,
      ({ headers }, response) => {
        seen.push(headers["x-token"]);
        response.end();
      },
      { inject },
    );
    await ask(proxy);
    await ask(proxy);
    expect(seen).toEqual(["token-1", "token-2"]);
  });

  test.each([
    ["throws", () => Promise.reject(new Error(`no ${SECRET}`))],
    ["gives what no header can hold", () => `${SECRET}\r\nx: y`],
    ["gives nothing", () => undefined as unknown as string],
  ])("that %s sends nothing, and no word of it comes back", async (_, value) => {
    await using opened = new Opened();
    let requests = 0;
    const proxy = await injecting(opened, (_request, response) => response.end(String(++requests)), {
      inject: [{ host: HOST, header: "x-token", value }],
    });
    const answer = await ask(proxy);
    expect(answer).toMatchObject({ status: 502, body: "there is no value for the header x-token\n" });
    expect(requests).toBe(0);
    expect(JSON.stringify([answer, proxy.events])).not.toContain(SECRET);
  });

  test("goes nowhere in the clear, by SOCKS, to another host or under another name", async () => {
    await using opened = new Opened();
    const seen: string[] = [];
    const plain = await opened.http(({ headers }, response) =>
      response.end(seen.push(JSON.stringify(headers)) && "ok"),
    );
    const proxy = await injecting(
      opened,
      ({ headers }, response) => response.end(seen.push(JSON.stringify(headers)) && "ok"),
      {
        allow: [HOST, `${HOST}:8080`, "other.example.com"],
        ports: { 80: plain, 8080: plain },
      } as never,
    );
    expect((await send(proxy.socketPath, `http://${HOST}/`)).status).toBe(403);
    expect((await send(proxy.socketPath, `http://${HOST}:8080/`)).status).toBe(403);
    for (const authority of [`${HOST}:80`, `${HOST}:443`]) {
      const { socket } = await openConnect(proxy.socketPath, authority);
      socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
      expect(await text(socket)).toBe("");
    }
    expect((await send(proxy.socketPath, "http://other.example.com/")).status).toBe(200);
    expect(seen).toHaveLength(1);
    expect(seen.join()).not.toContain(SECRET);
  });

  test("is not sent when the Host header or the TLS name is another", async () => {
    await using opened = new Opened();
    let requests = 0;
    const proxy = await injecting(opened, (_, response) => response.end(String(++requests)));
    expect((await ask(proxy, "/", { headers: { host: "evil.io" } })).status).toBe(421);
    expect((await ask(proxy, "https://evil.io/")).status).toBe(400);
    await expect(overTls(proxy, "evil.io")).rejects.toThrow(/unrecognized name/);
    expect((await ask(proxy, "/", { method: "TRACE" })).status).toBe(405);
    expect(requests).toBe(0);
  });

  test("is not sent to a server whose certificate is not good for the host", async () => {
    await using opened = new Opened();
    let requests = 0;
    const listener: RequestListener = (_, response) => response.end(String(++requests));
    const [trusted, stranger] = [await newAuthority(["evil.io"]), await newAuthority([HOST])];
    const wrongName = await opened.listen(
      createServer(
        { SNICallback: (_, done) => void trusted.contextFor("evil.io").then((it) => done(null, it)) },
        listener,
      ),
    );
    for (const port of [await opened.https(stranger, listener), wrongName]) {
      const proxy = await openTestProxy(opened, {
        allow: [HOST],
        inject: INJECT,
        authority: trusted,
        ports: { 443: port },
      });
      const answer = await ask(proxy);
      expect(answer.status).toBe(502);
      expect(answer.body).toMatch(/cannot be reached over TLS \((?:SELF_SIGNED|UNABLE|DEPTH|ERR_TLS)/);
    }
    expect(requests).toBe(0);
  });

  test("does not follow a redirect", async () => {
    await using opened = new Opened();
    const proxy = await injecting(opened, (_, response) =>
      response.writeHead(302, { location: "https://evil.io/" }).end(),
    );
    expect(await ask(proxy)).toMatchObject({ status: 302, headers: { location: "https://evil.io/" } });
    expect((await openConnect(proxy.socketPath, "evil.io:443")).status).toBe(403);
    expect(proxy.lookups).toEqual([HOST]);
  });

  test("is masked where the host sends it back, unless the body is compressed", async () => {
    await using opened = new Opened();
    const proxy = await injecting(opened, ({ url, headers }, response) => {
      response.setHeader("x-echo", headers.authorization!);
      const body = JSON.stringify(headers);
      if (url === "/gzip")
        return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("{}"));
      response.writeHead(200, { "content-length": String(body.length) });
      const cut = body.indexOf(SECRET) + 5;
      response.write(body.slice(0, cut));
      setTimeout(() => response.end(body.slice(cut)), 30);
    });
    const answer = await ask(proxy, "/", { headers: { "accept-encoding": "gzip" } });
    const mask = "*".repeat(SECRET.length);
    expect(answer.headers["x-echo"]).toBe(`Bearer ${mask}`);
    expect(JSON.parse(answer.body)).toMatchObject({
      authorization: `Bearer ${mask}`,
      "accept-encoding": "identity",
    });
    expect((await ask(proxy, "/gzip")).status).toBe(200);
  });
});

describe("a connection whose TLS ends in the proxy", () => {
  test("speaks HTTP/1.1 and nothing else", async () => {
    await using opened = new Opened();
    const proxy = await injecting(opened, (_, response) => response.end("ok"));
    expect((await overTls(proxy, HOST, ["h2", "http/1.1"])).alpnProtocol).toBe("http/1.1");
    await expect(overTls(proxy, HOST, ["h2"])).rejects.toThrow();
  });

  test("serves many requests, large uploads and streams", async () => {
    await using opened = new Opened();
    const proxy = await injecting(opened, async (request, response) => {
      if (request.url === "/stream") {
        response.write("data: 1\n\n");
        return void request.socket.once("close", () => {});
      }
      const hash = createHash("sha256");
      for await (const chunk of request) hash.update(chunk as Buffer);
      response.end(hash.digest("hex"));
    });
    const over = await overTls(proxy);
    const body = "0123456789abcdef".repeat(500_000);
    const post = `POST /a HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const last = `GET /b HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;
    over.write(post + post + last);
    const digests = (await text(over)).match(/[0-9a-f]{64}/g);
    const expected = createHash("sha256").update(body).digest("hex");
    expect(digests).toEqual([expected, expected, createHash("sha256").digest("hex")]);
    const stream = await overTls(proxy);
    stream.write(`GET /stream HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    let received = "";
    for await (const chunk of stream) {
      received += chunk;
      if (received.includes("data: 1")) break;
    }
    expect(received).toContain("data: 1");
  });

  test("becomes a WebSocket with the header on its request", async () => {
    await using opened = new Opened();
    const authority = await newAuthority([HOST]);
    const server = createServer({
      SNICallback: (_, done) => void authority.contextFor(HOST).then((it) => done(null, it)),
    });
    const seen: unknown[] = [];
    server.on("upgrade", ({ headers }, socket) => {
      seen.push(headers.authorization);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
      socket.pipe(socket);
    });
    const port = await opened.listen(server);
    const proxy = await openTestProxy(opened, {
      allow: [HOST],
      inject: INJECT,
      authority,
      ports: { 443: port },
    });
    const over = await overTls(proxy);
    over.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    let received = "";
    for await (const chunk of over) {
      received += chunk;
      if (received.endsWith("\r\n\r\n")) over.write("ping");
      if (received.endsWith("ping")) break;
    }
    expect(received).toMatch(/^HTTP\/1\.1 101/);
    expect(seen).toEqual([`Bearer ${SECRET}`]);
  });
});

describe("options that are a mistake", () => {
  test.each([
    ["a host that is not allowed", { host: "other.example.com" }],
    ["a pattern", { host: "*.example.com" }],
    ["an address", { host: "127.0.0.1" }],
    ["a header that steers the connection", { header: "Host" }],
    ["a header that ends the message", { header: "Transfer_Encoding" }],
    ["a header that is no name", { header: "x y" }],
    ["a value with a line end", { value: `${SECRET}\r\nx: y` }],
    ["an empty value", { value: "" }],
    ["a value that is none", { value: undefined as unknown as string }],
  ])("%s", (_, change) => {
    const options = { allow: [HOST], inject: [{ ...INJECT[0]!, ...change }] };
    expect(() => checkEgressOptions(options)).toThrow(ConfigurationError);
    expect(() => checkEgressOptions(options)).not.toThrow(SECRET);
  });

  test("the same header twice for one host", () => {
    const twice = [...INJECT, { ...INJECT[0]!, header: "authorization" }];
    expect(() => checkEgressOptions({ allow: [HOST], inject: twice })).toThrow("twice");
  });

  test("two headers for one host, and a host below a pattern, are none", () => {
    const inject = [...INJECT, { host: "API.example.com.", header: "x-other", value: "1" }];
    expect(checkEgressOptions({ allow: ["*.example.com"], inject }).injected.get(HOST)).toHaveLength(2);
  });
});
