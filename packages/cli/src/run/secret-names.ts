/** Names that promise secrets. */

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/i,
  /^\.(npmrc|netrc|pgpass|git-credentials|htpasswd)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)$/i,
  /\.(pem|key|p12|pfx|keystore|jks)$/i,
];
const HARMLESS = /\.(example|sample|template|dist)$/i;

/** Whether the file at a path is made to hold keys, told by its name. */
export function isSecretPath(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return !HARMLESS.test(name) && SECRET_NAMES.some((pattern) => pattern.test(name));
}
