/** One turn of the offline model. */

export interface PlannedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Either calls, or the last word. */
export interface PlannedTurn {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}
