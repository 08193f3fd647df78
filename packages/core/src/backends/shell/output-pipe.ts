/**
 * Pipes for the output of commands.
 *
 * Node's pipes are pairs of sockets: a command that opens `/dev/stderr` fails on one, and two of them lose the order of
 * writing. So the output goes through a named pipe in a private directory, for both streams. A pipe that all sides have
 * closed is used again.
 */
import { once } from "node:events";
import { closeSync, constants, existsSync, openSync, rmSync } from "node:fs";
import { mkdtemp, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busyTurn } from "./busy-turn.ts";
import { startProgram } from "./child-process.ts";

/** The ends are file descriptors. The caller that opened the pipe closes them. */
export interface OutputPipe {
  readonly path: string;
  readonly readEnd: number;
  readonly writeEnd: number;
}

const unused: string[] = [];
/** Made once, however many ask for it at the same time. */
let making: Promise<string> | undefined;
let directory: string | undefined;
let exitIsWatched = false;
let created = 0;

/** Undefined where no named pipe can be made. */
export async function openOutputPipe(): Promise<OutputPipe | undefined> {
  const known = unused.pop();
  return (known === undefined ? undefined : openBothEnds(known)) ?? openNewPipe();
}

/** `reusable`: every writer has closed it and all was read. */
export async function releaseOutputPipe(pipe: OutputPipe, reusable: boolean): Promise<void> {
  if (reusable) unused.push(pipe.path);
  else await unlink(pipe.path).catch(onlySystemErrors);
}

async function openNewPipe(): Promise<OutputPipe | undefined> {
  try {
    making ??= makeDirectory();
    const home = await making;
    created += 1;
    const path = join(home, String(created));
    await busyTurn();
    await makePipe(path);
    return openBothEnds(path);
  } catch (error) {
    removeDirectory();
    return onlySystemErrors(error);
  }
}

async function makePipe(path: string): Promise<void> {
  const options = { cwd: "/", env: {}, stdio: "ignore", group: "own" } as const;
  const [code] = await once(startProgram(systemProgram(), ["-m", "600", path], options), "close");
  if (code !== 0) throw Object.assign(new Error("The pipe could not be made."), { code });
}

/** Never by `PATH`, which may lead to where an agent writes. */
const MKFIFO = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"];

function systemProgram(): string {
  const found = MKFIFO.find(existsSync);
  if (found === undefined) throw Object.assign(new Error("There is no mkfifo."), { code: "ENOENT" });
  return found;
}

async function makeDirectory(): Promise<string> {
  directory = await mkdtemp(join(tmpdir(), "deepwright-commands-"));
  if (!exitIsWatched) process.on("exit", removeDirectory);
  exitIsWatched = true;
  return directory;
}

/** Pipes in use are open and need their names no more. */
function removeDirectory(): void {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  directory = undefined;
  making = undefined;
  unused.length = 0;
}

/** Neither open waits: the reader does not block, and the writer has a reader. */
function openBothEnds(path: string): OutputPipe | undefined {
  let readEnd: number | undefined;
  try {
    readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { path, readEnd, writeEnd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    if (readEnd !== undefined) closeSync(readEnd);
    return onlySystemErrors(error);
  }
}

/** Also true of a `mkfifo` that failed: its exit code is the code. */
function onlySystemErrors(error: unknown): undefined {
  if ((error as { code?: unknown }).code === undefined) throw error;
}
