/** Removes the values of secrets from text. This stops accidents, not intent: a value can be spelled differently. */

/** Shorter values would match unrelated text. */
const SHORTEST = 4;

export function redactSecrets(text: string, secrets: Readonly<Record<string, string>>): string {
  let clean = text;
  for (const [name, value] of Object.entries(secrets))
    if (value.length >= SHORTEST) clean = clean.replaceAll(value, `[${name}]`);
  return clean;
}
