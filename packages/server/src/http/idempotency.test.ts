/** R-11 beyond a run on a thread: what a repeated request leaves behind, and which requests have keys. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ limits: { runs: { burst: 10_000, perSecond: 10_000 } } });
});
afterAll(() => server.close());

const run = (content: string, more: object = {}) => ({
  assistant_id: "echo",
  input: { messages: [{ role: "user", content }] },
  ...more,
});
const withKey = (key: string) => ({ "idempotency-key": key });
const newThread = async (): Promise<string> => (await server.call("POST", "/threads", {})).body.thread_id;
const threads = async (): Promise<number> => (await server.call("POST", "/threads/count", {})).body;
const joined = (thread: string, id: string) => server.call("GET", `/threads/${thread}/runs/${id}/join`);

/** A thread that waits, and the id of what it waits for. */
async function asking() {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs/wait`, run("ask"));
  const { body: waiting } = await server.call("GET", `/threads/${thread}/interrupts`);
  return { thread, id: waiting[0].id as string };
}

const APPROVED = { decisions: [{ type: "approve" }] };

describe("R-11 a run without a thread", () => {
  test("that is asked for again and again leaves one thread", async () => {
    const before = await threads();
    const begin = () => server.call("POST", "/runs", run("one", { on_completion: "keep" }), withKey("lone"));
    const answers = [await begin(), await begin(), ...(await Promise.all([begin(), begin(), begin()]))];
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect(await threads()).toBe(before + 1);
  });

  test("that comes many times at once leaves one thread", async () => {
    const before = await threads();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => server.call("POST", "/runs", run("one"), withKey("at-once"))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect(await threads()).toBe(before + 1);
  });
});

describe("R-11 an answer under a key", () => {
  test("that is refused is refused again, and no run is named that is not there", async () => {
    const { thread, id } = await asking();
    const first = await server.call("POST", `/threads/${thread}/interrupts/${id}`, { value: APPROVED });
    await joined(thread, first.body.run_id);
    const late = { assistant_id: "echo", command: { resume: APPROVED } };
    for (let times = 0; times < 3; times += 1)
      expect(await server.call("POST", `/threads/${thread}/runs`, late, withKey("late"))).toMatchObject({
        status: 409,
        body: { code: "NOTHING_TO_RESUME" },
      });
    expect((await server.call("GET", `/threads/${thread}/runs`)).body).toHaveLength(2);
  });

  test("by the id of what waits is the same run when it comes again", async () => {
    const { thread, id } = await asking();
    const answer = (value: unknown) =>
      server.call("POST", `/threads/${thread}/interrupts/${id}`, { value }, withKey("answer"));
    const [first, beside] = await Promise.all([answer(APPROVED), answer(APPROVED)]);
    await joined(thread, first.body.run_id);
    const again = await answer(APPROVED);
    expect([first.status, beside.status, again.status]).toEqual([200, 200, 200]);
    expect([beside.body.run_id, again.body.run_id]).toEqual([first.body.run_id, first.body.run_id]);
    expect(await answer({ decisions: [{ type: "reject" }] })).toMatchObject({
      status: 422,
      body: { code: "KEY_REUSED" },
    });
  });
});

describe("R-11 a batch", () => {
  const batch = (...texts: string[]) => texts.map((text) => run(text, { on_completion: "keep" }));
  const idsOf = (answer: { body: { run_id: string }[] }) => answer.body.map(({ run_id }) => run_id);

  test("under a key is begun once; with another run in it the key is used up", async () => {
    const before = await threads();
    const begin = (...texts: string[]) =>
      server.call("POST", "/runs/batch", batch(...texts), withKey("batch"));
    const first = await begin("a", "b", "c");
    expect(new Set(idsOf(first)).size).toBe(3);
    expect(idsOf(await begin("a", "b", "c"))).toEqual(idsOf(first));
    for (const other of [
      ["a", "b"],
      ["a", "b", "c", "d"],
      ["c", "b", "a"],
    ])
      expect(await begin(...other)).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
    expect(await threads()).toBe(before + 3);
  });

  test("of which one cannot begin begins none", async () => {
    const before = await threads();
    for (const wrong of [
      { webhook: "http://127.0.0.1/" },
      { checkpoint_id: "1f000000-0000-6000-8000-000000000000" },
      { command: { resume: true } },
    ]) {
      const answer = await server.call("POST", "/runs/batch", [...batch("a", "b"), run("c", wrong)]);
      expect(answer.status, JSON.stringify(wrong)).toBeGreaterThanOrEqual(400);
    }
    expect(await threads()).toBe(before);
  });
});

test("R-11 a follow-up with a known id is the same one, whatever runs had other settings meanwhile", async () => {
  const thread = await newThread();
  await server.call("POST", `/threads/${thread}/runs/wait`, run("one"));
  const post = (content: string) =>
    server.call("POST", `/threads/${thread}/messages`, { kind: "follow-up", id: "letter", content });
  const first = await post("two");
  await server.call("POST", `/threads/${thread}/runs/wait`, run("three", { stream_mode: ["updates"] }));
  expect(await post("two")).toMatchObject({ status: 200, body: { run_id: first.body.run_id } });
  expect(await post("other words")).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
  const { body } = await server.call("GET", `/threads/${thread}/state`);
  expect(body.values.messages.filter(({ content }: { content: string }) => content === "two")).toHaveLength(
    1,
  );
});
