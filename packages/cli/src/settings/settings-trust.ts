/** Whether a person has trusted a project's settings exactly as they are now. */
import { textHash } from "../trust/instruction-files.ts";
import { openTrustRecord, type TrustedDirectory } from "../trust/trust-record.ts";
import { type FileKind, PROJECT_FILES, type SettingsFile } from "./settings-file.ts";

/** Files of settings in the form of the trust record: paths as an agent sees them. */
export function settingsHashes(files: readonly SettingsFile[]): readonly (readonly [string, string])[] {
  return files.flatMap(({ kind, text }) =>
    kind === "user" || text === undefined ? [] : [[recordPath(kind), textHash(text)] as const],
  );
}

function recordPath(kind: Exclude<FileKind, "user">): string {
  return `/${PROJECT_FILES[kind]}`;
}

/** Judges the settings alone: a changed AGENTS.md does not stop hooks. */
export function areTrusted(kept: TrustedDirectory | undefined, files: readonly SettingsFile[]): boolean {
  if (kept === undefined) return false;
  const known = new Map(kept.files);
  const now = new Map(settingsHashes(files));
  return Object.values(PROJECT_FILES).every((name) => known.get(`/${name}`) === now.get(`/${name}`));
}

/** The person agrees to the settings as they are in `files`; what else they trusted in the directory stays. */
export async function trustSettings(
  directory: string,
  home: string,
  files: readonly SettingsFile[],
): Promise<void> {
  const record = openTrustRecord(home);
  const names: readonly string[] = Object.values(PROJECT_FILES).map((name) => `/${name}`);
  const others = ((await record.get(directory))?.files ?? []).filter(([path]) => !names.includes(path));
  const all = [...others, ...settingsHashes(files)];
  await record.put(
    directory,
    all.map(([path, hash]) => ({ path, hash })),
  );
}
