/** Runs on a Postgres whose connections die without a word. */
import { expect, onTestFinished, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { eventually } from "../../../../../scripts/test-time.ts";
import { type FaultyProxy, faultyProxy } from "../../../../checkpoint/src/test-support/faulty-proxy.ts";
import { testDatabase } from "../../../../checkpoint/src/test-support/postgres.ts";
import { PROMPT, startServer } from "../../server-for-tests.ts";

/** The default in the long form. */
const DATABASE_SECONDS = sized(1, 25);
const RUNS = 8;
const FAULTS = sized(1, 5);

const faults: Record<string, (proxy: FaultyProxy) => void> = {
  "lose their answers": (proxy) => proxy.swallow(),
  "are reset": (proxy) => proxy.reset(),
  "end towards the server": (proxy) => proxy.halfClose("client"),
  "end towards Postgres": (proxy) => proxy.halfClose("postgres"),
};

test.each(Object.entries(faults))("runs that were accepted end well when connections %s", async (_, fail) => {
  const database = await testDatabase();
  onTestFinished(() => database.drop());
  const proxy = await faultyProxy(database.url);
  onTestFinished(() => proxy.close());
  const server = await startServer({
    database: proxy.url,
    databaseTimeout: DATABASE_SECONDS,
    runs: { ...PROMPT, claimTtl: 5, maxAttempts: 100 },
    onError: () => {},
  });
  onTestFinished(() => server.close());
  const body = {
    assistant_id: "echo",
    input: { messages: [{ role: "user", content: "wait 300" }] },
    if_not_exists: "create",
  };
  const threads = Array.from({ length: RUNS }, (_each, index) => `t${index}`);
  for (const thread of threads)
    expect((await server.call("POST", `/threads/${thread}/runs`, body)).status).toBe(200);
  for (let fault = 0; fault < FAULTS; fault += 1) {
    expect(proxy.open).toBeGreaterThan(0);
    fail(proxy);
    expect((await server.call("GET", "/ok")).status).toBe(200);
    await eventually(async () => expect((await server.call("GET", "/ready")).status).toBe(200));
  }
  for (const thread of threads)
    await eventually(async () => {
      const { body: runs } = await server.call("GET", `/threads/${thread}/runs`);
      expect(runs).toMatchObject([{ status: "success" }]);
    });
});
