import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, request } from "node:http";
import { connect, Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { exchangeBytes, Opened, openConnect, openTestProxy, send } from "./egress-for-tests.ts";
import { startEgressProxy } from "./proxy.ts";

const HOST = "api.example.com";

describe("plain HTTP", () => {
  test("a request arrives with the host of its first line, whatever its Host header says", async () => {
    await using opened = new Opened();
    const port = await opened.http((message, response) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.end(`${message.method} ${message.url} ${message.headers.host}`);
    });
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const answer = await send(proxy.socketPath, "http://API.example.com./a?b=c", {
      headers: { host: "evil.io" },
    });
    expect(answer).toMatchObject({ status: 200, body: `GET /a?b=c ${HOST}` });
    expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(proxy.events).toEqual([{ host: HOST, port: 80, allowed: true }]);
    expect((await send(proxy.socketPath, `http://${HOST}?q`)).body).toBe(`GET /?q ${HOST}`);
  });

  test("headers of the connection to the proxy do not leave it", async () => {
    await using opened = new Opened();
    const port = await opened.http((message, response) => response.end(JSON.stringify(message.headers)));
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const headers = {
      "proxy-authorization": "Basic x",
      "proxy-connection": "keep-alive",
      connection: "keep-alive, x-private",
      "x-private": "1",
      "x-public": "2",
      te: "trailers",
    };
    const { body } = await send(proxy.socketPath, `http://${HOST}/`, { headers });
    expect(JSON.parse(body)).toEqual({ host: HOST, "x-public": "2", connection: "close" });
  });

  test.each(["GET", "HEAD", "OPTIONS", "DELETE", "POST"])(
    "a %s whose length is called a matter of the connection is still one request",
    async (method) => {
      await using opened = new Opened();
      const seen: string[] = [];
      const port = await opened.http((message, response) => {
        seen.push(`${message.method} ${message.url}`);
        void text(message).then((body) => response.end(String(body.length)));
      });
      const raw: string[] = [];
      const front = await opened.tcp((socket) => {
        const server = connect(port, "127.0.0.1");
        socket.on("data", (bytes) => raw.push(bytes.toString("latin1")));
        socket.pipe(server).pipe(socket);
      });
      const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: front } });
      const second = "GET /second HTTP/1.1\r\nHost: evil.io\r\n\r\n";
      const first = `${method} http://${HOST}/first HTTP/1.1\r\nConnection: content-length, close\r\n`;
      await exchangeBytes(proxy.socketPath, `${first}Content-Length: ${second.length}\r\n\r\n${second}`);
      expect(seen).toEqual([`${method} /first`]);
      expect(raw.join("")).toMatch(
        new RegExp(`content-length: ${second.length}|transfer-encoding: chunked`, "i"),
      );
    },
  );

  test("bodies of any kind pass, with their length and without one", async () => {
    await using opened = new Opened();
    const port = await opened.http(async (message, response) => {
      const body = await text(message);
      const { "content-length": length, "transfer-encoding": encoding } = message.headers;
      response.end(`${message.method} ${body.length} ${length ?? "-"} ${encoding ?? "-"}`);
    });
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const url = `http://${HOST}/`;
    const chunked = { "transfer-encoding": "chunked" };
    const sized = { "content-length": "3" };
    for (const method of ["POST", "PUT", "GET", "DELETE"]) {
      expect((await send(proxy.socketPath, url, { method, body: "abc", headers: chunked })).body).toBe(
        `${method} 3 - chunked`,
      );
      expect((await send(proxy.socketPath, url, { method, body: "abc", headers: sized })).body).toBe(
        `${method} 3 3 -`,
      );
    }
    expect(
      (await send(proxy.socketPath, url, { method: "POST", headers: { "content-length": "0" } })).body,
    ).toBe("POST 0 0 -");
    expect((await exchangeBytes(proxy.socketPath, `POST ${url} HTTP/1.0\r\n\r\n`)).toString()).toContain(
      "POST 0 0 -",
    );
  });

  test("one connection serves many requests, to different hosts, each checked", async () => {
    await using opened = new Opened();
    const port = await opened.http((message, response) => response.end(message.headers.host));
    const proxy = await openTestProxy(opened, { allow: [HOST, "b.example.com"], ports: { 80: port } });
    const lines = [HOST, "evil.io", "b.example.com"].map(
      (host) => `GET http://${host}/ HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    const end = `GET http://${HOST}/last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answers = (await exchangeBytes(proxy.socketPath, lines.join("") + end)).toString();
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 403",
      "HTTP/1.1 200",
      "HTTP/1.1 200",
    ]);
    expect(answers).toMatch(/api\.example\.com[\s\S]*b\.example\.com/);
  });

  test("Expect: 100-continue is for the host to answer", async () => {
    await using opened = new Opened();
    const port = await opened.http(async (message, response) => response.end(await text(message)));
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const outgoing = request({
      socketPath: proxy.socketPath,
      method: "POST",
      path: `http://${HOST}/`,
      headers: { expect: "100-continue", "content-length": "5" },
    });
    outgoing.flushHeaders();
    await new Promise((resolve) => outgoing.once("continue", resolve));
    outgoing.end("hello");
    const answer = await new Promise<IncomingMessage>((resolve) => outgoing.once("response", resolve));
    expect(await text(answer)).toBe("hello");
  });

  test("a WebSocket is led through, and a protocol that is not spoken is asked for as an ordinary request", async () => {
    await using opened = new Opened();
    const server = createServer((message, response) =>
      response.end(`plain ${message.headers.upgrade ?? "-"}`),
    );
    server.on("upgrade", (message, socket) => {
      const key = `${message.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash("sha1").update(key).digest("base64");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\nhello`,
      );
      socket.pipe(socket);
    });
    const port = await opened.listen(server);
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const head = (upgrade: string) =>
      `GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    const socket = connect(proxy.socketPath);
    socket.write(`${head("websocket")}ping`);
    let received = "";
    for await (const chunk of socket) {
      received += chunk;
      if (received.endsWith("helloping")) break;
    }
    expect(received).toMatch(/^HTTP\/1\.1 101 [\s\S]*s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
    expect((await exchangeBytes(proxy.socketPath, head("h2c"))).toString()).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*plain -/,
    );
  });
});

describe("a host that answers nonsense", () => {
  test.each([
    ["control characters in its phrase", "HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n", 502],
    ["a status that is none", "HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n", 502],
    ["a protocol nobody asked for", "HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", 502],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 502],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      502,
    ],
    ["no HTTP", "220 smtp.example.com ESMTP\r\n", 502],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"X-Long: x\r\n".repeat(20_000)}`, 502],
    ["nothing", "", 502],
  ])("%s", async (_, answer, status) => {
    await using opened = new Opened();
    const port = await opened.tcp((socket) => void socket.once("data", () => socket.end(answer, "latin1")));
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    expect((await send(proxy.socketPath, `http://${HOST}/`)).status).toBe(status);
  });

  test("a body that breaks off is seen to break off", async () => {
    await using opened = new Opened();
    const port = await opened.tcp(
      (socket) =>
        void socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")),
    );
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    await expect(send(proxy.socketPath, `http://${HOST}/`)).rejects.toThrow(/aborted/);
  });
});

describe("TR-07 what is refused", () => {
  test.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://0.0.0.0/",
    "http://169.254.169.254/latest/meta-data",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://ok@127.0.0.1/",
    "http://api.example.com@127.0.0.1/",
    "http://api.example.com:443@evil.io/",
    "http://127.0.0.1%23.api.example.com/",
    "http://evil.io/",
    "http://api.example.com:22/",
    "http:///etc/passwd",
  ])("%s is answered 403 and nothing is resolved", async (url) => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST] });
    const answer = await send(proxy.socketPath, url);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatch(/^[^\n]+\n$/);
    expect(answer.headers["proxy-status"]).toBe(`deepwright; details="${answer.body.trim()}"`);
    expect(proxy.lookups).toEqual([]);
    expect(proxy.events).toMatchObject([{ allowed: false, reason: expect.any(String) }]);
  });

  test.each([
    "file:///etc/passwd",
    "gopher://api.example.com/",
    "https://api.example.com/",
    "ftp://api.example.com/",
    "/etc/passwd",
    "*",
  ])("%s is answered 400", async (url) => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST] });
    expect((await send(proxy.socketPath, url)).status).toBe(400);
    expect(proxy.lookups).toEqual([]);
  });

  test("TRACE is refused: it would show what the proxy added", async () => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST] });
    expect((await send(proxy.socketPath, `http://${HOST}/`, { method: "TRACE" })).status).toBe(405);
  });

  test("a name with a private address is refused by the real rules, also when another address is public", async () => {
    await using opened = new Opened();
    for (const addresses of [
      ["127.0.0.1"],
      ["93.184.216.34", "10.0.0.1"],
      ["::ffff:127.0.0.1"],
      ["169.254.169.254"],
    ]) {
      const socketPath = `${opened.directory()}/s`;
      const dialled: string[] = [];
      const proxy = await startEgressProxy({
        socketPath,
        options: { allow: [HOST] },
        parts: {
          lookup: async () => addresses,
          connect: (address) => {
            dialled.push(address);
            throw new Error("dialled");
          },
        },
      });
      opened.add(proxy.close);
      expect(await send(socketPath, `http://${HOST}/`)).toMatchObject({
        status: 403,
        body: `${HOST} has an address that is not public\n`,
      });
      expect((await openConnect(socketPath, `${HOST}:443`)).status).toBe(403);
      expect(dialled).toEqual([]);
    }
  });

  test("a name that only this machine knows is refused with nothing put in the place of the real parts", async () => {
    await using opened = new Opened();
    const socketPath = `${opened.directory()}/s`;
    const proxy = await startEgressProxy({
      socketPath,
      options: { allow: ["nowhere.localdomain", "ip6-localhost"] },
    });
    opened.add(proxy.close);
    expect((await send(socketPath, "http://ip6-localhost/")).status).toBeOneOf([403, 502]);
    expect((await openConnect(socketPath, "evil.io:443")).status).toBe(403);
    expect((await openConnect(socketPath, "127.0.0.1:443")).status).toBe(403);
  });

  test("the name is resolved once, and the address that was checked is the one dialled", async () => {
    await using opened = new Opened();
    const port = await opened.http((_, response) => response.end("ok"));
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const seen: string[] = [];
    const socketPath = `${opened.directory()}/s`;
    const proxy = await startEgressProxy({
      socketPath,
      options: { allow: [HOST] },
      parts: {
        lookup: async () => answers.shift()!,
        isPublic: (address) => address === "127.0.0.1",
        connect: (address) => {
          seen.push(address);
          return connect({ host: address, port });
        },
      },
    });
    opened.add(proxy.close);
    expect((await send(socketPath, `http://${HOST}/`)).status).toBe(200);
    expect(seen).toEqual(["127.0.0.1"]);
    expect((await send(socketPath, `http://${HOST}/`)).status).toBe(403);
    expect(seen).toEqual(["127.0.0.1"]);
  });

  test("an address that does not answer is not waited for when there is another", async () => {
    await using opened = new Opened();
    const port = await opened.http((_, response) => response.end("second"));
    const socketPath = `${opened.directory()}/s`;
    const proxy = await startEgressProxy({
      socketPath,
      options: { allow: [HOST] },
      parts: {
        lookup: async () => ["192.0.2.1", "127.0.0.1"],
        isPublic: () => true,
        connect: (address) => (address === "127.0.0.1" ? connect({ host: address, port }) : new Socket()),
        limits: { connectTimeout: 4_000 },
      },
    });
    opened.add(proxy.close);
    await eventually(async () => expect((await send(socketPath, `http://${HOST}/`)).body).toBe("second"));
  });

  test("a redirect is the client's to follow, and is checked when it does", async () => {
    await using opened = new Opened();
    const port = await opened.http((_, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    );
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const answer = await send(proxy.socketPath, `http://${HOST}/`);
    expect(answer).toMatchObject({ status: 302, headers: { location: "http://169.254.169.254/" } });
    expect((await send(proxy.socketPath, answer.headers.location!)).status).toBe(403);
  });

  test("a body of 1 GB waits for whoever reads it, and a gzip bomb passes unopened", async () => {
    await using opened = new Opened();
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const block = Buffer.alloc(1 << 20);
    let written = 0;
    let isOver = false;
    const port = await opened.http(async (message, response) => {
      if (message.url === "/bomb")
        return void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
      response.once("close", () => (isOver = true));
      response.writeHead(200, { "content-length": String(1 << 30) });
      for (; written < 1 << 30 && !isOver; written += block.length)
        if (!response.write(block)) await new Promise((resolve) => response.once("drain", resolve));
    });
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const begin = async (path: string) => {
      const outgoing = request({ socketPath: proxy.socketPath, path: `http://${HOST}${path}` }).end();
      return new Promise<IncomingMessage>((resolve) => outgoing.once("response", resolve));
    };
    expect((await buffer(await begin("/bomb"))).length).toBe(bomb.length);
    const large = await begin("/large");
    await sleep(700);
    expect(written).toBeLessThan(40_000_000);
    let size = 0;
    for await (const chunk of large) {
      size += (chunk as Buffer).length;
      if (size > 100_000_000) break;
    }
    expect(large.headers["content-length"]).toBe(String(1 << 30));
    expect(written - size).toBeLessThan(40_000_000);
    await expect.poll(() => isOver).toBe(true);
  });
});
