/** When a cron is due. */
import type { Cron } from "@deepwright/protocol";
import { Cron as Clock } from "croner";
import { ServiceError } from "../runs/service-error.ts";

export type Times = Pick<Cron, "schedule" | "timezone" | "end_time" | "enabled">;

/** The first date after `after`, in ISO 8601; null: never again. Throws INVALID_REQUEST for what is no schedule. */
export function nextDate(times: Times, after = new Date()): string | null {
  const { schedule, timezone, end_time, enabled } = times;
  const next = clockOf(schedule, timezone).nextRun(after);
  if (!enabled || next === null) return null;
  const isOver = end_time !== null && next > new Date(end_time);
  return isOver ? null : next.toISOString();
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
