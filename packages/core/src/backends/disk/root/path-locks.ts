/**
 * One change to a file at a time, among all processes of a user on this machine.
 *
 * In the process it is a queue. Between processes it is a symbolic link in a private directory, made in
 * one step, whose target names the holder. The lock of a process that died is taken away by whoever first
 * gets a lock on *that holder's* lock, so that of many who see it dead one removes it, and never a newer one.
 * A holder that cannot be judged, in another container, has half a minute.
 *
 * Where no such directory can be made, and for programs that know nothing of it, remains what callers do
 * anyway: they compare the file just before they replace it.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, pidNamespace, startOf } from "../../../node/process-identity.ts";
import { showPath } from "../../../paths.ts";
import { FileFailure, systemCode } from "../file-errors.ts";

const WAIT_MS = 30_000;
const UNKNOWN_HOLDER_MS = 30_000;
/** Changes take milliseconds: a living holder that had this long is stuck. */
const STUCK_HOLDER_MS = 300_000;

const queues = new Map<string, Promise<void>>();

export interface PathLockOptions {
  /** A virtual path, for the words of a failure. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Where the locks of this user are; default: a private directory for temporary files. */
  readonly directory?: string | undefined;
}

/** Runs `act` while no one else holds `key`. Throws a `FileFailure` when it is not free in half a minute. */
export async function withPathLock<Result>(
  key: string,
  options: PathLockOptions,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  const before = queues.get(key);
  let leave: () => void = () => undefined;
  const mine = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const tail = before === undefined ? mine : before.then(() => mine);
  queues.set(key, tail);
  try {
    if (before !== undefined) await orAborted(before, options.signal);
    const release = await acquire(key, options);
    try {
      return await act();
    } finally {
      release();
    }
  } finally {
    leave();
    if (queues.get(key) === tail) queues.delete(key);
  }
}

async function orAborted(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return done;
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([done, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function acquire(key: string, { path, signal, directory }: PathLockOptions): Promise<() => void> {
  const home = directory ?? lockDirectory();
  if (home === undefined) return () => undefined;
  const lock = join(home, createHash("sha256").update(key).digest("hex").slice(0, 32));
  const end = performance.now() + WAIT_MS;
  for (let pause = 0.5; ; pause = Math.min(pause * 1.5, 20)) {
    if (claim(lock) || (removeStale(lock) && claim(lock))) return () => give(lock);
    if (performance.now() > end)
      throw new FileFailure(
        "CONFLICT",
        `'${showPath(path)}' is being changed by another process. Try again.`,
      );
    await sleep(pause * (0.5 + Math.random()), undefined, signal ? { signal } : undefined).catch((error) => {
      signal?.throwIfAborted();
      throw error;
    });
  }
}

/**
 * Takes a free lock in one step; false where someone has it. Where none can be made, because the disk of
 * temporary files is full, say, work goes on without.
 */
function claim(lock: string): boolean {
  try {
    if (process.platform === "win32") writeFileSync(lock, identity(), { flag: "wx" });
    else symlinkSync(identity(), lock);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return false;
    if (code !== undefined && code !== "ENOENT") return true;
    if (code === undefined) throw error;
    usual = undefined;
    mkdirSync(join(lock, ".."), { recursive: true, mode: 0o700 });
    return false;
  }
}

function give(lock: string): void {
  if (holderOf(lock)?.name === identity()) remove(lock);
}

/** Whether the lock is gone that a dead holder left. */
function removeStale(lock: string): boolean {
  const holder = holderOf(lock);
  if (holder === undefined) return true;
  if (!isStale(holder)) return false;
  const right = `${lock}.${createHash("sha256").update(holder.name).digest("hex").slice(0, 8)}`;
  if (!claim(right) && !(removeStale(right) && claim(right))) return false;
  try {
    if (holderOf(lock)?.name === holder.name) remove(lock);
    return true;
  } finally {
    give(right);
  }
}

interface Holder {
  /** `pid-started-namespace-nonce`. */
  readonly name: string;
  /** Milliseconds since the lock was taken; also how far ahead its time is, after the clock was set back. */
  readonly age: number;
}

function holderOf(lock: string): Holder | undefined {
  try {
    const name = process.platform === "win32" ? readFileSync(lock, "utf8") : readlinkSync(lock);
    return { name, age: Math.abs(Date.now() - lstatSync(lock).mtimeMs) };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isStale({ name, age }: Holder): boolean {
  const [id, started, namespace] = name.split("-");
  const pid = Number(id);
  if (!Number.isInteger(pid) || pid <= 0 || namespace !== pidNamespace()) return age > UNKNOWN_HOLDER_MS;
  if (age > STUCK_HOLDER_MS) return true;
  return !isAlive(pid) || startOf(pid) !== started;
}

let ownName: string | undefined;

function identity(): string {
  ownName ??= [process.pid, startOf(process.pid), pidNamespace(), randomBytes(6).toString("hex")].join("-");
  return ownName;
}

function remove(lock: string): void {
  try {
    unlinkSync(lock);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

let usual: { readonly path: string | undefined } | undefined;

/** The same for every process of the user, whatever its environment says, and closed to other users. */
function lockDirectory(): string | undefined {
  usual ??= { path: candidates().find(isPrivate) };
  return usual.path;
}

function candidates(): string[] {
  const user = process.getuid?.() ?? userInfo().username;
  const name = `deepwright-locks-${user}`;
  return [...(process.platform === "win32" ? [] : ["/tmp"]), tmpdir()].map((base) => join(base, name));
}

function isPrivate(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") return false;
  }
  const stats = lstatSync(directory);
  if (process.platform === "win32") return stats.isDirectory();
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}
