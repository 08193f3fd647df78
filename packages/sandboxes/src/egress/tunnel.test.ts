import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { newAuthority, Opened, openConnect, openTestProxy, secure, send } from "./egress-for-tests.ts";

const HOST = "api.example.com";

describe("tunnels", () => {
  test("bytes pass untouched once a client named the host of the connection", async () => {
    await using opened = new Opened();
    const authority = await newAuthority([HOST]);
    const port = await opened.https(authority, (message, response) =>
      response.end(`hello ${message.headers.host}`),
    );
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 443: port } });
    const tunnel = await openConnect(proxy.socketPath, `${HOST}:443`);
    expect(tunnel.status).toBe(200);
    const over = await secure(tunnel.socket, { ca: authority.certificate, servername: HOST });
    expect((await send("", "/", { over, headers: { host: HOST } })).body).toBe(`hello ${HOST}`);
    expect(proxy.caCertificate).toBeUndefined();
    expect(proxy.events).toEqual([{ host: HOST, port: 443, allowed: true }]);
  });

  test("a client that names another host, or none, in its TLS hello is turned away", async () => {
    await using opened = new Opened();
    const authority = await newAuthority([HOST, "evil.io"]);
    let reached = 0;
    const port = await opened.https(authority, (_, response) => response.end(String(++reached)));
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 443: port } });
    for (const servername of ["evil.io", ""]) {
      const { socket } = await openConnect(proxy.socketPath, `${HOST}:443`);
      await expect(secure(socket, { ca: authority.certificate, servername })).rejects.toThrow(
        /unrecognized name/,
      );
    }
    expect(reached).toBe(0);
    expect(proxy.events.at(-1)).toMatchObject({
      host: HOST,
      allowed: false,
      reason: expect.stringContaining("TLS server name"),
    });
  });

  test("port 80 is read as HTTP, and a request for another host than the connection's is refused", async () => {
    await using opened = new Opened();
    const port = await opened.http((message, response) =>
      response.end(`${message.url} ${message.headers.host}`),
    );
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 80: port } });
    const over = async () => (await openConnect(proxy.socketPath, `${HOST}:80`)).socket;
    const good = await send("", "/x", { over: await over(), headers: { host: HOST } });
    expect(good).toMatchObject({ status: 200, body: `/x ${HOST}` });
    expect((await send("", "/x", { over: await over(), headers: { host: "evil.io" } })).status).toBe(421);
    expect((await send("", "http://evil.io/", { over: await over(), headers: { host: HOST } })).status).toBe(
      400,
    );
    const nested = await over();
    nested.write(`CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    expect(await text(nested)).toMatch(/^HTTP\/1\.1 405 /);
  });

  test("a server that speaks first is heard, and an end in one direction is passed on", async () => {
    await using opened = new Opened();
    const port = await opened.tcp((socket) => {
      socket.write("220 ready\n");
      let received = "";
      socket.on("data", (chunk) => (received += chunk));
      socket.on("end", () => socket.end(`got ${received}`));
    });
    const proxy = await openTestProxy(opened, { allow: [`${HOST}:2525`], ports: { 2525: port } });
    const { socket } = await openConnect(proxy.socketPath, `${HOST}:2525`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.end("bye");
    expect(await text(socket)).toBe("got bye");
  });

  test.each([
    "evil.io:443",
    "api.example.com:22",
    "api.example.com",
    "127.0.0.1:443",
    "[::1]:443",
    "a@b:443",
    "evil.io%00.api.example.com:443",
  ])("CONNECT %s is answered 403 with the reason in the status line", async (authority) => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST, "*.api.example.com"] });
    const { status, phrase } = await openConnect(proxy.socketPath, authority);
    expect(status).toBe(403);
    expect(phrase).toMatch(/allow list|address|port|characters/);
    expect(proxy.lookups).toEqual([]);
  });

  test("a host that does not answer is 502 and no answer about the names of others", async () => {
    await using opened = new Opened();
    const proxy = await openTestProxy(opened, { allow: [HOST], ports: { 443: 1 } });
    expect(await openConnect(proxy.socketPath, `${HOST}:443`)).toMatchObject({
      status: 502,
      phrase: `${HOST} cannot be reached (ECONNREFUSED)`,
    });
  });
});
