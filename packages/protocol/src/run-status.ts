/** How a run stands. Loads no schemas. */
export const RUN_STATUSES = ["pending", "running", "error", "success", "timeout", "interrupted"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export function isRunStatus(value: unknown): value is RunStatus {
  return (RUN_STATUSES as readonly unknown[]).includes(value);
}
