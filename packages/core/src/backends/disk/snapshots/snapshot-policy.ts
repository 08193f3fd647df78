/** Decides which files of a directory a snapshot keeps, and how much of them. */

import { isTemporaryName } from "../atomic-write.ts";
import { MAX_IMAGE_BYTES } from "../change-file.ts";
import type { NotKeptReason } from "./tree-entry.ts";

export interface SnapshotLimits {
  /** A larger file is named only. */
  readonly fileBytes: number;
  /** Content of the first snapshot of a directory, all files together. */
  readonly totalBytes: number;
  /** Entries that are looked at. */
  readonly entries: number;
}

export const SNAPSHOT_LIMITS: SnapshotLimits = {
  fileBytes: MAX_IMAGE_BYTES,
  totalBytes: 1024 ** 3,
  entries: 100_000,
};

/** Directories that a tool fills again: dependencies, caches, and what version control keeps for itself. */
const IGNORED = new Set([
  "node_modules",
  ".git",
  ".hg",
  ".svn",
  ".jj",
  ".venv",
  "venv",
  "__pycache__",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".tox",
  ".gradle",
  ".next",
  ".nuxt",
  ".turbo",
  ".parcel-cache",
  ".terraform",
]);

export function isIgnoredDirectory(name: string): boolean {
  return IGNORED.has(name);
}

/** Directories with this file say that they are caches: https://bford.info/cachedir/ */
export const CACHE_TAG = "CACHEDIR.TAG";

/** Files that wait to become whole, of ours. */
export function isPassing(name: string): boolean {
  return isTemporaryName(name);
}

const KEY_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/i,
  /^\.(npmrc|netrc|pgpass|git-credentials|htpasswd|pypirc|dockercfg|vault-token)$/i,
  /^credentials\.json$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)$/i,
  /\.(pem|key|p12|pfx|keystore|jks|ppk)$/i,
];
const HARMLESS = /\.(example|sample|template|dist)$/i;
const KEY_PLACES =
  /(^|\/)(\.(aws|gem)\/credentials|\.cargo\/credentials(\.toml)?|\.docker\/config\.json|\.kube\/config)$/i;

/** Whether the file is made to hold keys, judged by its path. Its content is never stored. */
export function isKeyFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return KEY_PLACES.test(path) || (!HARMLESS.test(name) && KEY_NAMES.some((pattern) => pattern.test(name)));
}

const WORDS: Readonly<Record<NotKeptReason, string>> = {
  large: "It is too large to be kept.",
  key: "It is made to hold keys, so its content is not kept.",
  ignored: "It is a directory that a tool fills again, so its content is not kept.",
  limit: "The directory has more content than is kept.",
  special: "It is not a file, a link or a directory.",
  unreadable: "It could not be read.",
};

export function whyNotKept({ reason, size }: { reason: NotKeptReason; size: number }): string {
  return reason === "ignored" ? `${WORDS.ignored} It had ${size} entries.` : WORDS[reason];
}
