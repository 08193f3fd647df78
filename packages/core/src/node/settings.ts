/** Paths of the settings directories of a project and a user, found by looking at the disk. Node only. */
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";

export interface SettingsOptions {
  /** Where the search for the project begins. Default: the current directory. */
  startPath?: string;
  /** The name of the directories, in the project and in the home directory. Default: `.deepwright`. */
  directoryName?: string;
}

/** Methods named `get…` look at nothing; those named `ensure…` make the directory. */
export interface Settings {
  /** The directory that holds `.git`; null where there is none above. */
  readonly projectRoot: string | null;
  /** The directory of the user's own: DEEPWRIGHT_HOME, else `.deepwright` in the home directory. */
  readonly userDeepagentsDir: string;
  readonly hasProject: boolean;
  /** Throws for a name that could lead elsewhere. */
  getAgentDir(agentName: string): string;
  ensureAgentDir(agentName: string): string;
  getUserAgentMdPath(agentName: string): string;
  /** null outside a project, as are those below. */
  getProjectAgentMdPath(): string | null;
  getUserSkillsDir(agentName: string): string;
  ensureUserSkillsDir(agentName: string): string;
  getProjectSkillsDir(): string | null;
  ensureProjectSkillsDir(): string | null;
  ensureProjectDeepagentsDir(): string | null;
}

const DIRECTORY = ".deepwright";
const AGENT_FILE = "agent.md";
const SKILLS = "skills";

/** The nearest directory from `startPath` upwards that holds `.git`, which is a file in a worktree. */
export function findProjectRoot(startPath: string = process.cwd()): string | null {
  for (let directory = resolve(startPath); ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
    if (directory === dirname(directory)) return null;
  }
}

export function createSettings(options: SettingsOptions = {}): Settings {
  checkOptions(options);
  const { startPath, directoryName = DIRECTORY } = options;
  const root = findProjectRoot(startPath);
  const user = userDirectory(directoryName);
  const project = (...names: string[]): string | null =>
    root === null ? null : join(root, directoryName, ...names);
  const ofAgent = (name: string, ...names: string[]): string => join(user, agentName(name), ...names);
  return {
    projectRoot: root,
    userDeepagentsDir: user,
    hasProject: root !== null,
    getAgentDir: (name) => ofAgent(name),
    ensureAgentDir: (name) => made(ofAgent(name)),
    getUserAgentMdPath: (name) => ofAgent(name, AGENT_FILE),
    getProjectAgentMdPath: () => project(AGENT_FILE),
    getUserSkillsDir: (name) => ofAgent(name, SKILLS),
    ensureUserSkillsDir: (name) => made(ofAgent(name, SKILLS)),
    getProjectSkillsDir: () => project(SKILLS),
    ensureProjectSkillsDir: () => made(project(SKILLS)),
    ensureProjectDeepagentsDir: () => made(project()),
  };
}

function userDirectory(directoryName: string): string {
  const given = directoryName === DIRECTORY ? process.env.DEEPWRIGHT_HOME : undefined;
  return resolve(given || join(homedir(), directoryName));
}

function made<Path extends string | null>(path: Path): Path {
  if (path !== null) mkdirSync(path, { recursive: true });
  return path;
}

/** One segment of a path, and no name a system gives a meaning of its own. */
const AGENT_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,99}$/u;

function agentName(name: string): string {
  if (typeof name === "string" && AGENT_NAME.test(name) && !/[. ]$/.test(name)) return name;
  throw new ConfigurationError("INVALID_OPTION", `'${String(name)}' cannot be the name of an agent.`, {
    hint: "Use letters, digits, '_', '-', '.' and spaces.",
  });
}

function checkOptions(options: SettingsOptions): void {
  checkNames("createSettings", options, ["startPath", "directoryName"]);
  const { directoryName } = options;
  if (directoryName !== undefined && !/^\.?[\w-]+$/.test(directoryName))
    throw new ConfigurationError("INVALID_OPTION", "The option 'directoryName' must be one name.");
}
