const MAX_LENGTH = 4_000;

/** The beginning of a long text, and how much is missing. */
export function shorten(text: string): string {
  return text.length <= MAX_LENGTH
    ? text
    : `${text.slice(0, MAX_LENGTH)}… (${text.length - MAX_LENGTH} characters more)`;
}
