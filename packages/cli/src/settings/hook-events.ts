/** The moments at which hooks run. */
export const HOOK_EVENTS = [
  "run-start",
  "before-tool",
  "after-tool",
  "before-approval",
  "run-end",
  "notification",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];
