/** Keeps secrets out of what is shown or stored: providers repeat keys in their errors. */

const SECRET_VARIABLE = /(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)/i;
const MIN_SECRET_LENGTH = 6;

/** Keys as the well-known services shape them. */
const KEY_SHAPE = /\b(?:sk|pk|rk|gsk|ghp|gho|xox[abp])[-_][\w-]{12,}|\bAIza[\w-]{20,}/g;

/** Values of variables that hold secrets are struck out; so are passwords in addresses and what looks like a key. */
export function withoutSecrets(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  let clean = text.replace(/(?<=\w:\/\/)[^/\s]+@/g, "");
  for (const [name, value] of secretsIn(environment)) clean = clean.replaceAll(value, `[${name}]`);
  return clean.replace(KEY_SHAPE, "[key]");
}

/** The variables that hold secrets, and what they hold. */
export function secretsIn(
  environment: Readonly<Record<string, string | undefined>>,
): readonly (readonly [name: string, value: string])[] {
  return Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && entry[1].length >= MIN_SECRET_LENGTH && SECRET_VARIABLE.test(entry[0]),
  );
}
