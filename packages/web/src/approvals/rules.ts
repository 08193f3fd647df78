/** Calls that nobody is asked about any more. */
export interface Rule {
  readonly tool: string;
  readonly prefix?: readonly string[];
}

/** A rule as an answer carries it. */
export interface Allowance extends Rule {
  readonly scope: "thread" | "project";
}
