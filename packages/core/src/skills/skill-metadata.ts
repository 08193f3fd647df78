/** Front matter of a skill, checked against the Agent Skills format. */
import { showPath } from "../paths.ts";
import type { FieldMap, FieldValue } from "./front-matter.ts";

/** Bytes. A larger SKILL.md is skipped. */
export const MAX_SKILL_FILE_SIZE: number = 10 * 1024 * 1024;
export const MAX_SKILL_NAME_LENGTH = 64;
/** UTF-16 code units. Longer texts are cut. */
export const MAX_SKILL_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;

export interface SkillMetadata {
  /** Lower-case letters, digits and hyphens, and the name of the directory; another one is warned about. */
  name: string;
  description: string;
  /** Path of its SKILL.md, in the backend. */
  path: string;
  license?: string | null;
  compatibility?: string | null;
  metadata?: Record<string, string>;
  /** Recommended by the skill; nothing is allowed or forbidden by it. */
  allowedTools?: string[];
  /** A file of code that belongs to the skill, relative to its directory. */
  module?: string;
}

/** Stable: programs switch on it. */
export type SkillWarningCode =
  /** Nothing is there, or it is no directory. */
  | "SOURCE_NOT_FOUND"
  /** It is there but could not be listed. */
  | "SOURCE_UNREADABLE"
  | "SOURCE_EMPTY"
  | "SKILL_UNREADABLE"
  | "SKILL_TOO_LARGE"
  | "INVALID_FRONT_MATTER"
  /** The skill was loaded nevertheless: see `message`. */
  | "SKILL_IRREGULAR";

/** Something about a source or a skill that its author should know. */
export interface SkillWarning {
  readonly code: SkillWarningCode;
  /** Path of the source or of the SKILL.md. */
  readonly path: string;
  readonly message: string;
}

export interface CheckedSkill {
  /** Absent: it cannot be used. */
  readonly skill?: SkillMetadata;
  readonly warnings: readonly SkillWarning[];
}

/** Nearly all names; the next pattern takes a program a while to make. */
const PLAIN_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME = /^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$/u;
const NOT_A_NAME = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** `directory` is the name of the directory that `path` lies in. */
export function checkSkill(fields: FieldMap, path: string, directory: string): CheckedSkill {
  const refuse = (reason: string): CheckedSkill => ({
    warnings: [warning("INVALID_FRONT_MATTER", path, `was skipped: ${reason}`)],
  });
  if (holdsPrototype(fields)) return refuse("the key '__proto__' is not allowed");
  const name = text(fields.get("name"));
  const description = text(fields.get("description"));
  if (name === undefined) return refuse("its front matter has no 'name'");
  if (description === undefined) return refuse("its front matter has no 'description'");
  if (!PLAIN_NAME.test(name) && NOT_A_NAME.test(name)) return refuse("its 'name' has control characters");
  const notes = irregularities(name, description, fields, directory);
  const skill: SkillMetadata = {
    name: name.slice(0, MAX_SKILL_NAME_LENGTH),
    description: cut(description, MAX_SKILL_DESCRIPTION_LENGTH),
    path,
  };
  return {
    skill: addOptionalFields(skill, fields),
    warnings: notes.map((note) => warning("SKILL_IRREGULAR", path, note)),
  };
}

export function warning(code: SkillWarningCode, path: string, what: string): SkillWarning {
  return { code, path, message: `'${showPath(path)}' ${what}.` };
}

function irregularities(name: string, description: string, fields: FieldMap, directory: string): string[] {
  const notes: string[] = [];
  if (name.length > MAX_SKILL_NAME_LENGTH)
    notes.push(`has a name of ${name.length} characters: it was cut to ${MAX_SKILL_NAME_LENGTH}`);
  else if (!PLAIN_NAME.test(name) && !NAME.test(name))
    notes.push(`has the name '${name}': a name is lower-case letters, digits and single hyphens`);
  else if (name !== directory)
    notes.push(`has the name '${name}' but lies in '${showPath(directory)}': the two should be the same`);
  if (description.length > MAX_SKILL_DESCRIPTION_LENGTH)
    notes.push(
      `has a description of ${description.length} characters: it was cut to ${MAX_SKILL_DESCRIPTION_LENGTH}`,
    );
  const metadata = fields.get("metadata");
  if (metadata !== undefined && !(metadata instanceof Map) && text(metadata) !== undefined)
    notes.push("has 'metadata' that is not a list of `key: value`: it was left out");
  return notes;
}

function addOptionalFields(skill: SkillMetadata, fields: FieldMap): SkillMetadata {
  const license = text(fields.get("license"));
  const compatibility = text(fields.get("compatibility"));
  const metadata = textMap(fields.get("metadata"));
  const allowedTools = toolNames(fields.get("allowed-tools"));
  const module = text(fields.get("module"));
  if (license !== undefined) skill.license = license;
  if (compatibility !== undefined) skill.compatibility = cut(compatibility, MAX_COMPATIBILITY_LENGTH);
  if (metadata !== undefined) skill.metadata = metadata;
  if (allowedTools !== undefined) skill.allowedTools = allowedTools;
  if (module !== undefined) skill.module = module;
  return skill;
}

/** Undefined for a value that is absent, empty, null or not a scalar. */
function text(value: FieldValue | undefined): string | undefined {
  if (typeof value !== "string") return undefined;
  const trimmed = value.trim();
  return trimmed === "" || trimmed === "~" || trimmed === "null" ? undefined : trimmed;
}

function textMap(value: FieldValue | undefined): Record<string, string> | undefined {
  if (!(value instanceof Map) || value.size === 0) return undefined;
  const entries = [...(value as FieldMap)].map(([key, entry]) => [String(key), asText(entry)] as const);
  return Object.fromEntries(entries);
}

function asText(value: FieldValue): string {
  if (typeof value === "string") return value;
  return JSON.stringify(plain(value));
}

function plain(value: FieldValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, plain(one)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** A list, or names with spaces or commas between them; `Bash(git add:*)` is one name. */
function toolNames(value: FieldValue | undefined): string[] | undefined {
  const names = Array.isArray(value)
    ? value.flatMap((item: FieldValue) => text(item) ?? [])
    : namesIn(text(value) ?? "");
  return names.length === 0 || names[0] === "" ? undefined : names;
}

function namesIn(value: string): string[] {
  return /^[\w-]*$/.test(value) ? [value] : (value.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? []);
}

function holdsPrototype(fields: FieldMap): boolean {
  const metadata = fields.get("metadata");
  return fields.has("__proto__") || (metadata instanceof Map && metadata.has("__proto__"));
}

/** With a mark in the place of the last character; no half of a character stays. */
export function cut(given: string, length: number): string {
  if (given.length <= length) return given;
  return `${given.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
