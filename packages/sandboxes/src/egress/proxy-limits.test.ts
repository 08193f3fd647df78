import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { ConfigurationError } from "deepwright";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { exchangeBytes, Opened, openConnect, openTestProxy, send } from "./egress-for-tests.ts";
import { startEgressProxy } from "./proxy.ts";

const HOST = "api.example.com";

describe("limits", () => {
  test("a client that sends its head too slowly, or nothing, is let go", async () => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST], limits: { headerTimeout: 300 } });
    const closed = (first: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(proxy.socketPath);
        const drip = setInterval(() => socket.writable && first && socket.write("x"), 50);
        socket
          .on("error", () => {})
          .on("close", () => {
            clearInterval(drip);
            resolve();
          });
        socket.resume();
        if (first) socket.write(first);
      });
    await Promise.all(["", "GET http://", "\x05", "\x05\x01"].map(closed));
    const second = await secondHost(opened);
    const { socket } = await eventually(() => openConnect(second, `${HOST}:443`));
    socket.write(Buffer.from([0x16, 3, 1, 0, 200, 1]));
    await new Promise((resolve) => socket.on("close", resolve).resume());
  });

  test("a head that is too long is answered 431", async () => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST], limits: { headerBytes: 4096 } });
    const answer = await send(proxy.socketPath, `http://${HOST}/`, { headers: { long: "x".repeat(8000) } });
    expect(answer.status).toBe(431);
  });

  test("so many connections and no more", async () => {
    await using opened = new Opened();
    const port = await opened.tcp((socket) => socket.resume());
    const proxy = await openTestProxy(opened, {
      allow: [`${HOST}:99`],
      ports: { 99: port },
      limits: { connections: 5 },
    });
    const attempts = Array.from({ length: 12 }, () => openConnect(proxy.socketPath, `${HOST}:99`));
    const results = await Promise.allSettled(attempts);
    const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.socket] : []));
    expect(made).toHaveLength(5);
    for (const socket of made) socket.destroy();
    await expect
      .poll(async () => (await openConnect(proxy.socketPath, `${HOST}:99`).catch(() => undefined))?.status)
      .toBe(200);
  });

  test("requests sent ahead on one connection do not go out all at once", async () => {
    await using opened = new Opened();
    let open = 0;
    let most = 0;
    const port = await opened.http((_, response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.end("ok");
      }, 100);
    });
    const proxy = await openTestProxy(opened, {
      allow: [HOST],
      ports: { 80: port },
      limits: { connections: 4 },
    });
    const one = `GET http://${HOST}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    const last = `GET http://${HOST}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answers = (await exchangeBytes(proxy.socketPath, one.repeat(50) + last)).toString();
    expect(most).toBeLessThanOrEqual(4);
    expect(answers).toContain("503");
  });

  test("a connection without a byte for too long is ended", async () => {
    await using opened = new Opened();
    const port = await opened.tcp((socket) => socket.resume());
    const proxy = await openTestProxy(opened, {
      allow: [`${HOST}:99`],
      ports: { 99: port },
      limits: { idleTimeout: 200 },
    });
    const { socket } = await eventually(() => openConnect(proxy.socketPath, `${HOST}:99`));
    await new Promise((resolve) => socket.on("close", resolve).resume());
  });

  test("300 requests at once are all answered", async () => {
    await using opened = new Opened();
    const port = await opened.http((message, response) => response.end(message.url));
    const proxy = await openTestProxy(opened, {
      allow: [HOST],
      ports: { 80: port },
      limits: { connections: 400 },
    });
    const paths = Array.from({ length: 300 }, (_, index) => `/${index}`);
    const answers = await Promise.all(paths.map((path) => send(proxy.socketPath, `http://${HOST}${path}`)));
    expect(answers.map(({ body }) => body)).toEqual(paths);
  });
});

test("nonsense of every kind ends its own connection and no other", async () => {
  await using opened = new Opened();
  const port = await opened.http((_, response) => response.end("ok"));
  const inject = [{ host: HOST, header: "x-key", value: "0123456789" }];
  const allow = [HOST, "plain.example.com"];
  const proxy = await openTestProxy(opened, {
    allow,
    inject,
    ports: { 80: port },
    limits: { headerTimeout: 500 },
  });
  const beginnings = [
    "",
    "\x05\x01\x00",
    "\x05\x01\x00\x05\x01\x00\x03",
    "GET http://plain.example.com/ HTTP/1.1\r\n",
    `CONNECT ${HOST}:443 HTTP/1.1\r\n\r\n`,
    `CONNECT ${HOST}:443 HTTP/1.1\r\n\r\n\x16\x03\x01`,
    "CONNECT plain.example.com:80 HTTP/1.1\r\n\r\n",
    "POST http://plain.example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz",
  ].map((text) => Buffer.from(text, "latin1"));
  const sent = Array.from({ length: 10 }, () => beginnings).flat();
  await Promise.all(
    sent.map((begin) => exchangeBytes(proxy.socketPath, Buffer.concat([begin, randomBytes(600)]))),
  );
  await eventually(async () =>
    expect((await send(proxy.socketPath, "http://plain.example.com/")).body).toBe("ok"),
  );
});

describe("closing", () => {
  test("ends every connection, removes the socket, and may be done twice", async () => {
    await using opened = new Opened();
    const upstream: Socket[] = [];
    const port = await opened.tcp((socket) => upstream.push(socket.on("error", () => {})));
    const proxy = await openTestProxy(opened, { allow: [`${HOST}:99`], ports: { 99: port } });
    expect(statSync(proxy.socketPath).mode & 0o777).toBe(0o600);
    const { socket } = await openConnect(proxy.socketPath, `${HOST}:99`);
    const idle = connect(proxy.socketPath);
    const ended = Promise.all(
      [socket, idle].map(
        (it) =>
          new Promise((resolve) =>
            it
              .on("error", () => {})
              .on("close", resolve)
              .resume(),
          ),
      ),
    );
    await new Promise((resolve) => idle.once("connect", resolve));
    await Promise.all([proxy.close(), proxy.close()]);
    await proxy.close();
    await ended;
    expect(existsSync(proxy.socketPath)).toBe(false);
    await expect(openConnect(proxy.socketPath, `${HOST}:99`)).rejects.toThrow();
    await expect.poll(() => upstream.every((it) => it.readableEnded || it.destroyed)).toBe(true);
  });

  test("options that are not understood start nothing", async () => {
    await using opened = new Opened();
    const socketPath = `${opened.directory()}/s`;
    await expect(startEgressProxy({ socketPath, options: { allow: ["*"] } })).rejects.toThrow(
      ConfigurationError,
    );
    expect(existsSync(socketPath)).toBe(false);
  });

  test("a listener that throws does not break the connection", async () => {
    await using opened = new Opened();
    const port = await opened.http((_, response) => response.end("ok"));
    const onConnection = () => {
      throw new Error("listener");
    };
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port }, onConnection });
    expect((await send(proxy.socketPath, `http://${HOST}/`)).status).toBe(200);
  });
});

async function secondHost(opened: Opened): Promise<string> {
  const port = await opened.tcp((socket) => socket.resume());
  return (
    await openTestProxy(opened, { allow: [HOST], ports: { 443: port }, limits: { headerTimeout: 300 } })
  ).socketPath;
}
