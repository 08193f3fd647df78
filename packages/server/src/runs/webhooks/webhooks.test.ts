/** Addresses that are called when a run has ended, and those that never are. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { callTool, say } from "deepwright/testing";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { privateName } from "../../../../core/src/net/private-name-for-tests.ts";
import {
  agentOf,
  begin,
  gate,
  OWNER,
  openSite,
  type Site,
  simpleTool,
  userSays,
} from "../service-for-tests.ts";
import { createWebhooks } from "./webhooks.ts";

/** Receivers of this machine may be slow. */
const PATIENT = { allowPrivate: true, timeoutMs: 600_000 } as const;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers with these statuses, one a request, the last one for ever. */
async function receiver(...statuses: number[]) {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const status = statuses[Math.min(bodies.length, statuses.length - 1)] ?? 200;
      bodies.push(body);
      headers.push(request.headers);
      response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end("ignored");
    });
  });
  servers.push(server);
  // On all addresses: the name of this machine may lead to another one than that of loopback.
  await new Promise<void>((done) => server.listen(0, done));
  return { bodies, headers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
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

  test("TR-07: a name that leads to a private address is not dialled, and is where they are allowed", async () => {
    const { bodies, url } = await receiver(200);
    const named = `http://${await privateName()}:${new URL(url).port}/hook`;
    expect(await createWebhooks().post(named, "{}", {})).toBe(0);
    expect(bodies).toEqual([]);
    expect(await createWebhooks(PATIENT).post(named, "{}", {})).toBe(200);
    expect(bodies).toEqual(["{}"]);
  });

  test("that leads elsewhere is not followed", async () => {
    const hooks = createWebhooks(PATIENT);
    const moved = await receiver(302);
    expect(await hooks.post(moved.url, "{}", {})).toBe(302);
    expect(moved.bodies).toHaveLength(1);
  });

  test("tells the status and the values of the run, with the id of the run", async () => {
    const { bodies, headers, url } = await receiver(200);
    const site = await openSite({ agent: agentOf([say("hi")]).agent }, { webhooks: PATIENT });
    const run = await begin(site, "t1", { input: userSays("hello"), webhook: url });
    await site.runs.wait(OWNER, run.run_id);
    await until(() => bodies.length === 1);
    expect(JSON.parse(bodies[0] as string)).toMatchObject({
      run_id: run.run_id,
      thread_id: "t1",
      status: "success",
      values: { messages: [{ type: "human" }, { type: "ai", content: "hi" }] },
      webhook_sent_at: expect.stringMatching(/^\d{4}-/),
    });
    expect(headers[0]).toMatchObject({ "webhook-id": run.run_id, "webhook-attempt": "1" });
    await expect(begin(site, "t1", { webhook: "http://u@10.0.0.1/" })).rejects.toMatchObject({ status: 400 });
  });
});

describe("a run that ends before it began", () => {
  test.each(["cancelled", "displaced by interrupt", "displaced by rollback"])(
    "and is %s is told of as interrupted",
    async (how) => {
      const { bodies, url } = await receiver(200);
      const first = gate();
      const wait = simpleTool("wait", async () => first.opened);
      const script = [callTool("wait", {}), say("one"), say("two")];
      const { agent } = agentOf(script, { tools: [wait] });
      const site = await openSite({ agent }, { webhooks: PATIENT });
      const busy = await begin(site, "t1", { input: userSays("one") });
      await until(async () => (await site.runs.get(OWNER, busy.run_id))?.status === "running");
      const input = userSays("two");
      const waiting = await begin(site, "t1", { input, webhook: url, multitask_strategy: "enqueue" });
      if (how === "cancelled") await site.runs.cancel(OWNER, waiting.run_id);
      else {
        const multitask_strategy = how.endsWith("rollback") ? "rollback" : "interrupt";
        await begin(site, "t1", { input: userSays("three"), multitask_strategy });
      }
      await until(() => bodies.length === 1);
      first.open();
      expect(JSON.parse(bodies[0] as string)).toMatchObject({
        run_id: waiting.run_id,
        thread_id: "t1",
        status: "interrupted",
        error: null,
        values: null,
        interrupts: {},
      });
    },
  );
});

describe("an address that does not take it", () => {
  const answering = () => agentOf(() => say("hi")).agent;
  const hookOf = (site: Site, runId: string) => site.records.hooks.get(OWNER, runId);

  test("is called again with the same words and id while it is at fault, then it is delivered", async () => {
    const { bodies, headers, url } = await receiver(500, 503, 200);
    const site = await openSite(
      { agent: answering() },
      { webhooks: { ...PATIENT, retryAfterMs: [10, 20, 30] } },
    );
    const { run_id } = await begin(site, "t1", { input: userSays("hello"), webhook: url });
    await until(async () => (await hookOf(site, run_id))?.status === "delivered");
    const words = bodies.map((body) => ({ ...JSON.parse(body), webhook_sent_at: "" }));
    expect(words).toEqual([words[0], words[0], words[0]]);
    expect(headers.map((each) => [each["webhook-id"], each["webhook-attempt"]])).toEqual([
      [run_id, "1"],
      [run_id, "2"],
      [run_id, "3"],
    ]);
  });

  test.each([
    ["that refuses is not called again", [404], 1, 404],
    ["that leads elsewhere is not called again", [302], 1, 302],
    ["is given up in the end, which is recorded and told", [500], 3, 500],
  ])("%s", async (_, statuses, attempts, answer) => {
    const { bodies, url } = await receiver(...statuses);
    const site = await openSite({ agent: answering() }, { webhooks: { ...PATIENT, retryAfterMs: [10, 10] } });
    const { run_id } = await begin(site, "t1", { input: userSays("hello"), webhook: url });
    await until(async () => (await hookOf(site, run_id))?.status === "failed");
    expect(await hookOf(site, run_id)).toEqual({ runId: run_id, url, status: "failed", attempts, answer });
    expect(bodies).toHaveLength(attempts);
    await until(() => site.errors.length === 1);
    expect(String(site.errors[0])).toContain(`was given up after ${attempts} attempts`);
  });

  test("is called by whichever process lives when the one that ended the run is gone", async () => {
    const { bodies, headers, url } = await receiver(503, 200);
    const webhooks = { ...PATIENT, retryAfterMs: [1_000] };
    const first = await openSite({ agent: answering() }, { webhooks });
    const { run_id } = await begin(first, "t1", { input: userSays("hello"), webhook: url });
    // The answer is noted: of a call that is cut off, nobody knows until its time is over.
    await until(async () => (await hookOf(first, run_id))?.answer === 503);
    await first.close();
    const second = await openSite({ agent: answering() }, { webhooks, directory: first.directory });
    await until(async () => (await hookOf(second, run_id))?.status === "delivered");
    expect(bodies).toHaveLength(2);
    expect(headers[1]).toMatchObject({ "webhook-id": run_id, "webhook-attempt": "2" });
  });

  test("is not told of twice while many processes look", async () => {
    const { bodies, url } = await receiver(200);
    const webhooks = PATIENT;
    const sites = [await openSite({ agent: answering() }, { webhooks })];
    for (let more = 0; more < 3; more += 1)
      sites.push(
        await openSite({ agent: answering() }, { webhooks, directory: sites[0]?.directory as string }),
      );
    const site = sites[0] as Site;
    for (let n = 0; n < 10; n += 1) await begin(site, `t${n}`, { input: userSays("hello"), webhook: url });
    await until(() => bodies.length >= 10);
    await new Promise((go) => setTimeout(go, 500));
    expect(new Set(bodies.map((body) => JSON.parse(body).run_id)).size).toBe(10);
    expect(bodies).toHaveLength(10);
  });
});
