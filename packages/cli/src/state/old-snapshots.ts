/** Removes old snapshots of directories, as the settings say. */
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SharedSaver } from "@deepwright/checkpoint";
import type { Settings } from "../settings/schema.ts";
import { databaseOf } from "./database.ts";
import { homeOf } from "./home.ts";

export interface SnapshotLimits {
  readonly maxDays: number;
  readonly maxGigabytes: number;
}

export function snapshotLimits({ snapshots }: Pick<Settings, "snapshots">): SnapshotLimits {
  const { maxDays = 90, maxGigabytes = 10 } = snapshots ?? {};
  return { maxDays, maxGigabytes };
}

const DAY_SECONDS = 24 * 60 * 60;
const GIGABYTE = 1e9;
/** Its time says when snapshots were last looked at. */
const MARK = "snapshots-pruned";

export interface OldSnapshots {
  readonly saver: SharedSaver;
  /** The value of --db. */
  readonly db: string | undefined;
  readonly limits: SnapshotLimits;
}

/**
 * Looks once a day, in the database of this home alone: others share one that was named. A failure is left to the next
 * day, because the run is done by then.
 */
export async function removeOldSnapshots(
  { saver, db, limits }: OldSnapshots,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const database = databaseOf(db, environment);
  if (database.kind !== "sqlite" || !database.isDefault || !isDue(environment)) return;
  const { maxDays, maxGigabytes } = limits;
  await saver
    .prune({ onlySnapshots: true, olderThan: maxDays * DAY_SECONDS, maxBytes: maxGigabytes * GIGABYTE })
    .catch(() => {});
}

function isDue(environment: NodeJS.ProcessEnv): boolean {
  const path = join(homeOf(environment), MARK);
  const now = Date.now();
  try {
    const last = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (last !== undefined && last > now - DAY_SECONDS * 1000 && last <= now) return false;
    if (last === undefined) writeFileSync(path, "", { mode: 0o600 });
    else utimesSync(path, now / 1000, now / 1000);
    return true;
  } catch {
    return false;
  }
}
