/** The private directories of a sandbox on this machine, and how they are found again by any process of the same user. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { removeDevices } from "../linux/root-devices.ts";
import { stateSubdirectory } from "./state-directory.ts";

export interface LeaseDirectory {
  readonly id: string;
  readonly path: string;
  /** `/tmp` of the sandbox. */
  readonly temporary: string;
  /** The workspace of a sandbox without a directory of the user. */
  readonly workspace: string;
  readonly note: LeaseNote;
}

export interface LeaseNote {
  readonly key: string;
  /** Seconds without use after which it may be removed. */
  readonly ttl: number;
  /** The real path of the directory it was opened on; absent: its own. */
  readonly rootDir?: string;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Seconds, unless the lease names another time. */
export const DEFAULT_TTL = 7 * 24 * 3600;
const ID = /^os-[0-9a-f]{32}$/;
const NOTE = "lease.json";

export function makeLeaseDirectory(state: string, note: LeaseNote, owner: Owner | undefined): LeaseDirectory {
  const id = `os-${randomBytes(16).toString("hex")}`;
  const path = stateSubdirectory(stateSubdirectory(state, "leases"), id);
  const lease: LeaseDirectory = {
    id,
    path,
    note,
    temporary: join(path, "tmp"),
    workspace: join(path, "workspace"),
  };
  try {
    makeOwned(lease.temporary, owner);
    makeOwned(join(lease.temporary, ".home"), owner);
    makeOwned(lease.workspace, owner);
    writeFileSync(join(path, NOTE), JSON.stringify(note), { mode: 0o600 });
  } catch (error) {
    removeLease(state, id);
    throw error;
  }
  return lease;
}

function makeOwned(path: string, owner: Owner | undefined): void {
  mkdirSync(path);
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
  chmodSync(path, 0o700);
}

/** Undefined: it is gone, or its time was up. */
export function findLease(state: string, id: string, now: number = Date.now()): LeaseDirectory | undefined {
  if (!ID.test(id)) return undefined;
  const path = join(state, "leases", id);
  try {
    const note = JSON.parse(readFileSync(join(path, NOTE), "utf8")) as LeaseNote;
    const used = statSync(join(path, NOTE)).mtimeMs;
    if (used + note.ttl * 1000 < now) return undefined;
    return { id, path, note, temporary: join(path, "tmp"), workspace: join(path, "workspace") };
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== "string" && !(error instanceof SyntaxError))
      throw error;
    return undefined;
  }
}

/** Notes that it is in use for so many seconds from now; false: it is gone. */
export function noteLeaseUse(lease: LeaseDirectory, seconds = 0, now: number = Date.now()): boolean {
  try {
    const time = now / 1000 + seconds;
    utimesSync(join(lease.path, NOTE), time, time);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** From now on the lease is gone for all processes; its files may remain. */
export function forgetLease(state: string, id: string): void {
  if (ID.test(id)) rmSync(join(state, "leases", id, NOTE), { force: true });
}

/** Nothing in it is followed out of it. */
export function removeLease(state: string, id: string): void {
  if (!ID.test(id)) return;
  rmSync(join(state, "leases", id), { recursive: true, force: true, maxRetries: 3 });
  removeDevices(id);
}

export function leasesWithKey(state: string, key: string): string[] {
  return leaseIds(state).filter((id) => findLease(state, id)?.note.key === key);
}

/** Ids of expired leases, and of remains of others. */
export function expiredLeases(state: string): string[] {
  // In this order: a lease that gets its note in between is neither young nor expired.
  return leaseIds(state).filter(
    (id) => !isYoung(join(state, "leases", id)) && findLease(state, id) === undefined,
  );
}

/** A lease that is being made has no note yet. */
function isYoung(path: string): boolean {
  try {
    readFileSync(join(path, NOTE));
    return false;
  } catch {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < 60_000;
  }
}

function leaseIds(state: string): string[] {
  try {
    return readdirSync(join(state, "leases")).filter((id) => ID.test(id));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
