/** Receivers that do what they like hold up nobody else's webhooks, and not the end of the server. */
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { createGuardedFetch } from "deepwright/net";
import { say } from "deepwright/testing";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import type { DueHook, HookRecords } from "../../records/records.ts";
import { agentOf, begin, gate, OWNER, openSite, type Site, userSays } from "../service-for-tests.ts";
import { createHookSender } from "./hook-sender.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

const servers: (Server | SocketServer)[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  }
});

async function listening<Kind extends Server | SocketServer>(server: Kind): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

const receiver = (answer: RequestListener) => listening(createServer(answer));

/** Answers every connection with these words. */
const rawReceiver = (words: string) =>
  listening(
    createSocketServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(words));
    }),
  );

const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
const allowPrivate = true;
const agent = () => agentOf(() => say("hi")).agent;
const statusOf = async (site: Site, runId: string) => (await site.records.hooks.get(OWNER, runId))?.status;

test.each([
  ["speaks of another protocol", SWITCHING, 101],
  ["says nothing and hangs up", "", 0],
  ["says what is not HTTP", "nonsense\r\n\r\n", 0],
])("a receiver that %s has answered", async (_, words, status) => {
  const url = await rawReceiver(words);
  expect(await createWebhooks({ allowPrivate }).post(url, "{}", {})).toBe(status);
  await expect(createGuardedFetch({ allowPrivate, maxBytes: 1_000 })(url)).rejects.toThrow();
});

test("a receiver that changes the protocol stops neither the webhooks of others nor the end of the server", async () => {
  const bodies: string[] = [];
  const well = await receiver((request, response) => {
    bodies.push(request.url ?? "");
    response.end();
  });
  const url = await rawReceiver(SWITCHING);
  const site = await openSite({ agent: agent() }, { webhooks: { allowPrivate, timeoutMs: 600_000 } });
  const bad = await begin(site, "bad", { input: userSays("hello"), webhook: url });
  await until(async () => (await statusOf(site, bad.run_id)) === "failed");
  for (const thread of ["t1", "t2"]) await begin(site, thread, { input: userSays("hello"), webhook: well });
  await until(() => bodies.length === 2);
  await site.close();
});

test("an address that is refused by now is given up, and told of; others are called", async () => {
  const taken: string[] = [];
  const url = await receiver((_, response) => {
    taken.push("well");
    response.end();
  });
  const first = await openSite(
    { agent: agent() },
    { webhooks: { allowPrivate, retryAfterMs: Array(10_000).fill(50) } },
  );
  const dead = await begin(first, "t1", { input: userSays("hello"), webhook: "http://127.0.0.1:1/" });
  await until(async () => ((await first.records.hooks.get(OWNER, dead.run_id))?.attempts ?? 0) > 0);
  await first.close();
  const second = await openSite({ agent: agent() }, { directory: first.directory });
  await until(async () => (await statusOf(second, dead.run_id)) === "failed");
  expect(second.errors.map(String)).toEqual([expect.stringContaining("this server calls no such address")]);
  expect(await createWebhooks().post(url, "{}", {})).toBe("refused");
  expect(taken).toEqual([]);
});

/** Hooks in memory, in the order they are given. */
function hooksOf(due: DueHook[]): HookRecords {
  return {
    async take(limit, _, { owners, urls } = { owners: [], urls: [] }) {
      const found = due.filter(({ owner, url }) => !owners.includes(owner) && !urls.includes(url));
      const taken = found.slice(0, limit);
      for (const hook of taken) due.splice(due.indexOf(hook), 1);
      return taken;
    },
    note: async () => {},
    newest: async () => [],
    get: async () => undefined,
    setPush: async () => {},
  };
}

const hookOf = (owner: string, url: string, id: number): DueHook => ({
  owner,
  url,
  id: `${owner}-${id}`,
  runId: `${owner}-${id}`,
  body: "{}",
  status: "waiting",
  attempts: 1,
  answer: null,
});

test("slow receivers of one owner, or one slow address, are passed by whoever comes after them", async () => {
  const due = Array.from({ length: 200 }, (_, id) => hookOf("mallory", `https://slow.example/${id}`, id));
  due.push(...Array.from({ length: 50 }, (_, id) => hookOf("carol", "https://slow.example/same", id)));
  due.push(hookOf("carol", "https://well.example/", 99), hookOf("bob", "https://well.example/", 1));
  const told: string[] = [];
  const slow = gate();
  let calls = 0;
  let most = 0;
  const webhooks: Webhooks = {
    timeoutMs: 60_000,
    check: () => {},
    async post(url, _, headers) {
      calls += 1;
      most = Math.max(most, calls);
      if (url.includes("slow")) await slow.opened;
      else told.push(headers["webhook-id"] as string);
      calls -= 1;
      return url.includes("slow") ? 0 : 200;
    },
  };
  const sender = createHookSender({ hooks: hooksOf(due), webhooks, onError: () => {} });
  sender.kick();
  await until(() => told.length === 2);
  expect(told.sort()).toEqual(["bob-1", "carol-99"]);
  due.push(hookOf("dora", "https://well.example/", 2));
  sender.kick();
  await until(() => told.length === 3);
  expect(most).toBeLessThanOrEqual(32);
  const closed = sender.close();
  slow.open();
  await closed;
});

test("all that is due is told, more than can be at once", async () => {
  const due = Array.from({ length: 300 }, (_, id) => hookOf("ada", "https://well.example/", id));
  const told = new Set<string>();
  const webhooks: Webhooks = {
    timeoutMs: 1_000,
    check: () => {},
    post: async (_, __, headers) => {
      told.add(headers["webhook-id"] as string);
      return 200;
    },
  };
  const sender = createHookSender({ hooks: hooksOf(due), webhooks, onError: () => {} });
  await sender.send();
  expect(told.size).toBe(300);
  await sender.close();
});
