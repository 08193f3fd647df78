/** Snapshots of a directory of 20,000 files (200 MB) around commands, against `find` and `cp` on the same files. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../harness/rounds.mjs";
import { heapAfterGc, timed } from "./cpu.mjs";

const COMMANDS = 7;
const COPIES = 3;
const CHANGED_BYTES = 1_000_000;
const KILOBYTE = 1024;
const MEGABYTE = 1e6;

export async function measure(_contender, { what }) {
  const tree = realpathSync(join(process.env.DEEPWRIGHT_BENCH_FILES, "tree"));
  const place = mkdtempSync(join(tmpdir(), "deepwright-bench-undo-"));
  const { SqliteSaver } = await import("@deepwright/checkpoint/sqlite");
  const saver = await SqliteSaver.open(join(place, "state.db"));
  try {
    const command = await commandsIn(tree, saver);
    return what === "first" ? await first(tree, place, saver, command) : await later(tree, saver, command);
  } finally {
    await saver.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** Runs `act` as a command of a thread: with a look at the directory before and after it. */
async function commandsIn(tree, saver) {
  const { snapshotLogOf, snapshotsOf } = await import("deepwright/internal");
  const config = { configurable: { thread_id: "bench" } };
  const checkpointId = "00000000-0000-6000-8000-000000000000";
  const snapshots = snapshotsOf(saver, "bench", tree);
  const log = snapshotLogOf(saver, "bench", config, checkpointId);
  let number = 0;
  return async (act) => {
    number += 1;
    const note = { command: `command ${number}`, by: { call: `call-${number}` }, checkpointId };
    await snapshots.before(log, note);
    await act();
    await snapshots.after(log, note);
    // Rows are stored behind the caller's back.
    await saver.imagesOf("bench");
  };
}

async function first(tree, place, saver, command) {
  const before = await saver.size();
  const files = bytesOf(tree);
  const { cpu } = await timed(() => command(() => {}));
  const growth = (await saver.size()) - before;
  const copy = join(place, "copy");
  const copies = Array.from({ length: COPIES }, (_, i) => systemCpu(`cp -a ${tree} ${copy}-${i}`));
  // A machine that writes caches back counts that as the system's work for some of them.
  const copied = Math.min(...copies);
  return {
    cpu,
    overCopy: cpu / copied,
    growth: growth / files,
    rss: process.resourceUsage().maxRSS / KILOBYTE,
  };
}

async function later(tree, saver, command) {
  await command(() => {});
  const [ours, found] = [[], []];
  await command(() => {});
  const heap = heapAfterGc();
  for (let turn = 0; turn < COMMANDS; turn += 1) {
    found.push(systemCpu(`find ${tree} -printf '%p %y %m %s %i %T@ %C@\\n' > /dev/null`));
    ours.push((await timed(() => command(() => {}))).cpu);
  }
  const heldMb = (heapAfterGc() - heap) / MEGABYTE;
  const before = await saver.size();
  const file = join(tree, "bench-changed.bin");
  try {
    await command(() => writeFileSync(file, randomBytes(CHANGED_BYTES)));
  } finally {
    rmSync(file, { force: true });
  }
  const growth = ((await saver.size()) - before) / CHANGED_BYTES;
  const cpu = median(ours);
  return { cpu, overFind: cpu / median(found), growth, heldMb };
}

function bytesOf(tree) {
  const { stdout } = spawnSync("find", [tree, "-type", "f", "-printf", "%s\n"], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  return stdout.split("\n").reduce((sum, size) => sum + Number(size), 0);
}

/** User and system milliseconds of a command, as bash counts them. */
function systemCpu(command) {
  const { stderr, status } = spawnSync("bash", ["-c", `TIMEFORMAT='%U %S'; time ${command}`], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  const [user, system] = stderr.trim().split(" ").map(Number);
  return (user + system) * 1000;
}
