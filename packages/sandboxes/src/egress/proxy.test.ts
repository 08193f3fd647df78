import { describe, expect, test } from "vitest";
import { Opened, openConnect, openTestProxy, send } from "./egress-for-tests.ts";

describe("plain HTTP", () => {
  test("a request to an allowed host arrives with the Host of its first line", async () => {
    await using opened = new Opened();
    const port = await opened.http((request, response) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.end(`${request.method} ${request.url} ${request.headers.host}`);
    });
    const proxy = await openTestProxy(opened, { allow: ["api.example.com"], ports: { 80: port } });
    const answer = await send(proxy.socketPath, "http://API.example.com./a?b=c", {
      headers: { host: "evil.io" },
    });
    expect(answer).toMatchObject({ status: 200, body: "GET /a?b=c api.example.com" });
    expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(proxy.events).toEqual([{ host: "api.example.com", port: 80, allowed: true }]);
    const c = await openConnect(proxy.socketPath, "api.example.com:80");
    expect(c.status).toBe(200);
    const answer2 = await send("", "/x", { over: c.socket, headers: { host: "api.example.com" } });
    expect(answer2).toMatchObject({ status: 200, body: "GET /x api.example.com" });
  });
});
