/** SECURITY cases SV-06 and SV-09, over a port, against every route that names something. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";
import { all, json, needsBody, pathOf, raw, SAMPLE } from "./raw-for-tests.ts";

describe("SV-06, SV-09 tenants", () => {
  let shared: TestServer;
  const as = (name: string) => ({ "x-api-key": name });
  beforeAll(async () => {
    shared = await startServer({
      authenticate: ({ headers }) => {
        const name = headers.get("x-api-key");
        return name === "alice" || name === "bob" ? { identity: name } : undefined;
      },
    });
  });
  afterAll(() => shared.close());

  test("SV-06 what belongs to another is not there, on every route", async () => {
    const client = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const { thread_id } = await client.threads.create();
    const messages = [{ role: "user", content: "write /secret.txt mine" }];
    const { run_id } = await client.runs.create(thread_id, "echo", { input: { messages } });
    await client.runs.join(thread_id, run_id);
    const state = await client.threads.getState(thread_id);
    const { assistant_id } = await client.assistants.create({ graphId: "echo" });
    const { cron_id } = (await client.crons.create("echo", { schedule: "0 0 1 1 *", input: {} })) as {
      cron_id: string;
    };
    const ids = {
      ...SAMPLE,
      thread_id,
      run_id,
      assistant_id,
      cron_id,
      checkpoint_id: state.checkpoint.checkpoint_id as string,
    };
    const bodies: Record<string, unknown> = {
      "threads.getStateAt": { checkpoint: state.checkpoint },
      "threads.updateState": { values: { messages } },
      "threads.patchState": { metadata: { a: 1 } },
      "threads.postMessage": { kind: "steer", content: "hi" },
      "threads.command": {
        id: 1,
        method: "run.start",
        params: { assistant_id: "echo", input: { messages } },
      },
      "a2a.call": { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: run_id } },
      "threads.streamEvents": { channels: ["values"] },
      "threads.rewind": { checkpoint_id: state.checkpoint.checkpoint_id },
      "threads.stopSubagent": { subagent: "tools:1" },
      "threads.steerSubagent": { subagent: "tools:1", content: "hi" },
      "threads.answerInterrupt": { value: 1 },
      "runs.create": { assistant_id: "echo", input: { messages } },
      "runs.stream": { assistant_id: "echo", input: { messages } },
      "runs.wait": { assistant_id: "echo", input: { messages } },
      "crons.createForThread": { assistant_id: "echo", schedule: "* * * * *" },
      "assistants.setLatest": { version: 1 },
    };
    for (const route of all.filter(({ path }) => /:(?:thread|run|assistant|cron)_id/.test(path))) {
      const body = needsBody(route) ? JSON.stringify(bodies[route.name] ?? {}) : undefined;
      const query = /^threads\.(?:readFile|blame)$/.test(route.name) ? "?path=/secret.txt" : "";
      const path = pathOf(route, ids) + query;
      const answer = await raw(shared, route.method, path, { ...as("bob"), ...(body && json) }, body);
      expect(answer.status, `${route.name}: ${answer.text}`).toBe(404);
      expect(answer.text).not.toContain("mine");
    }
    for (const body of [
      { assistant_id, input: { messages } },
      { assistant_id: "echo", checkpoint: { thread_id }, input: null },
    ])
      expect([400, 404]).toContain(
        (await shared.call("POST", "/runs", body, { authorization: "", ...as("bob") })).status,
      );
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ files: { "/secret.txt": {} } });
    expect((await client.assistants.get(assistant_id)).assistant_id).toBe(assistant_id);
  });

  test("SV-06 neither runs nor checkpoints of another are found by way of a thread of one's own", async () => {
    const alice = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const bob = new Client({ apiUrl: shared.url, apiKey: "bob" });
    const say = (content: string) => ({ input: { messages: [{ role: "user", content }] } });
    const { thread_id: hers } = await alice.threads.create();
    const run = await alice.runs.create(hers, "echo", say("write /secret.txt mine"));
    await alice.runs.join(hers, run.run_id);
    const { checkpoint } = await alice.threads.getState(hers);
    const { thread_id } = await bob.threads.create();
    await bob.runs.wait(thread_id, "echo", say("write /own.txt his"));
    const before = await bob.threads.getState(thread_id);
    const checkpoint_id = checkpoint.checkpoint_id as string;
    const ids = { ...SAMPLE, thread_id, run_id: run.run_id, checkpoint_id };
    const ask = async (method: string, path: string, body?: unknown) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answer = await raw(shared, method, path, { ...as("bob"), ...(text && json) }, text);
      expect(answer.text, `${method} ${path}`).not.toContain("mine");
      expect(answer.text).not.toContain("secret");
      return answer.status;
    };
    for (const route of all.filter(({ path }) => /:thread_id.*:(?:run|checkpoint)_id/.test(path)))
      expect(await ask(route.method, pathOf(route, ids), needsBody(route) ? {} : undefined), route.name).toBe(
        404,
      );
    const at = `/threads/${thread_id}`;
    const there = { thread_id, checkpoint_id };
    for (const [method, path, body] of [
      ["POST", `${at}/state/checkpoint`, { checkpoint: there }],
      ["POST", `${at}/state/checkpoint`, { checkpoint: { thread_id: hers, checkpoint_id } }],
      ["POST", `${at}/state`, { values: { messages: [] }, checkpoint: there }],
      ["POST", `${at}/state`, { values: { messages: [] }, checkpoint_id }],
      ["POST", `${at}/runs`, { assistant_id: "echo", ...say("x"), checkpoint: there }],
      ["POST", `${at}/runs/wait`, { assistant_id: "echo", ...say("x"), checkpoint_id }],
      ["POST", `${at}/runs/stream`, { assistant_id: "echo", ...say("x"), checkpoint_id }],
      ["GET", `${at}/files?checkpoint_id=${checkpoint_id}`],
      ["GET", `${at}/files/content?path=/secret.txt`],
      ["GET", `${at}/files/content?path=/secret.txt&checkpoint_id=${checkpoint_id}`],
      ["GET", `${at}/files/diff?from=${checkpoint_id}`],
      ["GET", `${at}/files/diff?to=${checkpoint_id}`],
    ] as const)
      expect(await ask(method, path, body), `${method} ${path} ${JSON.stringify(body)}`).toBe(404);
    for (const more of [{ before: checkpoint_id }, { before: there }, { checkpoint: there }])
      expect([200, 404]).toContain(await ask("POST", `${at}/history`, { ...more, limit: 100 }));
    // What is of another's thread, named as the place of one's own request.
    for (const path of [`${at}/runs`, "/runs"]) {
      const body = { assistant_id: "echo", ...say("x"), checkpoint: { thread_id: hers, checkpoint_id } };
      expect([400, 404]).toContain(await ask("POST", path, body));
    }
    const after = await bob.threads.getState(thread_id);
    expect(after.values).toEqual(before.values);
    expect(after.checkpoint).toEqual(before.checkpoint);
    await bob.threads.delete(thread_id);
  });

  test("SV-06 another's id cannot be taken over", async () => {
    const alice = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const bob = new Client({ apiUrl: shared.url, apiKey: "bob" });
    const { thread_id } = await alice.threads.create({ threadId: "taken" });
    await expect(bob.threads.create({ threadId: thread_id, ifExists: "do_nothing" })).rejects.toThrow(/409/);
    await expect(
      bob.runs.wait(thread_id, "echo", { input: { messages: [] }, ifNotExists: "create" }),
    ).rejects.toThrow(/404/);
    expect(await bob.threads.prune([thread_id])).toEqual({ pruned_count: 0 });
    expect((await alice.threads.get(thread_id)).thread_id).toBe(thread_id);
  });

  test("SV-09 listings without a filter show what is the caller's alone", async () => {
    const alice = new Client({ apiUrl: shared.url, apiKey: "alice" });
    const bob = new Client({ apiUrl: shared.url, apiKey: "bob" });
    await alice.threads.create();
    await alice.crons.create("echo", { schedule: "0 0 1 1 *", input: {} });
    await alice.store.putItem(["alice", "notes"], "k", { secret: 1 });
    const own = await bob.threads.create();
    expect((await bob.threads.search({ limit: 1000 })).map(({ thread_id }) => thread_id)).toEqual([
      own.thread_id,
    ]);
    expect(await bob.threads.count()).toBe(1);
    expect(await bob.crons.search()).toEqual([]);
    expect(await bob.crons.count()).toBe(0);
    expect((await bob.assistants.search()).every(({ metadata }) => metadata?.created_by === "system")).toBe(
      true,
    );
    expect((await bob.store.searchItems([])).items).toEqual([]);
    expect((await bob.store.listNamespaces()).namespaces).toEqual([]);
    await expect(bob.store.getItem(["alice", "notes"], "k")).rejects.toThrow(/403/);
    await expect(bob.store.searchItems(["alice"])).rejects.toThrow(/403/);
    expect((await alice.store.searchItems([])).items).toHaveLength(1);
  });
});
