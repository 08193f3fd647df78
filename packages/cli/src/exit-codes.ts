/** Exit codes of the process; documented in docs/cli.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  limit: 3,
  approval: 4,
  unverified: 5,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
