/** Skills in directories of this machine, for programs that look at them without an agent. */

import {
  closeSync,
  type Dirent,
  constants as flagsOf,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../../backends/adapt/adapt-errors.ts";
import { ContainedRoot } from "../../backends/disk/root/contained-root.ts";
import { checkKind, checkNames } from "../../check-options.ts";
import { warnOnConsole } from "../../console-line.ts";
import { ConfigurationError } from "../../errors.ts";
import { decodeText } from "../../text/mime.ts";
import { frontMatterOf, MAX_FRONT_MATTER_LENGTH, readSimpleFields } from "../front-matter.ts";
import {
  checkSkill,
  MAX_SKILL_FILE_SIZE,
  type SkillMetadata,
  type SkillWarning,
  type SkillWarningCode,
  warning,
} from "../skill-metadata.ts";
import { type Fields, parseFields, type Yaml } from "../yaml-fields.ts";

export type SkillOrigin = "user" | "project";

export interface LoaderSkillMetadata {
  name: string;
  description: string;
  /** On the host, as far as it was given. */
  path: string;
  source: SkillOrigin;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  /** Names with spaces between them. */
  allowedTools?: string;
}

export interface ListSkillsOptions {
  userSkillsDir?: string | null;
  projectSkillsDir?: string | null;
  /** Gets a warning for each skill that is skipped or irregular; default: they are written to the console. */
  onWarning?: ((warning: SkillWarning) => void) | null;
}

/** The project's skill wins over another with the same name. A directory that does not exist has none. */
export function listSkills(options: ListSkillsOptions): LoaderSkillMetadata[] {
  checkOptions(options);
  const { userSkillsDir, projectSkillsDir, onWarning } = options;
  const skills = new Map<string, LoaderSkillMetadata>();
  for (const [directory, source] of [
    [userSkillsDir, "user"],
    [projectSkillsDir, "project"],
  ] as const) {
    if (directory == null || directory === "") continue;
    for (const skill of skillsIn(directory, source, onWarning ?? warnAboutSkill))
      skills.set(skill.name, skill);
  }
  return [...skills.values()];
}

/** The skill of one SKILL.md; null, after a warning, for one that cannot be used. */
export function parseSkillMetadata(
  skillMdPath: string,
  source: SkillOrigin,
  onWarning?: ((warning: SkillWarning) => void) | null,
): LoaderSkillMetadata | null {
  if (typeof skillMdPath !== "string")
    throw new ConfigurationError("INVALID_OPTION", "parseSkillMetadata takes the path of a SKILL.md.");
  checkKind("function", { onWarning });
  return metadataOf(skillMdPath, source, onWarning, () => openSync(skillMdPath, OPEN_FLAGS));
}

function metadataOf(
  skillMdPath: string,
  source: SkillOrigin,
  onWarning: ((warning: SkillWarning) => void) | null | undefined,
  open: () => number,
): LoaderSkillMetadata | null {
  const head = readHead(open);
  const checked =
    head.problem === undefined
      ? checkSkill(head.fields, skillMdPath, basename(dirname(skillMdPath)))
      : { warnings: [warning(head.code, skillMdPath, `was skipped: ${head.problem}`)] };
  for (const found of checked.warnings) (onWarning ?? warnAboutSkill)(found);
  return "skill" in checked && checked.skill ? loaded(checked.skill, source) : null;
}

/** Never waits for the other end of a pipe. */
const OPEN_FLAGS = flagsOf.O_RDONLY | (flagsOf.O_NONBLOCK ?? 0);

const OPTION_NAMES = ["userSkillsDir", "projectSkillsDir", "onWarning"];

function checkOptions(options: ListSkillsOptions): void {
  if (options == null)
    throw new ConfigurationError("INVALID_OPTION", "listSkills takes an object with directories.", {
      hint: `Its options are: ${OPTION_NAMES.join(", ")}.`,
    });
  checkNames("listSkills", options, OPTION_NAMES);
  const { userSkillsDir, projectSkillsDir, onWarning } = options;
  checkKind("string", { userSkillsDir, projectSkillsDir });
  checkKind("function", { onWarning });
}

function loaded(skill: SkillMetadata, source: SkillOrigin): LoaderSkillMetadata {
  const { name, description, path, license, compatibility, metadata, allowedTools } = skill;
  return {
    ...{ name, description, path, source },
    ...(license != null && { license }),
    ...(compatibility != null && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(allowedTools !== undefined && { allowedTools: allowedTools.join(" ") }),
  };
}

function skillsIn(
  directory: string,
  source: SkillOrigin,
  onWarning: (warning: SkillWarning) => void,
): LoaderSkillMetadata[] {
  const skills: LoaderSkillMetadata[] = [];
  const root = new ContainedRoot(resolve(directory));
  for (const entry of entriesOf(directory)) {
    if (!entry.isDirectory() && !entry.isSymbolicLink()) continue;
    const path = join(directory, entry.name, "SKILL.md");
    const opened = root.openFile(`/${entry.name}/SKILL.md`);
    if (!("error" in opened)) {
      const skill = metadataOf(path, source, onWarning, () => opened.fd);
      if (skill !== null) skills.push(skill);
    } else if (opened.code !== "FILE_NOT_FOUND") onWarning(unopened(path, errorCode(opened)));
  }
  root.close();
  return skills;
}

function unopened(path: string, code: string): SkillWarning {
  const reason =
    code === "OUTSIDE_ROOT" ? "a link leads out of the skills directory" : `it cannot be read (${code})`;
  return warning("SKILL_UNREADABLE", path, `was skipped: ${reason}`);
}

function entriesOf(directory: string): Dirent[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

type Head = Extract<Fields, { readonly problem?: undefined }> | Unusable;

interface Unusable {
  readonly problem: string;
  readonly code: SkillWarningCode;
}

/** `open` is called once; the descriptor is closed here. */
function readHead(open: () => number): Head {
  let descriptor: number | undefined;
  try {
    descriptor = open();
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return unreadable("it is not a file");
    if (stats.size > MAX_SKILL_FILE_SIZE)
      return {
        code: "SKILL_TOO_LARGE",
        problem: `it is larger than ${MAX_SKILL_FILE_SIZE / 1024 / 1024} MB`,
      };
    const fields = fieldsIn(readStart(descriptor, stats.size));
    if (fields.problem === undefined) return fields;
    return { code: "INVALID_FRONT_MATTER", problem: fields.problem };
  } catch (error) {
    if (isSystemError(error)) return unreadable(`it cannot be read (${error.code})`);
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function unreadable(problem: string): Unusable {
  return { code: "SKILL_UNREADABLE", problem };
}

/** As much as may hold the front matter, to the end of a line. */
function readStart(descriptor: number, size: number): Uint8Array {
  const buffer = Buffer.alloc(Math.min(size, 4 * MAX_FRONT_MATTER_LENGTH));
  const read = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  return read.length < size ? read.subarray(0, read.lastIndexOf(10) + 1) : read;
}

function fieldsIn(bytes: Uint8Array): Fields {
  const text = decodeText(bytes);
  if (text === undefined) return { problem: "it is not UTF-8 text, or its front matter is too long" };
  const front = frontMatterOf(text);
  if (front.problem === "none") return { problem: "it has no front matter" };
  if (front.text === undefined) return { problem: "its front matter has no end, or is too long" };
  const fields = readSimpleFields(front.text);
  return fields === undefined ? parseFields(front.text, yaml()) : { fields };
}

let parser: Yaml | undefined;

/** Loaded when a front matter needs it. */
function yaml(): Yaml {
  parser ??= createRequire(import.meta.url)("yaml") as Yaml;
  return parser;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof (error as NodeJS.ErrnoException | undefined)?.code === "string";
}

function warnAboutSkill(warning: SkillWarning): void {
  warnOnConsole("skills", warning);
}
