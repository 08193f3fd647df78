/** Undo over HTTP: rewind, restore and blame, and what other callers may do with them. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../http/app.ts";

const WHO: Readonly<Record<string, string>> = { one: "ada", two: "ben" };

async function serverFor(options: { readonly hasRoot: boolean }) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-server-undo-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "a.txt"), "first\nsecond\nthird\n");
  const backend = new LocalShellBackend({ rootDir: directory, virtualMode: true });
  const command = "sed -i s/first/FIRST/ a.txt; echo new > b.txt";
  const model = scriptedModel([callTool("execute", { command }), say("Done.")]);
  const app = await createApp({
    agents: { agent: createDeepAgent({ model, backend }) as never },
    authenticate: (request) => {
      const identity = WHO[request.headers.get("x-key") ?? ""];
      return identity === undefined ? undefined : { identity };
    },
    restoreRoots: options.hasRoot ? [directory] : [],
    drainMs: 1_000,
  });
  onTestFinished(() => app.close());
  const call = async (key: string, method: string, path: string, body?: object) => {
    const response = await app.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { "x-key": key, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, body: await response.json() };
  };
  const { body: thread } = await call("one", "POST", "/threads");
  const path = `/threads/${thread.thread_id}`;
  const input = { messages: [{ role: "user", content: "Change it" }] };
  await call("one", "POST", `${path}/runs/wait`, { assistant_id: "agent", input });
  const { body: history } = await call("one", "POST", `${path}/history`, { limit: 50 });
  const first = history.at(-1).checkpoint.checkpoint_id as string;
  return { call, path, first, file: (name: string) => readFileSync(join(directory, name), "utf8") };
}

test("a thread is blamed, restored in part, rewound and brought forward again", async () => {
  const { call, path, first, file } = await serverFor({ hasRoot: true });
  const blame = await call("one", "GET", `${path}/files/blame?path=/a.txt`);
  expect(blame.body.lines).toMatchObject([
    { text: "FIRST", by: { command: expect.stringContaining("sed"), prompt: "Change it" } },
    { text: "second" },
    { text: "third" },
  ]);
  const plan = await call("one", "POST", `${path}/restore`, { path: "/a.txt", dry_run: true });
  expect(plan.body).toMatchObject({ restored: [{ path: "/a.txt", place: "outside" }], call: null });
  expect(file("a.txt")).toContain("FIRST");
  const restored = await call("one", "POST", `${path}/restore`, { path: "/a.txt" });
  expect([restored.status, file("a.txt"), file("b.txt")]).toEqual([200, "first\nsecond\nthird\n", "new\n"]);
  await call("one", "POST", `${path}/restore`, { call: restored.body.call });
  expect(file("a.txt")).toContain("FIRST");

  const copy = await call("one", "POST", `${path}/copy?checkpoint_id=${first}`);
  expect([copy.status, copy.body.values?.messages ?? [], file("b.txt")]).toEqual([200, [], "new\n"]);
  expect((await call("one", "GET", path)).body.values.messages).toHaveLength(4);

  const alone = await call("one", "POST", `${path}/rewind`, { checkpoint_id: first, files: false });
  expect([alone.body.restored, file("b.txt")]).toEqual([[], "new\n"]);
  await call("one", "POST", `${path}/rewind`, { checkpoint_id: alone.body.previous_id, files: false });

  const rewound = await call("one", "POST", `${path}/rewind`, { checkpoint_id: first });
  expect(rewound.body.restored.map((change: { path: string }) => change.path)).toEqual(["/a.txt", "/b.txt"]);
  expect(file("a.txt")).toBe("first\nsecond\nthird\n");
  expect((await call("one", "GET", path)).body.values?.messages ?? []).toEqual([]);
  await call("one", "POST", `${path}/rewind`, { checkpoint_id: rewound.body.previous_id });
  expect([file("a.txt"), file("b.txt")]).toEqual(["FIRST\nsecond\nthird\n", "new\n"]);
});

test("steps say which files they changed, by which calls, and what was said", async () => {
  const { call, path, first } = await serverFor({ hasRoot: true });
  const { status, body } = await call("one", "GET", `${path}/steps`);
  expect(status).toBe(200);
  expect(body.steps[0]).toMatchObject({ checkpoint_id: first, source: "input", changed_files: [] });
  const changing = body.steps.filter((step: { calls: string[] }) => step.calls.length > 0);
  expect(changing).toMatchObject([{ changed_files: ["/a.txt", "/b.txt"], source: "loop" }]);
  const asked = body.steps.find((step: { summary: string }) => step.summary === "Change it");
  const { body: state } = await call("one", "GET", `${path}/state`);
  expect(asked.message_id).toBe(state.values.messages[0].id);
  expect(state.values.messages[1].tool_calls[0].id).toBe(changing[0].calls[0]);
  expect((await call("one", "GET", `${path}/steps?skip=${body.steps.length - 1}`)).body.steps).toHaveLength(
    1,
  );
  const { body: one } = await call("one", "GET", `${path}/files/diff?from=${first}&path=/b.txt`);
  expect(one.changes).toMatchObject([{ path: "/b.txt", kind: "created" }]);
  const { body: empty } = await call("one", "POST", "/threads");
  expect((await call("one", "GET", `/threads/${empty.thread_id}/steps`)).body).toEqual({ steps: [] });
});

test("another caller finds no thread, unknown checkpoints are not found, and without roots nothing is written", async () => {
  const { call, path, first, file } = await serverFor({ hasRoot: false });
  for (const [method, route, body] of [
    ["POST", "/rewind", { checkpoint_id: first }],
    ["POST", "/restore", { path: "/a.txt" }],
    ["POST", `/copy?checkpoint_id=${first}`, undefined],
    ["GET", "/files/blame?path=/a.txt", undefined],
    ["GET", "/steps", undefined],
  ] as const)
    expect((await call("two", method, `${path}${route}`, body)).status).toBe(404);
  expect((await call("one", "POST", `${path}/rewind`, { checkpoint_id: "nothing" })).status).toBe(404);
  expect((await call("one", "POST", `${path}/copy?checkpoint_id=nothing`)).status).toBe(404);
  expect((await call("one", "POST", `${path}/restore`, {})).status).toBe(400);
  expect((await call("one", "GET", `${path}/files/blame?path=/a.txt`)).status).toBe(501);
  const { body } = await call("one", "POST", `${path}/rewind`, { checkpoint_id: first });
  expect([body.restored, body.not_covered.length]).toEqual([[], 2]);
  expect(file("a.txt")).toContain("FIRST");
});
