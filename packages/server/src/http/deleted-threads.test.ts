/** A thread that is removed leaves nothing to whoever takes its id. */
import { afterEach, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test("a fault while a thread is removed leaves it to its owner, who can ask again; the next one finds nothing", async () => {
  server = await startServer({
    authenticate: (request) => ({ identity: request.headers.get("x-who") ?? "nobody" }),
    onError: () => {},
  });
  const { call, app } = server;
  const as = (who: string) => (method: string, path: string, body?: unknown) =>
    call(method, path, body, { "x-who": who });
  const [alice, bob] = [as("alice"), as("bob")];
  const input = { messages: [{ role: "user", content: "my secret" }] };
  await alice("POST", "/threads", { thread_id: "support" });
  await alice("POST", "/threads/support/runs/wait", { assistant_id: "echo", input });
  const { saver, records } = app.storage;
  for (const [place, method] of [
    [records.threads, "retire"],
    [saver, "deleteThread"],
    [records.threads, "drop"],
  ] as const) {
    const restore = failing(place, method);
    expect((await alice("DELETE", "/threads/support")).status).toBe(500);
    restore();
    expect((await bob("POST", "/threads", { thread_id: "support" })).status).toBe(409);
  }
  expect((await alice("DELETE", "/threads/support")).status).toBe(204);
  expect((await alice("GET", "/threads/support")).status).toBe(404);
  await bob("POST", "/threads", { thread_id: "support", metadata: { graph_id: "echo" } });
  const { body } = await bob("GET", "/threads/support/state");
  expect(body.values.messages ?? []).toEqual([]);
  expect((await bob("POST", "/threads/support/history", {})).body).toEqual([]);
});

/** Has a method throw, as when storage is away. Returns how to put it back. */
function failing(target: object, method: string): () => void {
  const methods = target as Record<string, unknown>;
  const own = Object.hasOwn(methods, method) ? methods[method] : undefined;
  methods[method] = async () => {
    throw new Error("storage is away");
  };
  return () => {
    if (own === undefined) delete methods[method];
    else methods[method] = own;
  };
}
