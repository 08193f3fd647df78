/** SV-06 over a port: a run or a change from a checkpoint that the thread does not have. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";

const NOWHERE = "1f000000-0000-6000-8000-000000000000";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    authenticate: ({ headers }) => ({ identity: headers.get("x-api-key") ?? "nobody" }),
  });
});
afterAll(() => server.close());

const says = (content: string) => ({ messages: [{ role: "user", content }] });

function as(name: string) {
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { "x-api-key": name });
  return {
    call,
    /** A thread that has said `first`, and where it stands. */
    async talk(first: string) {
      const { thread_id: thread } = (await call("POST", "/threads", {})).body;
      await call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "echo", input: says(first) });
      const { body } = await call("GET", `/threads/${thread}/state`);
      return { thread, checkpoint: body.checkpoint.checkpoint_id as string };
    },
    async texts(thread: string): Promise<string[]> {
      const { body } = await call("GET", `/threads/${thread}/state`);
      return body.values.messages.map(({ content }: { content: string }) => content);
    },
  };
}

const PLACES = [
  ["by its id", (id: string) => ({ checkpoint_id: id })],
  ["as a place", (id: string) => ({ checkpoint: { checkpoint_id: id, checkpoint_ns: "" } })],
] as const;

describe.each(PLACES)("SV-06 a checkpoint that is named %s", (_, named) => {
  test.each([
    ["is not there", async () => NOWHERE],
    ["is of another thread", async () => (await as("bob").talk("elsewhere")).checkpoint],
    ["is of another caller", async () => (await as("alice").talk("hers")).checkpoint],
  ])("and %s is 404, and the thread stays as it was", async (_, choose) => {
    const bob = as("bob");
    const { thread } = await bob.talk("one");
    const place = named(await choose());
    const run = { assistant_id: "echo", input: says("two"), ...place };
    for (const path of ["runs", "runs/wait", "runs/stream"])
      expect(await bob.call("POST", `/threads/${thread}/${path}`, run)).toMatchObject({
        status: 404,
        body: { code: "NOT_FOUND", message: "There is no such checkpoint." },
      });
    const change = { values: says("two"), ...place };
    expect(await bob.call("POST", `/threads/${thread}/state`, change)).toMatchObject({ status: 404 });
    const cron = { ...run, schedule: "0 0 1 1 *" };
    expect(await bob.call("POST", `/threads/${thread}/runs/crons`, cron)).toMatchObject({ status: 404 });
    expect(await bob.texts(thread)).toEqual(["one", "echo: one"]);
  });

  test("is gone on from when the thread has it", async () => {
    const bob = as("bob");
    const { thread, checkpoint } = await bob.talk("one");
    const run = { assistant_id: "echo", input: says("two") };
    await bob.call("POST", `/threads/${thread}/runs/wait`, run);
    const again = { ...run, input: says("three"), ...named(checkpoint) };
    expect(await bob.call("POST", `/threads/${thread}/runs/wait`, again)).toMatchObject({ status: 200 });
    expect(await bob.texts(thread)).toEqual(["one", "echo: one", "three", "echo: three"]);
  });
});

test("a run that names a checkpoint has no thread made for it", async () => {
  const carol = as("carol");
  const run = { assistant_id: "echo", input: says("hi"), checkpoint_id: NOWHERE };
  expect(await carol.call("POST", "/runs", run)).toMatchObject({ status: 404 });
  const made = { ...run, if_not_exists: "create" };
  expect(await carol.call("POST", "/threads/new/runs", made)).toMatchObject({ status: 404 });
  expect(await carol.call("POST", "/runs/crons", { ...run, schedule: "0 0 1 1 *" })).toMatchObject({
    status: 404,
  });
  expect((await carol.call("POST", "/threads/count", {})).body).toBe(0);
});
