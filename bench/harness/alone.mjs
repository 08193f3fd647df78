/** Two benches in one folder would rebuild the library under each other, and share the cores. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BENCH } from "../install.mjs";

const CLAIM = join(BENCH, "node_modules", ".bench-running");

/** Throws when another bench runs from this folder. The claim of one that was killed does not count. */
export function claimBench() {
  const holder = Number(read(CLAIM));
  if (holder > 0 && isAlive(holder))
    throw new Error(`Another bench is running from this folder (process ${holder}). Wait for it to end.`);
  writeFileSync(CLAIM, String(process.pid));
  process.on("exit", () => rmSync(CLAIM, { force: true }));
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
