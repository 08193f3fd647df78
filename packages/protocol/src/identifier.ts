/** Ids of threads, runs, assistants, crons and checkpoints as text. Loads no schemas. */
export const IDENTIFIER = /^[A-Za-z0-9](?:[A-Za-z0-9._:@-]{0,126}[A-Za-z0-9])?$/;

export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text) && !text.includes("..");
}
