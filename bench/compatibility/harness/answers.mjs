/** Runs the programs of one library, one after the other, in a process of their own. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));

/** The answer of each program: `{ value }`, or `{ threw }` with the stack of its error. */
export async function answersOf(folder, names, scratch) {
  const home = join(scratch, "home");
  mkdirSync(home, { recursive: true });
  const output = join(scratch, "answers.json");
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: process.env.TMPDIR, COMPAT_SCRATCH: scratch };
  const child = spawn(process.execPath, [WORKER, folder, output, ...names], {
    env,
    stdio: ["ignore", 2, 2],
  });
  await new Promise((done, failed) => child.on("close", done).on("error", failed));
  return JSON.parse(readFileSync(output, "utf8").replaceAll(scratch, "<scratch>"));
}
