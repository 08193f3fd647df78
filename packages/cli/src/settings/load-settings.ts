/**
 * The settings of a directory: the user's file, the project's, the project's local one, the environment, flags. Later ones
 * count more. Where there is no file and no variable, nothing is loaded to check them.
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { openTrustRecord } from "../trust/trust-record.ts";
import { type SettingVariable, settingsOfEnvironment } from "./environment.ts";
import { type Layer, type LayerKind, mergeLayers, type Origin, splitKey } from "./merge.ts";
import { type Split, splitByPower } from "./powers.ts";
import type { Settings } from "./schema.ts";
import { checkedSettings, parseSettings, readSettingsFiles, type SettingsFile } from "./settings-file.ts";
import { areTrusted } from "./settings-trust.ts";

export interface SettingsRequest {
  /** The real path of the project's directory. */
  readonly directory: string;
  /** The user's own directory, usually ~/.deepwright. */
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** The command line's. Their origin is `--` and the key. */
  readonly flags?: Settings;
  /** The project's settings count in this run, as they are now. */
  readonly isTrusted?: boolean;
}

export interface LoadedSettings {
  /** The values that count. */
  readonly settings: Settings;
  /** By key with dots. A list that several layers join has several origins. */
  readonly origins: ReadonlyMap<string, readonly Origin[]>;
  readonly files: readonly SettingsFile[];
  /** The project's settings that do not count because nobody trusts them as they are now; undefined: none. */
  readonly held: HeldSettings | undefined;
}

export interface HeldSettings {
  /** Paths of the files. */
  readonly files: readonly string[];
  /** Keys with dots. */
  readonly keys: readonly string[];
  /** Keys that would start programs or call servers; a run without a person does not begin. */
  readonly runs: readonly string[];
  /** The directory was trusted, with other settings. */
  readonly hasChanged: boolean;
}

export async function loadSettings(request: SettingsRequest): Promise<LoadedSettings> {
  const { directory, home, env, flags } = request;
  const files = await readSettingsFiles(directory, home);
  const kept = files.some(isProjects) ? await openTrustRecord(home).get(directory) : undefined;
  const isTrusted = request.isTrusted === true || areTrusted(kept, files);
  const layers: Layer[] = [];
  const splits: { readonly path: string; readonly split: Split }[] = [];
  for (const { kind, path, text } of files) {
    if (text === undefined) continue;
    const origin = { layer: kind, name: path };
    const written = await parseSettings(text, path);
    checkMemory(written, kind, path);
    const values = kind === "user" ? withMemoryOfUser(written, home) : written;
    const split = kind === "user" || isTrusted ? undefined : splitByPower(values);
    layers.push({ origin, values: split?.harmless ?? values });
    if (split && split.held.length > 0) splits.push({ path, split });
  }
  for (const [variable, value] of settingsOfEnvironment(env))
    layers.push(await environmentLayer(variable, value));
  if (flags !== undefined) layers.push(...flagLayers(flags));
  return { ...mergeLayers(layers), files, held: heldOf(splits, kept !== undefined) };
}

function isProjects({ kind, text }: SettingsFile): boolean {
  return kind !== "user" && text !== undefined;
}

function heldOf(
  splits: readonly { readonly path: string; readonly split: Split }[],
  hasChanged: boolean,
): HeldSettings | undefined {
  if (splits.length === 0) return undefined;
  const all = (pick: (split: Split) => readonly string[]): readonly string[] => [
    ...new Set(splits.flatMap(({ split }) => pick(split))),
  ];
  return {
    files: splits.map(({ path }) => path),
    keys: all(({ held }) => held),
    runs: all(({ runs }) => runs),
    hasChanged,
  };
}

/** A project's instruction files must lie in the project. A file elsewhere is not the project's to give to a model. */
function checkMemory({ memory }: Settings, kind: LayerKind, path: string): void {
  const outside = memory?.files?.find((name) =>
    /^(?:[/\\~]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name),
  );
  if (kind !== "user" && outside !== undefined)
    throw usageError(
      `${safeLine(path)}: 'memory.files' must name files below the project's directory, but it names '${safeLine(outside, 120)}'.`,
    );
}

/** The user's files by absolute paths: relative ones in the settings then are the project's. */
function withMemoryOfUser(settings: Settings, home: string): Settings {
  const { memory } = settings;
  if (memory?.files === undefined) return settings;
  const files = memory.files.map((name) =>
    /^~[/\\]/.test(name) ? join(homedir(), name.slice(2)) : resolve(home, name),
  );
  return { ...settings, memory: { files } };
}

/** Models and addresses are checked where they are used: the words about them are the same for flags. */
async function environmentLayer({ name, key }: SettingVariable, value: unknown): Promise<Layer> {
  const given = nested(key, value);
  const isChecked = key !== "model" && key !== "baseUrl";
  const values = isChecked ? await checkedSettings(given, name) : (given as Settings);
  return { origin: { layer: "environment", name }, values };
}

function flagLayers(flags: Settings): readonly Layer[] {
  return Object.entries(flags).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ origin: { layer: "flags" as const, name: `--${key}` }, values: { [key]: value } as Settings }],
  );
}

/** `sandbox.kind` and a value as `{ sandbox: { kind: value } }`. */
export function nested(key: string, value: unknown): Record<string, unknown> {
  return splitKey(key).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<
    string,
    unknown
  >;
}
