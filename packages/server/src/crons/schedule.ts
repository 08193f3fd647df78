/** When a cron is due. */
import type { Cron } from "@deepwright/protocol";
import { Cron as Clock } from "croner";
import { ServiceError } from "../runs/service-error.ts";

export type Times = Pick<Cron, "schedule" | "timezone" | "end_time" | "enabled">;

/** The first date after `after`, in ISO 8601; null: never again. Throws INVALID_REQUEST for an invalid schedule. */
export function nextDate(times: Times, after = new Date()): string | null {
  const { schedule, timezone, end_time, enabled } = times;
  const next = clockOf(schedule, timezone).nextRun(after);
  if (!enabled || next === null) return null;
  const isOver = end_time !== null && next > new Date(end_time);
  return isOver ? null : next.toISOString();
}

/** Dates that are tried: several may fall into the same minute. */
const LOOKED_AT = 100;

/** INVALID_REQUEST for a schedule with dates that are closer than this. */
export function checkInterval({ schedule, timezone }: Times, leastSeconds: number): void {
  const dates = clockOf(schedule, timezone).nextRuns(LOOKED_AT);
  const gaps = dates
    .slice(1)
    .map((date, index) => (date.getTime() - (dates[index] as Date).getTime()) / 1_000);
  const closest = Math.min(...gaps);
  if (closest < leastSeconds)
    throw new ServiceError(
      "INVALID_REQUEST",
      `schedule: has dates ${closest} s apart; on this server they must be ${leastSeconds} s apart or more.`,
    );
}

function clockOf(schedule: string, timezone: string | null): Clock {
  try {
    const clock = new Clock(schedule, { paused: true, timezone: timezone ?? "UTC" });
    // A time zone is looked up with the first date.
    clock.nextRun();
    return clock;
  } catch {
    throw new ServiceError("INVALID_REQUEST", "The schedule or the time zone of the cron is not one.");
  }
}
