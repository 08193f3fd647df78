/** How a scenario ended. */

export interface Outcome {
  readonly name: string;
  /** How many of the things tried went well. */
  readonly ok: number;
  /** Failures, one sentence each. */
  readonly failures: readonly string[];
  readonly figures: string;
}

/** Collects what went wrong in one of many tries. */
export class Verdict {
  readonly failures: string[] = [];
  #ok = 0;

  constructor(private readonly name: string) {}

  /** One try: it counts as ok when `problems` is empty. */
  add(subject: string, problems: readonly string[]): void {
    if (problems.length === 0) this.#ok += 1;
    this.failures.push(...problems.map((problem) => `${subject}: ${problem}`));
  }

  outcome(figures: string): Outcome {
    return { name: this.name, ok: this.#ok, failures: this.failures, figures };
  }
}

export function summary({ name, ok, failures, figures }: Outcome): string {
  return `${name}: ${ok} ok, ${failures.length} failed (${figures})`;
}

/** A problem when two lists of lines differ, with the first line that does. */
export function difference(what: string, actual: readonly string[], expected: readonly string[]): string[] {
  const place = expected.findIndex((line, i) => line !== actual[i]);
  if (place < 0 && actual.length === expected.length) return [];
  const i = place < 0 ? expected.length : place;
  return [`${what} differ at ${i}: expected "${expected[i]}", got "${actual[i]}"`];
}
