/** What names of files say: those that cannot be paths of an agent, and those that promise secrets. */

const UNUSABLE = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029\ufffd\\]|[. ]$/u;
const DRIVE = /^[A-Za-z]:$/;

/** Names the agent's paths can carry; it would refuse the others, or read them as another file. */
export function isUsableName(name: string): boolean {
  return !UNUSABLE.test(name) && !DRIVE.test(name);
}

/** What version control keeps for itself, directory or file: no part of the user's work, so not counted either. */
export const VERSION_CONTROL: ReadonlySet<string> = new Set([".git", ".hg", ".svn"]);

/** Directories that never hold the user's own text. */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(["node_modules"]);

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/i,
  /^\.(npmrc|netrc|pgpass|git-credentials|htpasswd)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)$/i,
  /\.(pem|key|p12|pfx|keystore|jks)$/i,
];
const HARMLESS = /\.(example|sample|template|dist)$/i;

/** Files made to hold keys are not shown to a model, ignored by Git or not. */
export function isSecretName(name: string): boolean {
  return !HARMLESS.test(name) && SECRET_NAMES.some((pattern) => pattern.test(name));
}
