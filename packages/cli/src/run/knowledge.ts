/**
 * Memory and skills of an agent: AGENTS.md and skills of its directory and of the user.
 *
 * The user's files are mounted read-only, file by file or directory by directory. Nothing else in their directory is
 * reachable, threads in particular.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import type { BackendProtocol } from "deepwright";
import { homeOf } from "../state/home.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { MEMORY, SKILLS } from "../trust/instruction-files.ts";

export interface Knowledge {
  /** Paths for the agent; later files count more. */
  readonly memory: readonly string[];
  readonly skills: readonly string[];
  /** Paths of `memory` that the agent cannot change. */
  readonly readOnly: readonly string[];
  /** Backends to mount beside the directory. */
  readonly mounts: Readonly<Record<string, BackendProtocol>>;
  /** Files that were found and could not be used. */
  readonly warnings: readonly string[];
}

export const NO_KNOWLEDGE: Knowledge = { memory: [], skills: [], readOnly: [], mounts: {}, warnings: [] };

const USER_MEMORY = "/.user/memory";
const USER_SKILLS = "/.user/skills";
const MOST_BYTES = 1024 * 1024;

export interface KnowledgeOptions {
  readonly memory: boolean;
  /** Further memory files of settings: absolute paths are the user's, others are below the directory. */
  readonly memoryFiles?: readonly string[] | undefined;
  readonly skills: boolean;
}

/** `project` is the directory the agent works in. */
export async function findKnowledge(
  project: BackendProtocol,
  options: KnowledgeOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Knowledge> {
  const home = homeOf(environment);
  const user = await userKnowledge(home, options);
  const memory: string[] = [];
  const named = (options.memoryFiles ?? []).filter((name) => !isAbsolute(name)).map((name) => `/${name}`);
  if (options.memory)
    for (const path of [MEMORY, ...named]) if (await isFile(project, path)) memory.push(path);
  const skills: string[] = [];
  if (options.skills)
    for (const source of SKILLS) if (await holdsSkills(project, source)) skills.push(`${source}/`);
  return { ...user, memory: [...user.memory, ...memory], skills: [...user.skills, ...skills] };
}

async function userKnowledge(home: string, options: KnowledgeOptions): Promise<Knowledge> {
  const { FilesystemBackend, MapBackend, PolicyBackend } = await import("deepwright");
  const mounts: Record<string, BackendProtocol> = {};
  const found = options.memory ? await userMemory(join(home, "AGENTS.md")) : undefined;
  if (found?.text !== undefined)
    mounts[`${USER_MEMORY}/`] = new PolicyBackend(new MapBackend({ [MEMORY]: found.text }), {
      readOnly: true,
    });
  const memory = found?.text === undefined ? [] : [`${USER_MEMORY}${MEMORY}`];
  const warnings = found?.warning ? [found.warning] : [];
  const named = options.memory ? (options.memoryFiles ?? []).filter((name) => isAbsolute(name)) : [];
  for (const [index, path] of named.entries()) {
    const { text, warning } = await userMemory(path);
    const mount = `${USER_MEMORY}-${index + 1}/`;
    const name = `/${basename(path)}`;
    warnings.push(...(warning ? [warning] : text === undefined ? [`There is no ${safeLine(path)}.`] : []));
    if (text === undefined) continue;
    mounts[mount] = new PolicyBackend(new MapBackend({ [name]: text }), { readOnly: true });
    memory.push(`${mount.slice(0, -1)}${name}`);
  }
  const directory = join(home, "skills");
  const isDirectory = options.skills && (await stat(directory).catch(() => undefined))?.isDirectory();
  const disk = isDirectory ? new FilesystemBackend({ rootDir: directory, virtualMode: true }) : undefined;
  const skills = disk && (await holdsSkills(disk, "/")) ? [`${USER_SKILLS}/`] : [];
  if (disk && skills.length > 0) mounts[`${USER_SKILLS}/`] = new PolicyBackend(disk, { readOnly: true });
  return { memory, skills, readOnly: memory, mounts, warnings };
}

/** It is read here: a link to a file elsewhere is the user's own affair. */
async function userMemory(path: string): Promise<{ text?: string; warning?: string }> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > MOST_BYTES) return { warning: `Too large, not read: ${safeLine(path)}` };
    return { text: new TextDecoder().decode(bytes) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR"
      ? {}
      : { warning: `Not read: ${safeLine(path)} (${code})` };
  }
}

async function isFile(backend: BackendProtocol, path: string): Promise<boolean> {
  return (await backend.read(path, 0, 1)).error === undefined;
}

const MOST_LOOKED_AT = 200;

/** Whether it is a skill, or some directory in it is. */
async function holdsSkills(backend: BackendProtocol, source: string): Promise<boolean> {
  const start = source === "/" ? "" : source;
  if (await isFile(backend, `${start}/SKILL.md`)) return true;
  const { files = [] } = await backend.ls(source);
  const directories = files.filter((file) => file.is_dir).slice(0, MOST_LOOKED_AT);
  for (const { path } of directories)
    if (await isFile(backend, `${path.replace(/\/$/, "")}/SKILL.md`)) return true;
  return false;
}

/** `Memory: /AGENTS.md · Skills: /skills/`; undefined where there is none. */
export function knowledgeLine({ memory, skills }: Knowledge): string | undefined {
  const named = (label: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`${label}: ${paths.map((path) => shown(path)).join(", ")}`];
  return [...named("Memory", memory), ...named("Skills", skills)].join(" · ") || undefined;
}

/** For people: where the user's own are, not where they are mounted. */
function shown(path: string): string {
  return safeLine(
    path
      .replace(/^\/\.user\/memory(?:-\d+)?\//, "the user's ")
      .replace(`${USER_SKILLS}/`, "the user's skills"),
  );
}
