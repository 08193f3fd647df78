/** Routes beyond those of LangGraph's server: messages to a run at work, answers by id, files, idempotency. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mailSeen } from "../runs/service-for-tests.ts";
import { PROMPT, startServer, type TestServer } from "../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ runs: PROMPT });
});
afterAll(() => server.close());

const say = (content: string) => ({ assistant_id: "echo", input: { messages: [{ role: "user", content }] } });

async function newThread(): Promise<string> {
  return (await server.call("POST", "/threads")).body.thread_id;
}

const textsOf = (values: { messages: { type: string; content: string }[] }) =>
  values.messages.filter(({ type }) => type === "human").map(({ content }) => content);

test("a message to a run at work is read before its next model call", async () => {
  const thread = await newThread();
  const go = join(server.directory, "go");
  const { body: run } = await server.call("POST", `/threads/${thread}/runs`, say(`hold ${go}`));
  const path = `/threads/${thread}/messages`;
  const message = { kind: "steer", content: "and quickly", id: "m1" };
  // The tool is at work: what the run began with has been read.
  await expect
    .poll(async () => (await server.call("GET", `/threads/${thread}/state`)).body.next)
    .toContain("tools");
  const posted = await server.call("POST", path, message);
  expect(posted.body).toEqual({ id: "m1", kind: "steer", run_id: run.run_id });
  expect((await server.call("POST", path, message)).status).toBe(200);
  await mailSeen(server.app.storage);
  writeFileSync(go, "");
  const { body: values } = await server.call("GET", `/threads/${thread}/runs/${run.run_id}/join`);
  expect(textsOf(values)).toEqual([`hold ${go}`, "and quickly"]);
  expect((await server.call("GET", `/threads/${thread}/runs`)).body).toHaveLength(1);
});

test("a follow-up begins its own turn, once", async () => {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs`, say("wait 200"));
  const message = { kind: "follow-up", content: "then this", id: "m2" };
  const first = await server.call("POST", `/threads/${thread}/messages`, message);
  const again = await server.call("POST", `/threads/${thread}/messages`, message);
  expect(again.body).toEqual(first.body);
  const { body: values } = await server.call("GET", `/threads/${thread}/runs/${first.body.run_id}/join`);
  expect(textsOf(values)).toEqual(["wait 200", "then this"]);
});

test("a message is of the user, whatever it says it is", async () => {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs/wait`, say("hi"));
  const post = (body: object) => server.call("POST", `/threads/${thread}/messages`, body);
  expect((await post({ kind: "completion", content: "x" })).status).toBe(400);
  expect((await post({ kind: "steer", content: [{ type: "tool_result", content: "x" }] })).status).toBe(400);
  expect((await post({ kind: "steer", content: "" })).status).toBe(400);
  const { body } = await post({ kind: "steer", content: "say so", role: "system" } as object);
  await server.call("GET", `/threads/${thread}/runs/${body.run_id}/join`);
  const { body: state } = await server.call("GET", `/threads/${thread}/state`);
  expect(textsOf(state.values)).toContain("say so");
});

test("an interrupt is answered by its id, once", async () => {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs/wait`, say("ask"));
  const { body: waiting } = await server.call("GET", `/threads/${thread}/interrupts`);
  expect(waiting).toMatchObject([{ id: expect.any(String), value: { actionRequests: [{ name: "ask" }] } }]);
  const answer = { value: { decisions: [{ type: "approve" }] } };
  const path = `/threads/${thread}/interrupts`;
  expect((await server.call("POST", `${path}/00000000000000000000000000000000`, answer)).status).toBe(409);
  expect((await server.call("POST", `${path}/${waiting[0].id}`, {})).status).toBe(400);
  const { body: run } = await server.call("POST", `${path}/${waiting[0].id}`, answer);
  const second = await server.call("POST", `${path}/${waiting[0].id}`, answer);
  expect(second.status).toBe(409);
  const { body: values } = await server.call("GET", `/threads/${thread}/runs/${run.run_id}/join`);
  expect(values.messages.at(-1).content).toBe("done: asked");
  expect((await server.call("GET", path)).body).toEqual([]);
});

test("files are listed, read and compared, now and as they were", async () => {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs/wait`, say("write /a.txt one"));
  const { body: before } = await server.call("GET", `/threads/${thread}/state`);
  await server.call("POST", `/threads/${thread}/runs/wait`, say("write /b/c.txt grüße"));
  const path = `/threads/${thread}/files`;
  const listed = async (query = "") =>
    (await server.call("GET", `${path}${query}`)).body.files.map((file: { path: string; size: number }) => [
      file.path,
      file.size,
    ]);
  expect(await listed()).toEqual([
    ["/a.txt", 3],
    ["/b/c.txt", 7],
  ]);
  expect(await listed("?path=/b")).toEqual([["/b/c.txt", 7]]);
  const then = before.checkpoint.checkpoint_id;
  expect(await listed(`?checkpoint_id=${then}`)).toEqual([["/a.txt", 3]]);
  expect((await server.call("GET", `${path}/content?path=/b/c.txt`)).body).toBe("grüße");
  expect((await server.call("GET", `${path}/content?path=/b/c.txt&checkpoint_id=${then}`)).status).toBe(404);
  const { body: diff } = await server.call("GET", `${path}/diff?from=${then}`);
  expect(diff.changes).toMatchObject([
    { path: "/b/c.txt", kind: "created", patch: expect.stringContaining("+grüße") },
  ]);
  expect((await server.call("GET", `${path}/diff?from=nothing`)).status).toBe(404);
  expect((await server.call("GET", `/threads/${await newThread()}/files/diff`)).body).toEqual({
    changes: [],
  });
});

test("the same key begins one run, with other words it is refused", async () => {
  const thread = await newThread();
  const begin = (content: string, key: string) =>
    server.call("POST", `/threads/${thread}/runs`, say(content), { "idempotency-key": key });
  const answers = await Promise.all(Array.from({ length: 5 }, () => begin("hi", "k1")));
  expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
  expect((await begin("other", "k1")).status).toBe(422);
  expect((await begin("hi", "with space")).status).toBe(400);
  expect((await server.call("GET", `/threads/${thread}/runs`)).body).toHaveLength(1);
});
