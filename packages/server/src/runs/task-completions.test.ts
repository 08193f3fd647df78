/** Agents that tell another server of the end of their task, however it ends. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createCompletionCallbackMiddleware } from "deepwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openThread } from "../http/task-workers-for-tests.ts";
import { QUICK, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { backgroundAgents, helperAgent, startTask } from "./background-agents-for-tests.ts";
import { scratchDirectory, until } from "./service-for-tests.ts";

const headers = { authorization: `Bearer ${TOKEN}` };
/** Sooner than who starts such a task looks for its end. */
const SOON_MS = 14_000;
let boss: TestServer;
let far: TestServer;
const place = scratchDirectory();

const startBoss = (port: number) =>
  startServer({ agents: backgroundAgents(far.url), runs: QUICK, port, database: join(place, "boss.db") });

/** One that nobody has at the moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

beforeAll(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const tells = () => createCompletionCallbackMiddleware({ callbackGraphId: "boss", url, headers });
  far = await startServer({
    agents: { ...backgroundAgents(), teller: () => helperAgent([tells() as never]) },
    runs: { ...QUICK, runTimeout: 5 },
  });
  boss = await startBoss(port);
});
afterAll(async () => {
  await boss.close();
  await far.close();
});

async function started(order: string) {
  const thread = await openThread(boss);
  await thread.say(startTask(order, "far-teller"));
  const [task] = await thread.tasks();
  expect(task).toBeDefined();
  return { thread, task: task! };
}

test.each([
  ["quick", "is done"],
  ["fail", "has failed"],
  [`wait ${join(place, "never")}`, "has run out of time"],
  ["ask", "waits for a person's decision"],
])(
  "a task given as '%s' is told of once, and soon: it %s",
  async (order, words) => {
    const { thread, task } = await started(order);
    await until(async () => (await thread.news()).length > 0, SOON_MS);
    await until(() => thread.isAtRest());
    const news = await thread.news();
    expect(news).toHaveLength(1);
    expect(news[0]).toContain(`${task.taskId} ${words}`);
  },
  30_000,
);

test("a task that a client stops, or whose thread is deleted, is told of", async () => {
  const first = await started(`wait ${join(place, "never")}`);
  await far.call("POST", `/threads/${first.task.taskId}/runs/${first.task.runId}/cancel`);
  await until(async () => (await first.thread.news()).length === 1, SOON_MS);
  expect((await first.thread.news())[0]).toContain("was cancelled");
  const second = await started(`wait ${join(place, "never")}`);
  await far.call("DELETE", `/threads/${second.task.taskId}`);
  await until(async () => (await second.thread.news()).length === 1, SOON_MS);
  expect((await second.thread.news())[0]).toContain("was cancelled");
}, 60_000);

test("a task that ends while nobody can be told is told of when somebody can", async () => {
  const go = join(place, "go");
  const { task, thread } = await started(`wait ${go}`);
  const port = Number(new URL(boss.url).port);
  await boss.close();
  writeFileSync(go, "");
  const status = async () =>
    (await far.call("GET", `/threads/${task.taskId}/runs/${task.runId}`)).body.status;
  await until(async () => (await status()) === "success");
  await new Promise((later) => setTimeout(later, 1_500));
  boss = await startBoss(port);
  await until(async () => (await thread.news()).length > 0, 30_000);
  await new Promise((later) => setTimeout(later, 2_000));
  expect(await thread.news()).toHaveLength(1);
}, 60_000);
