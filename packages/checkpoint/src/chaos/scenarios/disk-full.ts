/** the disk fills up under a run, and is freed again. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { plannedOutline } from "../agent.ts";
import { type Arrival, audit } from "../audit.ts";
import { effectsIn } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { codeOf, type WorkerProcess } from "../worker-process.ts";

export interface DiskFullParameters {
  /** Each fills the disk at another size of its thread. */
  readonly times: number;
}

const MEGABYTE = 2 ** 20;
/** Space for the results of one run, twice. */
const DISK_PER_RUN = 6 * MEGABYTE;
/** Full before the first reply is stored. */
const FIRST_STEPS = 128 * 2 ** 10;
const CLAIM = { mode: "queue", ttl: 1 } as const;
/** 3 MB of results for a run. */
const TURNS = { turns: 15, callsPerTurn: 2, resultLength: 100_000 };

export async function diskFull(site: ChaosSite, { times }: DiskFullParameters): Promise<Outcome> {
  const directory = site.directory();
  const disk = join(directory, "disk");
  mkdirSync(disk);
  const verdict = new Verdict("R-05 disk-full");
  const worker = await site.worker(join(disk, "state.db"), smallDisk(disk, (times + 1) * DISK_PER_RUN));
  const stored: number[] = [];
  for (let number = 0; number < times; number += 1) {
    const plan: Plan = { ...TURNS, thread: `full-${number}`, text: `Go ${number}.` };
    const leave = site.random.below(number % 2 === 0 ? FIRST_STEPS : 2 * MEGABYTE);
    const log = join(directory, `${number}.log`);
    const { problems, messages } = await outgrow(worker, disk, plan, leave, log);
    verdict.add(plan.thread, problems);
    stored.push(messages);
  }
  await worker.kill();
  return verdict.outcome(
    `${times} × STORAGE_FULL after ${Math.min(...stored)} to ${Math.max(...stored)} messages, resumed in the same process`,
  );
}

async function outgrow(worker: WorkerProcess, disk: string, plan: Plan, leave: number, log: string) {
  const database = join(disk, "state.db");
  const ballast = join(disk, "ballast");
  const request = { act: "run", plan, claim: CLAIM, log } as const;
  await worker.ask({ act: "fill", path: ballast, leave });
  const arrivals: Arrival[] = [{ stored: new Set(), effects: 0 }];
  const code = await codeOf(worker.ask(request));
  const halfway = await worker.ask({ act: "messages", thread: plan.thread });
  const integrity = [await worker.ask({ act: "check", path: database })];
  const stored = new Set(await worker.ask({ act: "stored", thread: plan.thread }));
  arrivals.push({ stored, effects: effectsIn(log).length });
  await worker.ask({ act: "remove", path: ballast });
  const { messages } = await worker.ask(request);
  integrity.push(await worker.ask({ act: "check", path: database }));
  const problems = [
    ...(code === "STORAGE_FULL" ? [] : [`the full disk gave ${code}`]),
    ...difference("messages halfway", halfway, plannedOutline(plan).slice(0, halfway.length)),
    ...difference("messages in the end", messages, plannedOutline(plan)),
    ...audit(plan, effectsIn(log), arrivals, { inFlight: 0, repeated: 0, modelCalls: 0 }),
    ...integrity.filter((result) => result !== "ok"),
  ];
  return { problems, messages: halfway.length };
}

/**
 * Runs a program with a small disk of its own, which goes with it: in a mount namespace, and for those
 * who are not root in a user namespace, too.
 */
function smallDisk(directory: string, bytes: number): readonly string[] {
  const flags = process.getuid?.() === 0 ? ["-m"] : ["-Urm"];
  const script = `mount -t tmpfs -o size=${bytes} tmpfs "$0" && exec "$@"`;
  const wrapper = ["unshare", ...flags, "sh", "-c", script, directory];
  const [command, ...parameters] = [...wrapper, "true"];
  const { status, error, stderr } = spawnSync(command as string, parameters, { encoding: "utf8" });
  if (status !== 0)
    throw new Error(`A small disk needs 'unshare' and the right to mount: ${error?.message ?? stderr}`);
  return wrapper;
}
