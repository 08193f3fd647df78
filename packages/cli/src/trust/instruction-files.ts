/** The files of a directory that an agent would follow as instructions, with hashes of their content. */
import { createHash } from "node:crypto";
import type { BackendProtocol } from "deepwright";

export const MEMORY = "/AGENTS.md";
/** Directories of skills. Of two skills with one name, the one of the later directory counts. */
export const SKILLS = ["/skills", "/.agents/skills", "/.claude/skills", "/.deepwright/skills"];

/** Settings of the project; what they run or allow counts only when it is trusted. */
export const SETTINGS = ["/.deepwright/settings.json", "/.deepwright/settings.local.json"];

/** Directories of Markdown files that are subagents and commands; later ones count more. */
export const USER_FILES = {
  agents: ["/.claude/agents", "/.deepwright/agents"],
  commands: ["/.claude/commands", "/.deepwright/commands"],
} as const;

/** Rules that an agent is shown when it comes to a directory. */
const RULE_FILES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/** Code of others: an agent looks for no rules there. */
const FOREIGN = new Set(["node_modules", "site-packages", ".git", ".deepwright"]);

const MOST_FILES = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

export interface InstructionFile {
  /** As the agent sees it. */
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
  /** Absent: it is no text, or cannot be read. */
  readonly text?: string;
}

/** There are more files than anybody looks at. */
export class TooMuch extends Error {}

/** AGENTS.md and all files of skills, sorted by path. Throws `TooMuch`. */
export async function mainFiles(project: BackendProtocol): Promise<readonly InstructionFile[]> {
  const found = await Promise.all([
    filesAt(project, [MEMORY]),
    ...SKILLS.map((source) => skillFiles(project, source)),
  ]);
  return sorted(found.flat());
}

/** The rules of directories below. An agent finds each when it comes there. */
export async function ruleFiles(project: BackendProtocol): Promise<readonly InstructionFile[]> {
  const found = await Promise.all(RULE_FILES.map(async (name) => project.glob(name, "/")));
  const paths = found.flatMap(({ files = [] }) => files.map(({ path }) => path));
  const own = paths.filter((path) => path !== MEMORY && !path.split("/").some((part) => FOREIGN.has(part)));
  return sorted(await filesAt(project, own));
}

/** The Markdown files of agents and commands. Throws `TooMuch`. */
export async function userFilesOf(project: BackendProtocol): Promise<readonly InstructionFile[]> {
  const found = await Promise.all(
    Object.values(USER_FILES)
      .flat()
      .map(async (directory) => {
        const { files = [] } = await project.ls(directory);
        return files.filter(({ path, is_dir }) => !is_dir && /\.md$/i.test(path)).map(({ path }) => path);
      }),
  );
  return sorted(await filesAt(project, found.flat()));
}

/** Files that settings name as memory, below the directory. */
export async function memoryFilesOf(
  project: BackendProtocol,
  names: readonly string[],
): Promise<readonly InstructionFile[]> {
  return filesAt(
    project,
    names.map((name) => `/${name}`),
  );
}

export async function settingsFilesOf(project: BackendProtocol): Promise<readonly InstructionFile[]> {
  return filesAt(project, SETTINGS);
}

/** All files of a directory of skills, those below too. */
export async function skillFiles(
  project: BackendProtocol,
  source: string,
): Promise<readonly InstructionFile[]> {
  const paths: string[] = [];
  const directories = [source.replace(/(?<=.)\/$/, "")];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const { files = [] } = await project.ls(next);
    for (const { path, is_dir } of files) (is_dir ? directories : paths).push(path.replace(/\/$/, ""));
    if (paths.length + directories.length > MOST_FILES) throw new TooMuch();
  }
  return sorted(await filesAt(project, paths));
}

async function filesAt(project: BackendProtocol, paths: readonly string[]): Promise<InstructionFile[]> {
  if (paths.length === 0) return [];
  if (paths.length > MOST_FILES) throw new TooMuch();
  const files: InstructionFile[] = [];
  let total = 0;
  for (const path of paths) {
    const [response] = (await project.downloadFiles?.([path])) ?? [];
    if (response?.error === "file_not_found" || response?.error === "parent_not_found") continue;
    const { content } = response ?? {};
    // The agent cannot read it either; should that change, the directory has changed.
    if (!content) files.push({ path, hash: "unreadable", bytes: 0 });
    else files.push(fileOf(path, content));
    total += content?.length ?? 0;
    if (total > MOST_BYTES) throw new TooMuch();
  }
  return files;
}

function fileOf(path: string, content: Uint8Array): InstructionFile {
  const text = textOf(content);
  const hash = text === undefined ? sha256(content) : textHash(text);
  return { path, hash, bytes: content.length, ...(text !== undefined && { text }) };
}

/** The hash of a file by its text, as an agent gets it. */
export function textHash(text: string): string {
  return sha256(Buffer.from(text));
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function textOf(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

function sorted(files: readonly InstructionFile[]): readonly InstructionFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
