/** One thing that doctor looks at. */

export interface Check {
  readonly name: string;
  /** `note`: it works, with less than it could. */
  readonly state: "ok" | "note" | "problem";
  /** The finding. */
  readonly words: string;
  /** The remedy; every note and problem has one. */
  readonly remedy?: string;
}

export function ok(name: string, words: string): Check {
  return { name, state: "ok", words };
}

export function note(name: string, words: string, remedy: string): Check {
  return { name, state: "note", words, remedy };
}

export function problem(name: string, words: string, remedy: string): Check {
  return { name, state: "problem", words, remedy };
}
