/** Who is called when a run has ended, and who never is. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { say } from "deepwright/testing";
import { afterEach, describe, expect, test } from "vitest";
import { agentOf, begin, OWNER, openSite, until, userSays } from "./service-for-tests.ts";
import { createWebhooks } from "./webhooks.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers with these statuses, one a request, the last one for ever. */
async function receiver(...statuses: number[]) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const status = statuses[Math.min(bodies.length, statuses.length - 1)] ?? 200;
      bodies.push(body);
      response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end("ignored");
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

describe("a webhook", () => {
  test("TR-07: addresses of this machine and of private networks are refused, however they are spelled", () => {
    const { check } = createWebhooks();
    for (const host of [
      "127.0.0.1",
      "localhost",
      "a.localhost",
      "[::1]",
      "[::ffff:7f00:1]",
      "0.0.0.0",
      "169.254.169.254",
      "2130706433",
      "0x7f.1",
      "10.1.2.3",
      "192.168.0.1",
      "ok@127.0.0.1",
      "user:word@example.com",
    ])
      expect(() => check(`http://${host}/`), host).toThrow(expect.objectContaining({ status: 400 }));
    for (const url of ["file:///etc/passwd", "gopher://example.com", "ftp://example.com", "nothing", ""])
      expect(() => check(url), url).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => check("https://example.com/hook")).not.toThrow();
  });

  test("TR-07: a name that leads to a private address is not dialled", async () => {
    const { bodies, url } = await receiver(200);
    const hooks = createWebhooks({ retryAfterMs: [] });
    const { port } = new URL(url);
    // The name of this machine is one that its own resolver knows.
    const { hostname } = await import("node:os");
    expect(await hooks.send(`http://${hostname()}:${port}/hook`, "{}")).toBe(false);
    expect(bodies).toEqual([]);
  });

  test("is tried again while the other side is at fault, and redirects are not followed", async () => {
    const hooks = createWebhooks({ allowPrivate: true, retryAfterMs: [10, 10, 10] });
    const failing = await receiver(500, 503, 200);
    expect(await hooks.send(failing.url, '{"n":1}')).toBe(true);
    expect(failing.bodies).toEqual(['{"n":1}', '{"n":1}', '{"n":1}']);
    const refusing = await receiver(404);
    expect(await hooks.send(refusing.url, "{}")).toBe(false);
    expect(refusing.bodies).toHaveLength(1);
    const moved = await receiver(302);
    expect(await hooks.send(moved.url, "{}")).toBe(false);
    expect(moved.bodies).toHaveLength(1);
  });

  test("tells the status and the values of the run", async () => {
    const { bodies, url } = await receiver(200);
    const site = await openSite({ agent: agentOf([say("hi")]).agent }, { webhooks: { allowPrivate: true } });
    const run = await begin(site, "t1", { input: userSays("hello"), webhook: url });
    await site.runs.wait(OWNER, run.run_id);
    await until(() => bodies.length === 1);
    expect(JSON.parse(bodies[0] as string)).toMatchObject({
      run_id: run.run_id,
      thread_id: "t1",
      status: "success",
      values: { messages: [{ type: "human" }, { type: "ai", content: "hi" }] },
    });
    await expect(begin(site, "t1", { webhook: "http://u@10.0.0.1/" })).rejects.toMatchObject({ status: 400 });
  });
});
