/** A thread id that one tenant deletes and another creates again: neither ever meets the state of the other. */
import { setTimeout as sleep } from "node:timers/promises";
import { emptyCheckpoint, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { say, scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { until } from "../../../../scripts/test-time.ts";
import { type Ask, once, saying, twoTenants } from "./two-tenants-for-tests.ts";

/** Alice uses, changes and deletes a thread, all at the same time; Bob takes its id as soon as he can. */
async function round(alice: Ask, bob: Ask, id: string): Promise<void> {
  const path = `/threads/${id}`;
  const later = async (ask: () => Promise<unknown>) => {
    await sleep(Math.random() * 12);
    // An answer that has begun is broken off when its run goes.
    return ask().catch(() => undefined);
  };
  const removed = async () => {
    for (;;) {
      const { status } = await alice("DELETE", path);
      if (status !== 409) return status;
    }
  };
  await alice("POST", "/threads", { thread_id: id, metadata: { graph_id: "echo" } });
  await alice("POST", `${path}/runs/wait`, saying("of alice"));
  const values = { messages: [{ role: "user", content: "update of alice" }] };
  const others = Promise.all([
    removed(),
    ...[1, 2].map(() => later(removed)),
    ...[1, 2, 3].map(() => later(() => alice("POST", `${path}/runs/wait`, saying("more of alice")))),
    ...[1, 2, 3].map(() => later(() => alice("POST", `${path}/state`, { values }))),
    ...[1, 2, 3].map(() =>
      later(() => alice("POST", `${path}/messages`, { kind: "steer", content: "mail of alice" })),
    ),
    ...[1, 2].map(() => later(() => alice("GET", `${path}/state`))),
  ]);
  others.catch(() => {});
  while ((await bob("POST", "/threads", { thread_id: id, metadata: { graph_id: "echo" } })).status !== 200);
  const empty = await bob("GET", `${path}/state`);
  expect(JSON.stringify(empty.body)).not.toContain("alice");
  const { status } = await bob("POST", `${path}/runs/wait`, saying("of bob"));
  expect(status).toBe(200);
  const seen = JSON.stringify(await others);
  expect(seen).not.toContain("of bob");
  const { body: state } = await bob("GET", `${path}/state`);
  expect(state.values.messages.map(({ content }: { content: string }) => content)).toEqual([
    "of bob",
    "echo: of bob",
  ]);
  for (const part of ["", "/runs"])
    expect(JSON.stringify((await bob("GET", `${path}${part}`)).body)).not.toContain("alice");
  expect(JSON.stringify((await bob("POST", `${path}/history`, { limit: 50 })).body)).not.toContain("alice");
}

describe.each(["SQLite", "Postgres"] as const)("a thread id on %s", (place) => {
  test("goes from one tenant to another without their state", async () => {
    const { alice, bob } = await twoTenants(place);
    const rounds = sized(4, 240);
    const together = 4;
    for (let next = 0; next < rounds; next += together)
      await Promise.all(
        Array.from({ length: together }, (_, at) => round(alice, bob, `shared-${next + at}`)),
      );
  });

  test("is free when nothing is left: a run that begins while the thread is removed leaves nothing", async () => {
    const { server, alice, bob } = await twoTenants(place);
    await alice("POST", "/threads", { thread_id: "shared" });
    await alice("POST", "/threads/shared/runs/wait", saying("of alice"));
    once(server.app.storage.saver, "deleteThread", async (call) => {
      await call();
      await alice("POST", "/threads/shared/runs/wait", saying("late words of alice"));
    });
    expect((await alice("DELETE", "/threads/shared")).status).toBe(204);
    await bob("POST", "/threads", { thread_id: "shared", metadata: { graph_id: "echo" } });
    expect(JSON.stringify((await bob("GET", "/threads/shared/state")).body)).not.toContain("alice");
    expect((await bob("POST", "/threads/shared/history", {})).body).toEqual([]);
  });

  test("is safe from a second DELETE that comes late", async () => {
    const { server, alice, bob } = await twoTenants(place);
    await alice("POST", "/threads", { thread_id: "shared" });
    await alice("POST", "/threads/shared/runs/wait", saying("of alice"));
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const reached = new Promise<void>((resolve) => {
      once(server.app.storage.saver, "deleteThread", async (call) => {
        resolve();
        await held;
        return call();
      });
    });
    const first = alice("DELETE", "/threads/shared");
    await reached;
    const second = alice("DELETE", "/threads/shared");
    const taken = async () =>
      (await bob("POST", "/threads", { thread_id: "shared", metadata: { graph_id: "echo" } })).status === 200;
    let isTaken = false;
    for (let attempt = 0; attempt < 20 && !isTaken; attempt += 1) isTaken = await taken();
    if (isTaken) await bob("POST", "/threads/shared/runs/wait", saying("of bob"));
    go();
    await Promise.all([first, second]);
    if (!isTaken) await until(taken);
    if (!isTaken) await bob("POST", "/threads/shared/runs/wait", saying("of bob"));
    expect(JSON.stringify((await bob("GET", "/threads/shared/state")).body)).toContain("echo: of bob");
  });

  test("gets rid of what an earlier version left under it", async () => {
    const { server, bob } = await twoTenants(place);
    for (const id of ["made", "begun"]) {
      const config = { configurable: { thread_id: id, checkpoint_ns: "" } };
      const checkpoint = { ...emptyCheckpoint(), channel_values: { messages: ["of alice"] } };
      await server.app.storage.saver.put(config, checkpoint, { source: "input", step: 0, parents: {} }, {});
    }
    await bob("POST", "/threads", { thread_id: "made" });
    await bob("POST", "/threads/made/runs/wait", saying("of bob"));
    await bob("POST", "/threads/begun/runs/wait", { ...saying("of bob"), if_not_exists: "create" });
    for (const id of ["made", "begun"]) {
      const { body } = await bob("POST", `/threads/${id}/history`, { limit: 100 });
      expect(body.length).toBeGreaterThan(0);
      expect(JSON.stringify(body)).not.toContain("alice");
    }
  });
});

test("an agent with a saver of its own forgets a thread that is deleted", async () => {
  const model = scriptedModel(({ messages }) => say(`heard ${messages.length}`), { record: false });
  const { alice, bob } = await twoTenants("SQLite", {
    own: createDeepAgent({ model, checkpointer: new MemorySaver() }),
  });
  const words = (content: string) => ({ ...saying(content), assistant_id: "own" });
  await alice("POST", "/threads", { thread_id: "shared" });
  await alice("POST", "/threads/shared/runs/wait", words("of alice"));
  expect((await alice("DELETE", "/threads/shared")).status).toBe(204);
  await bob("POST", "/threads", { thread_id: "shared" });
  const { body } = await bob("POST", "/threads/shared/runs/wait", words("of bob"));
  expect(JSON.stringify(body)).toContain("of bob");
  expect(JSON.stringify(body)).not.toContain("alice");
});
