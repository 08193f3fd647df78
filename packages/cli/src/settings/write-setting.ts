/** Changes one value in a file of settings, and keeps a project trusted whose settings the person changes here. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord } from "deepwright/check-options";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { openTrustRecord } from "../trust/trust-record.ts";
import { splitKey } from "./merge.ts";
import {
  checkedSettings,
  type FileKind,
  parseSettings,
  readSettingsFiles,
  settingsPath,
} from "./settings-file.ts";
import { areTrusted, trustSettings } from "./settings-trust.ts";

export interface WriteRequest {
  readonly kind: FileKind;
  /** The real path of the project's directory. */
  readonly directory: string;
  readonly home: string;
  /** With dots. */
  readonly key: string;
  /** Undefined removes it. */
  readonly value: unknown;
}

export interface Written {
  readonly path: string;
  /** False: the file counts only once the person trusts the directory. */
  readonly isTrusted: boolean;
}

/** The rest of the file stays as it is. Throws where the file would not be valid afterwards. */
export async function writeSetting({ kind, directory, home, key, value }: WriteRequest): Promise<Written> {
  const path = settingsPath(kind, directory, home);
  const files = await readSettingsFiles(directory, home);
  const { text = "{}" } = files.find((file) => file.kind === kind) ?? {};
  const now = JSON.parse(JSON.stringify(await parseSettings(text, path))) as Record<string, unknown>;
  put(now, splitKey(key), value);
  await checkedSettings(now, `'${safeLine(key, 120)}' cannot be set so`);
  const after = `${JSON.stringify(now, undefined, 2)}\n`;
  return writeSettingsText({ kind, directory, home }, after);
}

/** Replaces the whole file; the caller has checked the text. */
export async function writeSettingsText(
  { kind, directory, home }: Pick<WriteRequest, "kind" | "directory" | "home">,
  text: string,
): Promise<Written> {
  const path = settingsPath(kind, directory, home);
  const before = await readSettingsFiles(directory, home);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text, { mode: kind === "user" ? 0o600 : 0o644 });
  await rename(draft, path);
  if (kind === "user") return { path, isTrusted: true };
  const kept = await openTrustRecord(home).get(directory);
  const hadNone = before.every((file) => file.kind === "user" || file.text === undefined);
  if (!hadNone && !areTrusted(kept, before)) return { path, isTrusted: false };
  await trustSettings(directory, home, await readSettingsFiles(directory, home));
  return { path, isTrusted: true };
}

function put(settings: Record<string, unknown>, names: readonly string[], value: unknown): void {
  const [name = "", ...rest] = names;
  if (name === "" || name === "__proto__") throw usageError("The key is empty.");
  if (rest.length === 0) {
    if (value === undefined) delete settings[name];
    else settings[name] = value;
    return;
  }
  const inner = Object.hasOwn(settings, name) ? settings[name] : undefined;
  const next = isRecord(inner) ? inner : {};
  put(next, rest, value);
  if (Object.keys(next).length === 0) delete settings[name];
  else settings[name] = next;
}
