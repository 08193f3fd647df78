/** PAINS 22 and 45 over HTTP, while workers are killed all the time. */
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { startTask } from "../runs/background-agents-for-tests.ts";
import { openThread, startApi, startWorker } from "./task-workers-for-tests.ts";

const ROUNDS = sized(3, 20);
const STEERS = sized(10, 50);
const TASKS = 16;
const AT_ONCE = 3;

/** Kills one of them, whichever, and starts another; until told to stop. */
function killing(workers: ChildProcess[], database: string): () => Promise<void> {
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      await new Promise((go) => setTimeout(go, Math.random() * 1_500));
      const [victim] = workers.splice(Math.floor(Math.random() * workers.length), 1);
      victim?.kill("SIGKILL");
      workers.push(await startWorker(database));
    }
  })();
  return () => {
    isOver = true;
    return done;
  };
}

test(
  "PAINS 22: of sixteen tasks that end in one tick each is told once, round after round, while workers are killed",
  async () => {
    const { api, database } = await startApi(undefined);
    const workers = await Promise.all([1, 2].map(() => startWorker(database)));
    const round = async (number: number): Promise<void> => {
      const go = join(api.directory, `go-${number}`);
      const thread = await openThread(api);
      await thread.say(
        Array.from({ length: TASKS }, (_, index) => startTask(`wait ${go} ${index}`)).join("\n"),
      );
      const tasks = await thread.tasks();
      expect(tasks).toHaveLength(TASKS);
      expect((await api.call("GET", `/threads/${thread.thread_id}`)).body.open_tasks).toBe(TASKS);
      writeFileSync(go, "");
      await expect.poll(() => thread.isAtRest(), { interval: 200 }).toBe(true);
      const news = await thread.news();
      expect(news.toSorted()).toEqual(
        tasks
          .map(
            ({ taskId }) =>
              `[Background task ${taskId} ('helper') is done. \`check_async_task\` tells more.]`,
          )
          .toSorted(),
      );
      expect((await thread.tasks()).map(({ status }) => status)).toEqual(Array(TASKS).fill("success"));
    };
    const stop = killing(workers, database);
    for (let first = 0; first < ROUNDS; first += AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, ROUNDS - first) }, (_, index) => round(first + index)),
      );
    await stop();
  },
  600_000 + ROUNDS * 30_000,
);

test("PAINS 45: every message to a run at work, and every one to follow it, is in the thread once and in order, while workers are killed", async () => {
  const { api, database } = await startApi(undefined);
  const workers = await Promise.all([1, 2].map(() => startWorker(database)));
  const go = join(api.directory, "go");
  const thread = await openThread(api);
  const path = `/threads/${thread.thread_id}`;
  await api.call("POST", `${path}/runs`, {
    assistant_id: "walker",
    input: { messages: [{ role: "user", content: `walk ${go}` }] },
  });
  const stop = killing(workers, database);
  const steers: string[] = [];
  const follows: string[] = [];
  for (let index = 0; index < STEERS; index += 1) {
    const isSteer = index % 5 !== 4;
    const id = `message-${index}`;
    (isSteer ? steers : follows).push(id);
    const kind = isSteer ? "steer" : "follow-up";
    const send = () => api.call("POST", `${path}/messages`, { kind, id, content: id });
    expect((await send()).status).toBe(200);
    // A client that did not see the answer asks again.
    if (index % 3 === 0) expect((await send()).status).toBe(200);
    await new Promise((again) => setTimeout(again, Math.random() * 400));
  }
  const stored = async () => (await thread.messages()).map(({ id }) => id);
  await expect.poll(async () => (await stored()).filter((id) => steers.includes(id))).toEqual(steers);
  await stop();
  expect((await api.call("GET", path)).body.status).toBe("busy");
  writeFileSync(go, "");
  await expect.poll(() => thread.isAtRest()).toBe(true);
  const ids = await stored();
  expect(ids.filter((id) => steers.includes(id))).toEqual(steers);
  expect(ids.filter((id) => follows.includes(id))).toEqual(follows);
  expect(ids.indexOf(follows[0] ?? "")).toBeGreaterThan(ids.indexOf(steers.at(-1) ?? ""));
});
