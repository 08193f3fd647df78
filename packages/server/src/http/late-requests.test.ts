/** Requests that were let in before their thread was deleted and its id given to another tenant. */
import { describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { type Ask, once, saying, type TwoTenants, twoTenants } from "./two-tenants-for-tests.ts";

const NEW = { thread_id: "shared", metadata: { graph_id: "echo" } };

async function aliceTalks({ alice }: TwoTenants): Promise<string> {
  await alice("POST", "/threads", NEW);
  await alice("POST", "/threads/shared/runs/wait", saying("write /words.txt of-alice"));
  return (await alice("GET", "/threads/shared/state")).body.checkpoint.checkpoint_id;
}

async function bobTalks({ bob }: Pick<TwoTenants, "bob">): Promise<void> {
  expect((await bob("POST", "/threads", NEW)).status).toBe(200);
  await bob("POST", "/threads/shared/runs/wait", saying("write /words.txt of-bob"));
}

/** All of what Bob has there. */
async function seenBy(bob: Ask): Promise<unknown> {
  const { body: state } = await bob("GET", "/threads/shared/state");
  const { body: history } = await bob("POST", "/threads/shared/history", { limit: 100 });
  const { body: thread } = await bob("GET", "/threads/shared");
  const { body: runs } = await bob("GET", "/threads/shared/runs");
  return { state, history, thread, runs };
}

const values = { messages: [{ role: "user", content: "update of-alice" }] };
const REQUESTS: [name: string, method: string, path: string, body?: unknown][] = [
  ["state", "GET", "/threads/shared/state"],
  ["state of a checkpoint", "POST", "/threads/shared/state/checkpoint", { checkpoint: {} }],
  ["history", "POST", "/threads/shared/history", {}],
  ["files", "GET", "/threads/shared/files"],
  ["a file", "GET", "/threads/shared/files/content?path=/words.txt"],
  ["changes of files", "GET", "/threads/shared/files/diff"],
  ["interrupts", "GET", "/threads/shared/interrupts"],
  ["a copy", "POST", "/threads/shared/copy"],
  ["an update", "POST", "/threads/shared/state", { values }],
  ["a run", "POST", "/threads/shared/runs/wait", saying("again of-alice")],
  ["a message", "POST", "/threads/shared/messages", { kind: "steer", content: "mail of-alice" }],
  ["a prune", "POST", "/threads/prune", { thread_ids: ["shared"], strategy: "keep_latest" }],
  ["a deletion", "DELETE", "/threads/shared"],
];

/** Both places share the handlers; the full table runs on Postgres in the long form. */
const ON_POSTGRES = REQUESTS.filter((_, at) => at % sized(4, 1) === 0);

describe.each(["SQLite", "Postgres"] as const)("on %s", (place) => {
  test.each(place === "Postgres" ? ON_POSTGRES : REQUESTS)(
    "%s finds nothing of the other, and changes nothing",
    async (_, method, path, body) => {
      const tenants = await twoTenants(place);
      const { alice, bob, server } = tenants;
      await aliceTalks(tenants);
      let before: unknown;
      const { threads } = server.app.storage.records;
      let isLookedAt = false;
      const exchange = async (call: () => Promise<unknown>): Promise<unknown> => {
        const found = await call();
        if (isLookedAt) return found;
        isLookedAt = true;
        expect((await alice("DELETE", "/threads/shared")).status).toBe(204);
        await bobTalks(tenants);
        before = await seenBy(bob);
        return found;
      };
      once(threads, "get", exchange);
      once(threads, "head", exchange);
      const answer = await alice(method, path, body);
      expect(before).toBeDefined();
      expect(answer.status).toBeLessThan(500);
      expect(JSON.stringify(answer.body)).not.toContain("of-bob");
      expect(JSON.stringify(before)).toContain("of-bob");
      expect(JSON.stringify(before)).not.toContain("of-alice");
      expect(await seenBy(bob)).toEqual(before);
      const { body: listed } = await alice("POST", "/threads/search", {});
      expect(listed).toEqual([]);
    },
  );

  test("a removal that waited for the thread leaves the next one alone", async () => {
    const tenants = await twoTenants(place);
    const { alice, bob, server } = tenants;
    await aliceTalks(tenants);
    let before: unknown;
    once(server.app.storage.saver, "claimThread", async (call) => {
      expect((await alice("DELETE", "/threads/shared")).status).toBe(204);
      await bobTalks(tenants);
      before = await seenBy(bob);
      return call();
    });
    await alice("DELETE", "/threads/shared");
    expect(await seenBy(bob)).toEqual(before);
  });

  test("a removal that was stopped for longer than its claim lives removes nothing of the next one", async () => {
    const tenants = await twoTenants(place);
    const { alice, bob, server } = tenants;
    const { saver } = server.app.storage;
    await aliceTalks(tenants);
    let before: unknown;
    once(saver, "deleteThread", async (call, [threadId, held]) => {
      await saver.storage.release(threadId, held.fence);
      expect((await alice("DELETE", "/threads/shared")).status).toBe(204);
      await bobTalks(tenants);
      before = await seenBy(bob);
      return call();
    });
    expect((await alice("DELETE", "/threads/shared")).status).toBe(409);
    expect(await seenBy(bob)).toEqual(before);
  });
});
