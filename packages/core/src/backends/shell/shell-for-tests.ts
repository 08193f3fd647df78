/** Tests only: a shell in a directory of its own, and a look at which processes are there. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { LocalShellBackend, type LocalShellBackendOptions } from "./local-shell.ts";

/** Gone when the test is over. */
export function scratchDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-shell-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function shellIn(options: LocalShellBackendOptions = {}): LocalShellBackend {
  const backend = new LocalShellBackend({ rootDir: scratchDirectory(), virtualMode: true, ...options });
  onTestFinished(() => backend.close());
  return backend;
}

let marks = 0;

/** A number of seconds no other test sleeps for, by which its `sleep` is found. */
export function sleepMark(): string {
  marks += 1;
  return `${600 + marks}.${process.pid}`;
}

/** The processes that sleep for so long. Linux only; elsewhere none is seen. */
export function sleepers(mark: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && argumentsOf(pid).includes(`sleep\0${mark}`));
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
