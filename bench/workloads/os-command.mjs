/** A trivial command in the sandbox of this machine against a bare `bwrap`, one of each in turn. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../harness/rounds.mjs";

const BARE = ["--ro-bind", "/", "/", "true"];
const WARM_UP = 5;

export async function measure(_contender, { commands, onDirectory }) {
  const { osSandbox } = await import("@deepwright/sandboxes/os");
  const rootDir = onDirectory ? mkdtempSync(join(tmpdir(), "deepwright-bench-os-")) : undefined;
  const opened = await osSandbox(rootDir === undefined ? {} : { rootDir }).open({ key: "bench", env: {} });
  const times = { ours: [], bare: [] };
  try {
    for (let turn = 0; turn < commands + WARM_UP; turn += 1) {
      const bare = await timed(runBare);
      const ours = await timed(() => runOurs(opened.sandbox));
      if (turn < WARM_UP) continue;
      times.bare.push(bare);
      times.ours.push(ours);
    }
  } finally {
    await opened.destroy();
    if (rootDir !== undefined) rmSync(rootDir, { recursive: true, force: true });
  }
  const wall = median(times.ours);
  return { wall, overBare: wall / median(times.bare) };
}

async function timed(act) {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

async function runOurs(sandbox) {
  const { exitCode } = await sandbox.execute("true");
  if (exitCode !== 0) throw new Error(`The command ended with ${exitCode}.`);
}

function runBare() {
  return new Promise((resolve, reject) => {
    const child = spawn("bwrap", BARE, { stdio: ["ignore", "pipe", "pipe"] });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`bwrap ended with ${code}.`))));
  });
}
