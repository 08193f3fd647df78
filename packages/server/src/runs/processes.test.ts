/** Workers that die, stop or sleep: real processes on one file. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { countingAgent } from "./counting-agent-for-tests.ts";
import {
  begin,
  eventsOf,
  namesOf,
  OWNER,
  openSite,
  type Site,
  until,
  userSays,
} from "./service-for-tests.ts";

const PROGRAM = fileURLToPath(new URL("./worker-program-for-tests.ts", import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function startWorker(directory: string, mode: string): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=source", PROGRAM, directory, mode],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.push(child);
  await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
  return child;
}

const lines = (site: Site, thread: string): number[] => {
  const file = join(site.directory, `${thread}.log`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
};

/** Not in the middle of a transaction: then it would hold the file itself, and nobody could do anything. */
async function stopAtRest({ saver, records }: Site, worker: ChildProcess): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    worker.kill("SIGSTOP");
    const write = async () => {
      await (await saver.claimThread(`probe-${attempt}`, { mode: "refuse" })).release();
      await records.mail.post("t1", { id: `probe-${attempt}`, kind: "completion", message: "probe" });
      await records.mail.settle("t1", [`probe-${attempt}`]);
      return true;
    };
    const pause = new Promise<boolean>((done) => setTimeout(() => done(false), 1_500));
    if (await Promise.race([write(), pause])) return;
    worker.kill("SIGCONT");
    await new Promise((go) => setTimeout(go, 30));
  }
}

const TEN = Array.from({ length: 10 }, (_, index) => index + 1);
const SETTINGS = { claimTtl: 2, maxAttempts: 3 };

/** A service that starts runs and, later, works on them; agents are those of the program. */
const apiSite = (mode = "work", directory?: string) =>
  openSite(
    { agent: (() => countingAgent(current, mode)) as never },
    { ...SETTINGS, role: "api", ...(directory && { directory }) },
  );
let current = "";

async function apiOn(mode?: string): Promise<Site> {
  const site = await apiSite(mode);
  current = site.directory;
  return site;
}

describe("a worker", () => {
  test("killed in the middle: another goes on, no finished step is done again, the log has no gap", async () => {
    const site = await apiOn();
    const first = await startWorker(site.directory, "work");
    const run = await begin(site, "t1", { input: userSays("go"), stream_mode: "updates" });
    await until(() => lines(site, "t1").length >= 3);
    first.kill("SIGKILL");
    await startWorker(site.directory, "work");
    const events = await eventsOf(site, run.run_id);
    const steps = lines(site, "t1");
    expect([...new Set(steps)]).toEqual(TEN);
    // The step that was cut off may have left its line before its result was stored.
    expect(steps.length).toBeLessThanOrEqual(TEN.length + 1);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(namesOf(events).filter((name) => name === "end")).toHaveLength(1);
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "success", attempts: 2 });
  }, 60_000);

  test("R-41: a run that kills every worker is given up, with the reason", async () => {
    const site = await apiOn();
    const run = await begin(site, "t1", { input: userSays("go") });
    for (let death = 0; death < 3; death += 1) {
      const worker = await startWorker(site.directory, "crash");
      if (worker.exitCode === null && worker.signalCode === null) await once(worker, "exit");
    }
    await startWorker(site.directory, "crash");
    const outcome = await site.runs.wait(OWNER, run.run_id);
    expect(outcome).toMatchObject({ __error__: { error: "RUN_ABANDONED" } });
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "error" });
    expect(namesOf(await eventsOf(site, run.run_id)).slice(-2)).toEqual(["error", "end"]);
    expect(lines(site, "t1")).toEqual([1, 2]);
  }, 60_000);

  test("R-12: one that slept while another took its run does nothing more", async () => {
    const site = await apiOn();
    const first = await startWorker(site.directory, "slow");
    const run = await begin(site, "t1", { input: userSays("go"), stream_mode: "updates" });
    await until(() => lines(site, "t1").length >= 2);
    await stopAtRest(site, first);
    await startWorker(site.directory, "work");
    await until(async () => ((await site.runs.get(OWNER, run.run_id))?.attempts ?? 0) > 1);
    await until(() => lines(site, "t1").length >= 6);
    first.kill("SIGCONT");
    const events = await eventsOf(site, run.run_id);
    await new Promise((go) => setTimeout(go, 1_000));
    const steps = lines(site, "t1");
    expect([...new Set(steps)].sort((a, b) => a - b)).toEqual(TEN);
    // A call that had begun when it fell asleep can end when it wakes; none is begun.
    expect(steps.length).toBeLessThanOrEqual(TEN.length + 1);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(await eventsOf(site, run.run_id)).toEqual(events);
  }, 60_000);

  test("R-16: SIGTERM with 20 runs ends it soon with 0, and another finishes all of them", async () => {
    const site = await apiOn();
    const worker = await startWorker(site.directory, "slow");
    const threads = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const runs = await Promise.all(threads.map((id) => begin(site, id, { input: userSays("go") })));
    await until(() => threads.every((id) => lines(site, id).length >= 1), 30_000);
    const asked = performance.now();
    worker.kill("SIGTERM");
    const [code] = await once(worker, "exit");
    expect(code).toBe(0);
    expect(performance.now() - asked).toBeLessThan(30_000);
    for (const run of runs)
      expect(["pending", "success"]).toContain((await site.runs.get(OWNER, run.run_id))?.status);
    await startWorker(site.directory, "fast");
    for (const run of runs) await site.runs.wait(OWNER, run.run_id);
    for (const id of threads) expect(lines(site, id)).toEqual(TEN);
    for (const run of runs)
      expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "success", attempts: 1 });
  }, 90_000);
});
