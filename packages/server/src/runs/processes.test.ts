/** Workers that die, stop or sleep: real processes on one file, their runs begun and read over HTTP at another. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type StreamedEvent } from "@deepwright/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { bundleProgram, SQLITE_WORKER, type WorkerProgram } from "../../../checkpoint/src/chaos/program.ts";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { countingAgent } from "./counting-agent-for-tests.ts";

let program: WorkerProgram;
const children: ChildProcess[] = [];

/** Bundled: from source each would take a second of a processor longer to start. */
beforeAll(async () => {
  program = await bundleProgram({
    "worker-program": new URL("./worker-program-for-tests.ts", import.meta.url),
    "records/service": new URL("../records/service.ts", import.meta.url),
    "sqlite/worker": SQLITE_WORKER,
  });
});

afterAll(() => rm(program.directory, { recursive: true, force: true }));

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Seconds. Of a worker that is to lose its runs, and of one that is to keep them however slow the machine is. */
const [SHORT_CLAIM, LONG_CLAIM] = [2, 60];

async function startWorker(
  { directory }: TestServer,
  mode: string,
  claimTtl = SHORT_CLAIM,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program.file, directory, mode, String(claimTtl)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
  return child;
}

async function lifeOf(worker: ChildProcess): Promise<void> {
  if (worker.exitCode === null && worker.signalCode === null) await once(worker, "exit");
}

const lines = ({ directory }: TestServer, thread: string): number[] => {
  const file = join(directory, `${thread}.log`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
};

/** Not in the middle of a transaction: then it would hold the file itself, and nobody could do anything. */
async function stopAtRest({ app }: TestServer, worker: ChildProcess): Promise<void> {
  const { saver, records } = app.storage;
  for (let attempt = 0; ; attempt += 1) {
    worker.kill("SIGSTOP");
    const write = async () => {
      await (await saver.claimThread(`probe-${attempt}`, { mode: "refuse" })).release();
      await records.mail.post("local", "t1", {
        id: `probe-${attempt}`,
        kind: "completion",
        message: "probe",
      });
      await records.mail.settle("t1", [`probe-${attempt}`]);
      return true;
    };
    const pause = new Promise<boolean>((done) => setTimeout(() => done(false), 3_000));
    if (await Promise.race([write(), pause])) return;
    worker.kill("SIGCONT");
    await new Promise((go) => setTimeout(go, 30));
  }
}

const TEN = Array.from({ length: 10 }, (_, index) => index + 1);

/** Begins runs and executes none. */
async function openApi(): Promise<TestServer> {
  const api = await startServer({ agents: { agent: () => countingAgent("", "fast") }, role: "api" });
  onTestFinished(() => api.close());
  return api;
}

async function begin(api: TestServer, thread: string, more: object = {}): Promise<string> {
  const { status, body } = await api.call("POST", `/threads/${thread}/runs`, {
    assistant_id: "agent",
    input: { messages: [{ role: "user", content: "go" }] },
    stream_mode: "updates",
    if_not_exists: "create",
    ...more,
  });
  expect(status).toBe(200);
  return body.run_id;
}

const statusOf = async (api: TestServer, thread: string, run: string): Promise<string> =>
  (await api.call("GET", `/threads/${thread}/runs/${run}`)).body.status;

async function textsOf(api: TestServer, thread: string): Promise<string[]> {
  const { body } = await api.call("GET", `/threads/${thread}/state`);
  return body.values.messages.map(({ content }: { content: string }) => content);
}

async function eventsOf(api: TestServer, thread: string, run: string): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  const client = createClient({ baseUrl: api.url, token: TOKEN });
  for await (const event of client.runs.joinStream(thread, run)) events.push(event);
  return events;
}

const numbersOf = (events: readonly StreamedEvent[]): number[] => events.map(({ id }) => Number(id));
const inOrder = (events: readonly StreamedEvent[]): number[] => events.map((_, index) => index + 1);
/** The first line of each worker that began the run. */
const beginnings = (events: readonly StreamedEvent[]) =>
  events.flatMap(({ kind, data }) => (kind === "metadata" ? [(data as { attempt: number }).attempt] : []));

describe("a worker", () => {
  test("killed in the middle: another goes on, no finished step is done again, the log has no gap", async () => {
    const api = await openApi();
    const first = await startWorker(api, "work");
    const run = await begin(api, "t1");
    await until(() => lines(api, "t1").length >= 3);
    first.kill("SIGKILL");
    await startWorker(api, "work", LONG_CLAIM);
    const events = await eventsOf(api, "t1", run);
    const steps = lines(api, "t1");
    expect([...new Set(steps)]).toEqual(TEN);
    // The step that was cut off may have left its line before its result was stored.
    expect(steps.length).toBeLessThanOrEqual(TEN.length + 1);
    expect(numbersOf(events)).toEqual(inOrder(events));
    expect(events.filter(({ kind }) => kind === "end")).toHaveLength(1);
    expect(beginnings(events)).toEqual([1, 2]);
    expect(await statusOf(api, "t1", run)).toBe("success");
  });

  test.each(["cancel", "strategy"])(
    "killed in the middle of a run that is to be rolled back by then (%s): another undoes what it did",
    async (how) => {
      const api = await openApi();
      await api.call("POST", "/threads", { thread_id: "t1", metadata: { graph_id: "agent" } });
      const values = { messages: [{ role: "user", content: "before" }] };
      expect(await api.call("POST", "/threads/t1/state", { values })).toMatchObject({ status: 200 });
      const first = await startWorker(api, "slow");
      const run = await begin(api, "t1");
      await until(() => lines(api, "t1").length >= 2);
      first.kill("SIGKILL");
      await lifeOf(first);
      expect((await textsOf(api, "t1")).slice(0, 4)).toEqual(["before", "go", "", "step 1"]);
      const next =
        how === "strategy" ? await begin(api, "t1", { multitask_strategy: "rollback" }) : undefined;
      if (how === "cancel") await api.call("POST", `/threads/t1/runs/${run}/cancel?action=rollback`);
      await startWorker(api, "fast", LONG_CLAIM);
      await until(async () => (await api.call("GET", `/threads/t1/runs/${run}`)).status === 404);
      if (next) await eventsOf(api, "t1", next);
      const texts = await textsOf(api, "t1");
      expect(texts.filter((text) => !/^(?:step \d+|done|)$/.test(text))).toEqual(
        next ? ["before", "go"] : ["before"],
      );
      expect(texts.filter((text) => text === "step 1")).toHaveLength(next ? 1 : 0);
    },
  );

  test("R-41: a run that kills every worker is given up, with the reason", async () => {
    const api = await openApi();
    const run = await begin(api, "t1");
    // The first attempt got further than where it began, so it is not one of the three.
    for (let death = 0; death < 4; death += 1) await lifeOf(await startWorker(api, "crash"));
    await startWorker(api, "crash");
    const { body } = await api.call("GET", `/threads/t1/runs/${run}/join`);
    expect(body).toMatchObject({ __error__: { error: "RUN_ABANDONED" } });
    expect(await statusOf(api, "t1", run)).toBe("error");
    const kinds = (await eventsOf(api, "t1", run)).map(({ kind }) => kind);
    expect(kinds.slice(-2)).toEqual(["error", "end"]);
    expect(lines(api, "t1")).toEqual([1, 2]);
  });

  test("R-41: a run that gets further with every worker is not given up, however many it takes", async () => {
    const api = await openApi();
    const run = await begin(api, "t1");
    for (let death = 0; death < 5; death += 1) await lifeOf(await startWorker(api, "stumble"));
    await startWorker(api, "stumble");
    const events = await eventsOf(api, "t1", run);
    expect(await statusOf(api, "t1", run)).toBe("success");
    expect(beginnings(events)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(lines(api, "t1")).toEqual(TEN);
  });

  test("R-12: one that slept while another took its run does nothing more", async () => {
    const api = await openApi();
    const first = await startWorker(api, "slow");
    const run = await begin(api, "t1");
    await until(() => lines(api, "t1").length >= 2);
    await stopAtRest(api, first);
    await startWorker(api, "work", LONG_CLAIM);
    await until(() => lines(api, "t1").length >= 6);
    first.kill("SIGCONT");
    const events = await eventsOf(api, "t1", run);
    await new Promise((go) => setTimeout(go, 1_000));
    const steps = lines(api, "t1");
    expect([...new Set(steps)].sort((a, b) => a - b)).toEqual(TEN);
    // A call that had begun when it fell asleep can end when it wakes; none is begun.
    expect(steps.length).toBeLessThanOrEqual(TEN.length + 1);
    expect(numbersOf(events)).toEqual(inOrder(events));
    expect(beginnings(events)).toEqual([1, 2]);
    expect(await eventsOf(api, "t1", run)).toEqual(events);
  });

  test("R-16: SIGTERM with 20 runs ends it soon with 0, and another finishes all of them", async () => {
    const api = await openApi();
    const worker = await startWorker(api, "slow", LONG_CLAIM);
    const threads = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const runs = await Promise.all(threads.map(async (id) => [id, await begin(api, id)] as const));
    await until(() => threads.every((id) => lines(api, id).length >= 1));
    worker.kill("SIGTERM");
    const [code] = await once(worker, "exit");
    expect(code).toBe(0);
    const statuses = await Promise.all(runs.map(([id, run]) => statusOf(api, id, run)));
    for (const status of statuses) expect(["pending", "success"]).toContain(status);
    // It did not wait for the runs to end.
    expect(statuses).toContain("pending");
    await startWorker(api, "fast", LONG_CLAIM);
    for (const [id, run] of runs) {
      const events = await eventsOf(api, id, run);
      expect(events.at(-1)).toMatchObject({ kind: "end", data: { status: "success" } });
      // What was given back counts as no attempt.
      expect(new Set(beginnings(events))).toEqual(new Set([1]));
      expect(lines(api, id)).toEqual(TEN);
    }
  });
});
