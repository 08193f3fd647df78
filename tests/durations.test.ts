/** Every option that is a duration, over the public names: what is no duration is refused by the name of the option. */
import { PostgresSaver } from "@deepwright/checkpoint/postgres";
import { SqliteSaver, SqliteStore } from "@deepwright/checkpoint/sqlite";
import { openMcp } from "@deepwright/mcp";
import { createSandbox } from "@deepwright/sandboxes";
import { agentcoreSandbox } from "@deepwright/sandboxes/agentcore";
import { daytonaSandbox } from "@deepwright/sandboxes/daytona";
import { dockerSandbox } from "@deepwright/sandboxes/docker";
import { e2bSandbox } from "@deepwright/sandboxes/e2b";
import { langsmithSandbox } from "@deepwright/sandboxes/langsmith";
import { modalSandbox } from "@deepwright/sandboxes/modal";
import { osSandbox } from "@deepwright/sandboxes/os";
import { runloopSandbox } from "@deepwright/sandboxes/runloop";
import { createApp, openRecords } from "@deepwright/server";
import { tool } from "@langchain/core/tools";
import {
  createDeepAgent,
  createFilesystemMiddleware,
  createModelRetryMiddleware,
  createSummarizationMiddleware,
  FilesystemBackend,
  LocalShellBackend,
  StateBackend,
} from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";

interface Row {
  readonly option: string;
  /** Gives the option this value and closes what it opened. */
  readonly use: (value: never) => unknown;
  /** Infinity means no limit. */
  readonly unlimited?: true;
  readonly zero?: true;
  /** In the unit of the option. */
  readonly most?: number;
  /** Whoever takes it asks a database that is not there. */
  readonly isOnlyRefused?: true;
}

const DAY = 86_400;
const model = () => scriptedModel([say("hi")]);
const provider = osSandbox();

async function closed(opening: Promise<{ close(): unknown }>): Promise<void> {
  await (await opening).close();
}
const saver = await SqliteSaver.open(":memory:");
const records = await openRecords({ sqlite: ":memory:" });
afterAll(async () => {
  await saver.close();
  await records.close();
});
const app = (options: object) =>
  closed(createApp({ agents: {}, saver, records, store: null, ...options } as never));
const agent = (options: object) => createDeepAgent({ model: model(), ...options } as never);

const CORE: Row[] = [
  { option: "toolTimeout", use: (toolTimeout) => agent({ toolTimeout }), unlimited: true },
  { option: "toolTimeout of one tool", use: (one) => agent({ toolTimeout: { one } }), unlimited: true },
  {
    option: "budget.maxSeconds",
    use: (maxSeconds) => agent({ budget: { maxSeconds } }),
    unlimited: true,
    zero: true,
  },
  {
    option: "threadClaim.ttl",
    use: (ttl) => agent({ threadClaim: { mode: "queue", ttl }, checkpointer: true }),
  },
  {
    option: "maxWait",
    use: (maxWait) => createModelRetryMiddleware({ maxWait }),
    unlimited: true,
    zero: true,
  },
  { option: "firstWait", use: (firstWait) => createModelRetryMiddleware({ firstWait }), zero: true },
  {
    option: "idleTimeout",
    use: (idleTimeout) => createModelRetryMiddleware({ idleTimeout }),
    unlimited: true,
  },
  {
    option: "connectTimeout",
    use: (connectTimeout) => createModelRetryMiddleware({ connectTimeout }),
    unlimited: true,
  },
  {
    option: "summaryTimeout",
    use: (summaryTimeout) =>
      createSummarizationMiddleware({ model: model(), backend: new StateBackend(), summaryTimeout }),
    unlimited: true,
  },
  {
    option: "maxExecuteTimeout",
    use: (maxExecuteTimeout) => createFilesystemMiddleware({ maxExecuteTimeout }),
    unlimited: true,
  },
  {
    option: "searchTimeout",
    use: (searchTimeout) => new FilesystemBackend({ searchTimeout }),
    unlimited: true,
  },
  {
    option: "timeout of LocalShellBackend",
    use: (timeout) => new LocalShellBackend({ timeout }),
    unlimited: true,
  },
];

const STORAGE: Row[] = [
  {
    option: "busyTimeout",
    use: (busyTimeout) => closed(SqliteSaver.open(":memory:", { busyTimeout })),
    zero: true,
  },
  {
    option: "sweepIntervalMinutes",
    use: (sweepIntervalMinutes) => closed(SqliteStore.open(":memory:", { ttl: { sweepIntervalMinutes } })),
  },
  {
    option: "defaultMinutes",
    use: (defaultMinutes) => closed(SqliteStore.open(":memory:", { ttl: { defaultMinutes } })),
  },
  {
    option: "retryFor",
    use: (retryFor) => closed(PostgresSaver.open("postgres://localhost:1/none", { retryFor })),
    isOnlyRefused: true,
    zero: true,
    unlimited: true,
  },
  {
    option: "answerTimeout",
    use: (answerTimeout) => closed(PostgresSaver.open("postgres://localhost:1/none", { answerTimeout })),
    isOnlyRefused: true,
    most: DAY,
  },
  {
    option: "ttl of a claim",
    async use(ttl) {
      await (await saver.claimThread("t", { mode: "queue", ttl })).release();
    },
    most: DAY,
  },
];

const SANDBOXES: Row[] = [
  { option: "ttl", use: (ttl) => createSandbox({ provider, ttl }), unlimited: true },
  { option: "setupTimeout", use: (setupTimeout) => createSandbox({ provider, setupTimeout }) },
  { option: "timeout of osSandbox", use: (timeout) => osSandbox({ timeout }) },
  { option: "cpuSeconds", use: (cpuSeconds) => osSandbox({ limits: { cpuSeconds } }) },
  { option: "ttl of dockerSandbox", use: (ttl) => dockerSandbox({ ttl }) },
  { option: "timeout of dockerSandbox", use: (timeout) => dockerSandbox({ timeout }) },
  { option: "engineTimeout", use: (engineTimeout) => dockerSandbox({ engineTimeout }) },
  { option: "timeout of modalSandbox", use: (timeout) => modalSandbox({ timeout }) },
  { option: "lifetime of modalSandbox", use: (lifetime) => modalSandbox({ lifetime }), most: DAY },
  { option: "idleTimeout of e2bSandbox", use: (idleTimeout) => e2bSandbox({ idleTimeout }), most: DAY },
  { option: "openTimeout of e2bSandbox", use: (openTimeout) => e2bSandbox({ openTimeout }), most: DAY },
  {
    option: "openTimeout of langsmithSandbox",
    use: (openTimeout) => langsmithSandbox({ openTimeout }),
    most: DAY,
  },
  {
    option: "idleTimeout of daytonaSandbox",
    use: (idleTimeout) => daytonaSandbox({ idleTimeout }),
    most: 30 * DAY,
  },
  {
    option: "idleTimeout of runloopSandbox",
    use: (idleTimeout) => runloopSandbox({ idleTimeout }),
    most: 2 * DAY,
  },
  {
    option: "openTimeout of agentcoreSandbox",
    use: (openTimeout) => agentcoreSandbox({ openTimeout }),
    most: DAY,
  },
];

const SERVER: Row[] = [
  { option: "heartbeatMs", use: (heartbeatMs) => app({ heartbeatMs }) },
  { option: "stallMs", use: (stallMs) => app({ stallMs }) },
  { option: "drainMs", use: (drainMs) => app({ drainMs }), zero: true },
  { option: "databaseTimeout", use: (databaseTimeout) => app({ databaseTimeout }), most: DAY },
  { option: "limits.answerMs", use: (answerMs) => app({ limits: { answerMs } }) },
  { option: "limits.readyMs", use: (readyMs) => app({ limits: { readyMs } }) },
  { option: "limits.cronSeconds", use: (cronSeconds) => app({ limits: { cronSeconds } }), zero: true },
  { option: "runs.claimTtl", use: (claimTtl) => app({ runs: { claimTtl } }), most: DAY },
  { option: "runs.runTimeout", use: (runTimeout) => app({ runs: { runTimeout } }), unlimited: true },
  { option: "runs.pollInterval", use: (pollInterval) => app({ runs: { pollInterval } }) },
  { option: "runs.scanInterval", use: (scanInterval) => app({ runs: { scanInterval } }) },
  { option: "runs.cronInterval", use: (cronInterval) => app({ runs: { cronInterval } }) },
  { option: "runs.eventsKept", use: (eventsKept) => app({ runs: { eventsKept } }), zero: true },
  { option: "webhooks.timeoutMs", use: (timeoutMs) => app({ runs: { webhooks: { timeoutMs } } }) },
  {
    option: "webhooks.retryAfterMs",
    use: (pause) => app({ runs: { webhooks: { retryAfterMs: [1_000, pause] } } }),
    zero: true,
  },
  { option: "lookEvery", use: (lookEvery) => closed(openRecords({ sqlite: ":memory:" }, { lookEvery })) },
  {
    option: "startTimeout of openMcp",
    use: (startTimeout) => closed(openMcp({ startTimeout } as never)),
    most: DAY,
  },
];

describe.each([
  ["the core", CORE],
  ["storage", STORAGE],
  ["sandboxes", SANDBOXES],
  ["the server", SERVER],
] as const)("durations of %s", (_, rows) => {
  test.each(rows)("$option", async ({ use, unlimited, zero, most, isOnlyRefused }) => {
    const refused = [Number.NaN, -1, Number.NEGATIVE_INFINITY, "5", 1e300, ...(zero ? [] : [0, -0])];
    if (!unlimited) refused.push(Number.POSITIVE_INFINITY);
    if (most !== undefined) refused.push(most * 1.01, 3e9);
    for (const value of refused) {
      const outcome = await (async () => use(value as never))().then(
        () => "taken",
        (error) => error.code ?? error,
      );
      expect([value, outcome]).toEqual([value, "INVALID_OPTION"]);
    }
    if (isOnlyRefused) return;
    await use((most ?? 3e9) as never);
    if (unlimited) await use(Number.POSITIVE_INFINITY as never);
  });
});

const LONG = 3e9;

test("limits of 3e9 end no run, no tool and no command at once", async () => {
  const slow = tool(() => new Promise<string>((done) => setTimeout(done, 20, "done")), {
    name: "slow",
    description: "Waits.",
    schema: z.object({}),
  });
  const backend = new LocalShellBackend({ timeout: LONG, searchTimeout: LONG });
  const made = createDeepAgent({
    model: scriptedModel([
      callTool("slow", {}),
      callTool("execute", { command: "sleep 0.05; echo ran" }),
      say("hi"),
    ]),
    tools: [slow],
    backend,
    toolTimeout: LONG,
    budget: { maxSeconds: LONG },
    middleware: [createModelRetryMiddleware({ idleTimeout: LONG, connectTimeout: LONG })],
  });
  const { messages } = await made.invoke({ messages: [{ role: "user", content: "go" }] });
  const text = messages.map((message) => message.text).join("\n");
  expect(text).toContain("done");
  expect(text).toContain("ran");
});

test("a server with times of 3e9 answers, and its runs end with success", async () => {
  const served = await createApp({
    agents: { agent: createDeepAgent({ model: scriptedModel(() => say("hi")) }) },
    limits: { answerMs: LONG, readyMs: LONG },
    heartbeatMs: LONG,
    stallMs: LONG,
    runs: { runTimeout: LONG, pollInterval: LONG, scanInterval: LONG, cronInterval: LONG },
  });
  const call = (path: string, body?: object) =>
    served.fetch(
      new Request(`http://localhost${path}`, {
        headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      }),
    );
  expect((await call("/ready")).status).toBe(200);
  const input = { messages: [{ role: "user", content: "go" }] };
  const streamed = await call("/runs/stream", { assistant_id: "agent", input });
  expect(streamed.status).toBe(200);
  const events = await streamed.text();
  expect(events).toContain("hi");
  expect(events).not.toContain("RunTimeout");
  expect(events.match(/^:/gm)?.length ?? 0).toBeLessThan(10);
  await served.close();
});
