/** Agents that tell another server of the end of their task, however it ends. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createCompletionCallbackMiddleware } from "deepwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterThisTest } from "../../../../../scripts/test-cleanups.mjs";
import { until } from "../../../../../scripts/test-time.ts";
import { openThread } from "../../http/task-workers-for-tests.ts";
import { PROMPT, startServer, type TestServer, TOKEN } from "../../server-for-tests.ts";
import { backgroundAgents, helperAgent, startTask } from "../background-agents-for-tests.ts";
import { scratchDirectory } from "../service-for-tests.ts";

const headers = { authorization: `Bearer ${TOKEN}` };
const place = scratchDirectory();
const NEVER = `wait ${join(place, "never")}`;

interface Pair {
  boss: TestServer;
  readonly far: TestServer;
}

/** Tasks that may be looked at. */
const lookable = new Set<string>();

const startBoss = (far: TestServer, port: number) =>
  startServer({
    agents: backgroundAgents(far.url),
    runs: PROMPT,
    port,
    database: join(place, `boss-${port}.db`),
  });

/** Refuses looks at a task for now, so that its starter learns of the end only by being notified. */
async function openPair(runs: { readonly runTimeout?: number } = {}): Promise<Pair> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const tells = () => createCompletionCallbackMiddleware({ callbackGraphId: "boss", url, headers });
  const far = await startServer({
    agents: { ...backgroundAgents(), teller: () => helperAgent([tells() as never]) },
    runs: { ...PROMPT, ...runs },
    onError: (error) => {
      if (!String(error).includes("the model is gone")) console.error(error);
    },
    authenticate: ({ method, url }) =>
      method === "GET" && ![...lookable].some((taskId) => url.includes(taskId))
        ? undefined
        : { identity: "far" },
  });
  return { far, boss: await startBoss(far, port) };
}

/** One that nobody has at the moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function close({ boss, far }: Pair): Promise<void> {
  await boss.close();
  await far.close();
}

let pair: Pair;
beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => close(pair));

async function started(order: string, { boss }: Pair = pair) {
  const thread = await openThread(boss);
  await thread.say(startTask(order, "far-teller"));
  const [task] = await thread.tasks();
  expect(task).toBeDefined();
  return { thread, task: task! };
}

async function expectReportedOnce({ thread, task }: Awaited<ReturnType<typeof started>>, words: string) {
  await until(async () => (await thread.news()).length > 0);
  // Seeing the end too does not tell it again.
  lookable.add(task.taskId);
  await until(() => thread.isAtRest());
  const news = await thread.news();
  expect(news).toHaveLength(1);
  expect(news[0]).toContain(`${task.taskId} ${words}`);
}

test.each([
  ["quick", "is done"],
  ["fail", "has failed"],
  ["ask", "waits for a person's decision"],
])("a task given as '%s' is told of once: it %s", async (order, words) => {
  await expectReportedOnce(await started(order), words);
});

test("a task that runs out of time is told of once", async () => {
  const hasty = await openPair({ runTimeout: 1 });
  afterThisTest(() => close(hasty));
  await expectReportedOnce(await started(NEVER, hasty), "has run out of time");
});

test("a task that a client stops, or whose thread is deleted, is told of", async () => {
  const { far } = pair;
  const first = await started(NEVER);
  await far.call("POST", `/threads/${first.task.taskId}/runs/${first.task.runId}/cancel`);
  await until(async () => (await first.thread.news()).length === 1);
  expect((await first.thread.news())[0]).toContain("was cancelled");
  const second = await started(NEVER);
  await far.call("DELETE", `/threads/${second.task.taskId}`);
  await until(async () => (await second.thread.news()).length === 1);
  expect((await second.thread.news())[0]).toContain("was cancelled");
});

test("a task that ends while nobody can be told is told of when somebody can", async () => {
  const go = join(place, "go");
  const { task, thread } = await started(`wait ${go}`);
  const { far, boss } = pair;
  const port = Number(new URL(boss.url).port);
  await boss.close();
  writeFileSync(go, "");
  const { runs } = far.app.storage.records;
  await until(async () => (await runs.get("far", task.runId))?.status === "success");
  await new Promise((later) => setTimeout(later, 1_000));
  pair.boss = await startBoss(far, port);
  await until(async () => (await thread.news()).length > 0);
  await new Promise((later) => setTimeout(later, 1_000));
  expect(await thread.news()).toHaveLength(1);
});
