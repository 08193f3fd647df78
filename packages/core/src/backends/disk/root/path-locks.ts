/**
 * Locks a file for one change at a time, among all processes of a user on this machine.
 *
 * - Within a process the lock is a queue.
 * - Between processes it is a symbolic link in a private directory, whose target names the holder. Making a link is atomic.
 * - Several processes may see that a holder died. To remove its lock, a process first locks *that lock*, so only one removes
 *   it, and none removes a newer lock.
 * - A holder in another container cannot be checked; its lock counts for half a minute.
 *
 * Without such a directory, and against programs that ignore these locks, callers still compare the file just before
 * they replace it.
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

/** Wait for a lock. */
const WAIT_MS = 30_000;
/** Life of a lock whose holder cannot be checked. */
const UNKNOWN_HOLDER_MS = 30_000;
/** Changes take milliseconds. A living holder that has its lock for longer is stuck, and loses it. */
const STUCK_HOLDER_MS = 300_000;

/** The end of the last change that waits, by key. */
const queues = new Map<string, Promise<void>>();

export interface PathLockOptions {
  /** The virtual path, for error messages. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Directory of the locks; default: a private directory of the user for temporary files. */
  readonly directory?: string | undefined;
}

/** Runs `act` while it holds the lock of `key`. Throws a `FileFailure` when the lock is not free in half a minute. */
export async function withPathLock<Result>(
  key: string,
  options: PathLockOptions,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  const before = queues.get(key);
  let leaveQueue: () => void = () => undefined;
  const mine = new Promise<void>((resolve) => {
    leaveQueue = resolve;
  });
  const tail = before === undefined ? mine : before.then(() => mine);
  queues.set(key, tail);
  try {
    if (before !== undefined) await untilDoneOrAborted(before, options.signal);
    const release = await acquire(key, options);
    try {
      return await act();
    } finally {
      release();
    }
  } finally {
    leaveQueue();
    if (queues.get(key) === tail) queues.delete(key);
  }
}

async function untilDoneOrAborted(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
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
  const locks = directory ?? lockDirectory();
  if (locks === undefined) return () => undefined;
  const lock = join(locks, createHash("sha256").update(key).digest("hex").slice(0, 32));
  const end = performance.now() + WAIT_MS;
  for (let pause = 0.5; ; pause = Math.min(pause * 1.5, 20)) {
    if (claim(lock) || (removeStale(lock) && claim(lock))) return () => release(lock);
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

/** Takes a free lock; false when it is held. True without a lock when none can be made, such as on a full disk. */
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
    foundDirectory = undefined;
    mkdirSync(join(lock, ".."), { recursive: true, mode: 0o700 });
    return false;
  }
}

/** Removes the lock if this process still holds it. */
function release(lock: string): void {
  if (holderOf(lock)?.name === identity()) remove(lock);
}

/** Removes the lock of a dead or stuck holder. True when the lock is gone. */
function removeStale(lock: string): boolean {
  const holder = holderOf(lock);
  if (holder === undefined) return true;
  if (!isStale(holder)) return false;
  const lockOfLock = `${lock}.${createHash("sha256").update(holder.name).digest("hex").slice(0, 8)}`;
  if (!claim(lockOfLock) && !(removeStale(lockOfLock) && claim(lockOfLock))) return false;
  try {
    if (holderOf(lock)?.name === holder.name) remove(lock);
    return true;
  } finally {
    release(lockOfLock);
  }
}

interface Holder {
  /** `pid-started-namespace-nonce`. */
  readonly name: string;
  /** Milliseconds between now and the time of the lock. That time is in the future after the clock was set back. */
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

/** The name of this process as a holder. */
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

/** The directory of locks, once it was looked for. */
let foundDirectory: { readonly path: string | undefined } | undefined;

/** The same directory for all processes of the user, regardless of their environment. Other users cannot enter it. */
function lockDirectory(): string | undefined {
  foundDirectory ??= { path: candidates().find(isPrivate) };
  return foundDirectory.path;
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
