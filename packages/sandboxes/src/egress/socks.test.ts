import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { exchangeBytes, newAuthority, Opened, openTestProxy, secure, send } from "./egress-for-tests.ts";

const HOST = "api.example.com";
const GREETING = Buffer.from([5, 1, 0]);

function asking(name: string | Buffer, port: number, command = 1): Buffer {
  const host = Buffer.from(name);
  return Buffer.concat([
    GREETING,
    Buffer.from([5, command, 0, 3, host.length]),
    host,
    Buffer.from([port >> 8, port & 0xff]),
  ]);
}

/** The code of the reply; undefined: there was none. */
async function codeFor(socketPath: string, bytes: Buffer): Promise<number | undefined> {
  return (await exchangeBytes(socketPath, bytes, 12))[3];
}

/** A socket that has been told that it is connected. */
async function through(socketPath: string, name: string, port: number): Promise<Socket> {
  const socket = connect(socketPath);
  socket.write(asking(name, port));
  let received = Buffer.alloc(0);
  await new Promise<void>((resolve) => {
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 12) return;
      socket.off("data", onData).pause();
      if (received.length > 12) socket.unshift(received.subarray(12));
      resolve();
    };
    socket.on("data", onData);
  });
  expect([...received.subarray(0, 4)]).toEqual([5, 0, 5, 0]);
  return socket;
}

test("a connection by name is made, and its bytes pass", async () => {
  await using opened = new Opened();
  const port = await opened.tcp((socket) => socket.pipe(socket));
  const proxy = await openTestProxy(opened, { allow: [`${HOST}:99`], ports: { 99: port } });
  const socket = await through(proxy.socketPath, "API.Example.com.", 99);
  socket.end("hello");
  expect(await text(socket)).toBe("hello");
  expect(proxy.events).toEqual([{ host: HOST, port: 99, allowed: true }]);
});

test("TLS and plain HTTP are held to the host of the connection, as with CONNECT", async () => {
  await using opened = new Opened();
  const authority = await newAuthority([HOST, "evil.io"]);
  const https = await opened.https(authority, (_, response) => response.end("tls"));
  const http = await opened.http((_, response) => response.end("plain"));
  const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 443: https, 80: http } });
  const tls = (name: string) => ({ ca: authority.certificate, servername: name });
  const over = await secure(await through(proxy.socketPath, HOST, 443), tls(HOST));
  expect((await send("", "/", { over, headers: { host: HOST } })).body).toBe("tls");
  await expect(secure(await through(proxy.socketPath, HOST, 443), tls("evil.io"))).rejects.toThrow();
  const plain = { over: await through(proxy.socketPath, HOST, 80), headers: { host: HOST } };
  expect((await send("", "/", plain)).body).toBe("plain");
  const fronted = { over: await through(proxy.socketPath, HOST, 80), headers: { host: "evil.io" } };
  expect((await send("", "/", fronted)).status).toBe(421);
});

describe("SB-11 what is refused", () => {
  test.each([
    ["another name", asking("evil.io", 443)],
    ["a name with a NUL in it", asking("evil.io\0.example.com", 443)],
    ["a name with a line end in it", asking("evil.io\r\n.example.com", 443)],
    ["a name that ends like an allowed one", asking("evil-example.com", 443)],
    ["the name above a pattern", asking("example.com", 443)],
    ["an address in the place of a name", asking("127.0.0.1", 443)],
    ["an address as a number", asking("2130706433", 443)],
    ["an IPv6 address as a name", asking("::1", 443)],
    ["no name", asking("", 443)],
    ["bytes that are no text", asking(Buffer.from([0xff, 0xfe, 0x2e, 0x63]), 443)],
    ["port 0", asking("a.example.com", 0)],
    ["a port that is not allowed", asking("a.example.com", 22)],
    ["an IPv4 address", Buffer.concat([GREETING, Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 1, 187])])],
    [
      "an IPv6 address",
      Buffer.concat([GREETING, Buffer.from([5, 1, 0, 4, ...Array(15).fill(0), 1, 1, 187])]),
    ],
  ])("%s: not allowed by the rules (2), and nothing is resolved", async (_, bytes) => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: ["*.example.com"] });
    expect(await codeFor(proxy.socketPath, bytes)).toBe(2);
    expect(proxy.lookups).toEqual([]);
    expect(proxy.events).toMatchObject([{ allowed: false }]);
  });

  test("a host with an injected header", async () => {
    await using opened = new Opened();
    const inject = [{ host: HOST, header: "authorization", value: "Bearer secret-value" }];
    const proxy = await openTestProxy(opened, { allow: [HOST], inject });
    expect(await codeFor(proxy.socketPath, asking(HOST, 443))).toBe(2);
    expect(proxy.lookups).toEqual([]);
    expect(proxy.events[0]?.reason).toContain("CONNECT alone");
  });

  test.each([
    ["to listen", asking(HOST, 443, 2), 7],
    ["UDP", asking(HOST, 443, 3), 7],
    ["an unknown type of address", Buffer.concat([GREETING, Buffer.from([5, 1, 0, 9, 1])]), 8],
  ])("%s: reply %#", async (_, bytes, code) => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST] });
    expect(await codeFor(proxy.socketPath, bytes)).toBe(code);
  });

  test("a client that insists on a password, and version 4", async () => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST] });
    expect([...(await exchangeBytes(proxy.socketPath, Buffer.from([5, 1, 2])))]).toEqual([5, 0xff]);
    const four = Buffer.from([4, 1, 1, 187, 127, 0, 0, 1, 0]);
    expect((await exchangeBytes(proxy.socketPath, four)).toString()).not.toContain("200");
    expect(proxy.lookups).toEqual([]);
  });
});

test("a host that does not answer is unreachable (4)", async () => {
  await using opened = new Opened();
  const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 443: 1 } });
  expect(await codeFor(proxy.socketPath, asking(HOST, 443))).toBe(4);
});

test("a request that comes byte by byte is understood", async () => {
  await using opened = new Opened();
  const port = await opened.tcp((socket) => socket.end("hi"));
  const proxy = await openTestProxy(opened, { allow: [`${HOST}:99`], ports: { 99: port } });
  const socket = connect(proxy.socketPath).setNoDelay(true);
  for (const byte of asking(HOST, 99)) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await text(socket)).endsWith("hi")).toBe(true);
});
