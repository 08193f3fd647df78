/** Joins the layers of settings, and remembers where each value comes from. Pure. */
import { isRecord } from "deepwright/check-options";
import type { Settings } from "./schema.ts";

export type LayerKind = "user" | "project" | "local" | "environment" | "flags";

/** A value's origin: the layer, and the file, variable or flag. */
export interface Origin {
  readonly layer: LayerKind;
  readonly name: string;
}

export interface Layer {
  readonly origin: Origin;
  readonly values: Settings;
}

export interface Merged {
  readonly settings: Settings;
  /** By key with dots, down to single values; a list that layers join has several origins. */
  readonly origins: ReadonlyMap<string, readonly Origin[]>;
}

/** Lists that every layer adds to. */
const JOINED: ReadonlySet<string> = new Set([
  "commands.allow",
  "commands.ask",
  "commands.deny",
  "memory.files",
]);
/** Records whose entries are whole: a later layer replaces an entry. */
const WHOLE = /^mcpServers\..+$/s;

/** Later layers count more. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const settings: Record<string, unknown> = {};
  const origins = new Map<string, readonly Origin[]>();
  for (const { origin, values } of layers) {
    const { $schema: _, ...own } = values;
    merge(settings, own, "", (key, isJoined) =>
      origins.set(key, isJoined ? [...(origins.get(key) ?? []), origin] : [origin]),
    );
  }
  return { settings: settings as Settings, origins };
}

function merge(
  into: Record<string, unknown>,
  from: Readonly<Record<string, unknown>>,
  prefix: string,
  note: (key: string, isJoined: boolean) => void,
): void {
  for (const [name, value] of Object.entries(from)) {
    const key = `${prefix}${name}`;
    const before = Object.hasOwn(into, name) ? into[name] : undefined;
    if (value === undefined) continue;
    if (isRecord(value) && !WHOLE.test(key)) {
      const inner = isRecord(before) ? before : {};
      merge(inner, value, `${key}.`, note);
      into[name] = inner;
    } else if (Array.isArray(value) && isJoined(key)) {
      const known = Array.isArray(before) ? before : [];
      // Of permissions the first rule that fits decides: those of the nearer layer stand first.
      into[name] = key === "permissions" ? [...value, ...known] : [...known, ...value];
      note(key, true);
    } else {
      into[name] = value;
      note(key, false);
    }
  }
}

function isJoined(key: string): boolean {
  return JOINED.has(key) || key === "permissions" || key.startsWith("hooks.");
}

/** The value at a key with dots; undefined where there is none. */
export function valueAt(settings: object, key: string): unknown {
  let value: unknown = settings;
  for (const name of splitKey(key)) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Names of MCP servers may have dots of their own. */
export function splitKey(key: string): readonly string[] {
  const group = "mcpServers.";
  return key.startsWith(group) ? ["mcpServers", key.slice(group.length)] : key.split(".");
}
