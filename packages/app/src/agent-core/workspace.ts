/** The workspace of an app's agent: its files, its commands, and its part of the prompt. */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createSandbox } from "@deepwright/sandboxes";
import { osSandbox } from "@deepwright/sandboxes/os";
import {
  CompositeBackend,
  ConfigurationError,
  type CreateDeepAgentParams,
  createSettings,
  FilesystemBackend,
  LocalShellBackend,
  PolicyBackend,
  type PolicyOperation,
  StateBackend,
} from "deepwright";

export interface WorkspaceOptions {
  readonly workspaceDir: string;
  readonly sandbox: "os" | "none";
  /** Seconds. */
  readonly timeout: number;
  readonly maxOutputBytes: number;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: `skills` in the user's own directory. */
  readonly globalSkillsDir?: string | undefined;
}

export interface Workspace {
  readonly backend: NonNullable<CreateDeepAgentParams["backend"]>;
  /** The directory itself, for tools of the app. */
  readonly files: FilesystemBackend;
  /** Paths for the agent; if two skills have the same name, the later directory wins. */
  readonly skills: readonly string[];
  close(): Promise<void>;
}

export const GLOBAL_SKILLS = "/.global/skills/";
export const WORKSPACE_SKILLS = "/skills/";

/** Offloaded files belong to the thread; they do not appear among the user's files. */
const AREAS = {
  "/large_tool_results/": new StateBackend(),
  "/conversation_history/": new StateBackend(),
};

const READING: ReadonlySet<PolicyOperation> = new Set([
  ...(["ls", "read", "readRaw", "grep", "glob", "download"] as const),
]);

const COMMAND_NOTE =
  "Commands start in the directory that file paths call `/`: in a command, write `./a/b` for the file `/a/b`. They can change that directory and /tmp only, and reach no network.";

/** Fails where the directory is not there, or where the sandbox cannot be had. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const rootDir = resolve(options.workspaceDir);
  if (!(await isDirectory(rootDir)))
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'workspaceDir' must be a directory that exists.",
    );
  const globalDir = resolve(options.globalSkillsDir ?? join(createSettings().userDeepagentsDir, "skills"));
  const [hasGlobal, hasOwn] = await Promise.all([
    isDirectory(globalDir),
    isDirectory(join(rootDir, "skills")),
  ]);
  const files = new FilesystemBackend({ rootDir, virtualMode: true });
  const { backend, close } =
    options.sandbox === "none" ? unisolated(rootDir, options) : await isolated(rootDir, files, options);
  const skills = [...(hasGlobal ? [GLOBAL_SKILLS] : []), ...(hasOwn ? [WORKSPACE_SKILLS] : [])];
  const mounts = { ...AREAS, ...(hasGlobal && { [GLOBAL_SKILLS]: readOnlySkills(globalDir) }) };
  return { backend: new CompositeBackend(backend, mounts), files, skills, close };
}

function readOnlySkills(rootDir: string): PolicyBackend {
  return new PolicyBackend(new FilesystemBackend({ rootDir, virtualMode: true }), {
    check: (operation) => (READING.has(operation) ? undefined : "Global skills cannot be changed."),
  });
}

function unisolated(rootDir: string, { timeout, maxOutputBytes, env }: WorkspaceOptions) {
  const backend = new LocalShellBackend({ rootDir, virtualMode: true, timeout, maxOutputBytes, env });
  return { backend, close: () => backend.close() };
}

async function isolated(
  rootDir: string,
  files: FilesystemBackend,
  { timeout, maxOutputBytes, env }: WorkspaceOptions,
) {
  const backend = createSandbox({
    provider: osSandbox({ rootDir, files, commandNote: COMMAND_NOTE, timeout, maxOutputBytes, env }),
  });
  try {
    // A private lease: an agent must not begin if no sandbox can be opened.
    await (await backend.lease()).release();
  } catch (error) {
    await backend.close();
    throw error;
  }
  return { backend, close: () => backend.close({ keep: false }) };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
