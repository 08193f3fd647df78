/** Names that promise secrets. */

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/i,
  /^\.(npmrc|netrc|pgpass|git-credentials|htpasswd|pypirc|dockercfg|vault-token)$/i,
  /^credentials\.json$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)$/i,
  /\.(pem|key|p12|pfx|keystore|jks|ppk)$/i,
];
const HARMLESS = /\.(example|sample|template|dist)$/i;

/**
 * Files that are secret because of their directory. Git's settings have the addresses of remotes, its objects the
 * content of any file.
 */
const SECRET_PLACES: readonly RegExp[] = [
  /(^|\/)\.(aws|gem)\/credentials$/i,
  /(^|\/)\.cargo\/credentials(\.toml)?$/i,
  /(^|\/)\.docker\/config\.json$/i,
  /(^|\/)\.kube\/config$/i,
  /(^|\/)\.git\/((modules|worktrees)\/.+\/)?config(\.worktree)?$/i,
  /(^|\/)\.git\/(modules\/.+\/)?objects\//i,
];

/** Whether the file at a path is made to hold keys, judged by its name. */
export function isSecretPath(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (SECRET_PLACES.some((pattern) => pattern.test(path))) return true;
  return !HARMLESS.test(name) && SECRET_NAMES.some((pattern) => pattern.test(name));
}
