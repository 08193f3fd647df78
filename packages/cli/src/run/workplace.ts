/** The directory of a run for its agent, and the changes that the run made. */
import type { FileChange, SharedSaver } from "@deepwright/checkpoint";
import type { BackendProtocol, PreviewChange } from "deepwright";
import type { CommandWork } from "../commands/command-work.ts";
import type { Commands } from "../commands/commands.ts";
import { controlPathsIn } from "../mcp/open-run-mcp.ts";
import { type DirectoryTrust, directoryTrust } from "../trust/directory-trust.ts";
import { type Changes, changesOf } from "./changes.ts";
import { findKnowledge, type Knowledge, type KnowledgeOptions, NO_KNOWLEDGE } from "./knowledge.ts";
import { changesSince } from "./run-changes.ts";

export interface NotWritten {
  /** As the agent sees it. */
  readonly path: string;
  readonly reason: string;
}

export interface Workplace {
  /** Its real path. */
  readonly directory: string;
  /**
   * `/` is the directory; nothing outside it is reachable except mounts. Files that the harness writes for itself are
   * in the thread, not in the directory.
   */
  readonly backend: BackendProtocol;
  readonly knowledge: Knowledge;
  readonly trust: DirectoryTrust;
  /** Each once, in the order they were refused. */
  readonly notWritten: readonly NotWritten[];
  /** More files that steer other programs, relative to the directory. */
  readonly controlPaths: readonly string[];
  /** `since` is the number of the thread's newest image when the run began. */
  readonly outcome: (saver: SharedSaver, threadId: string, since: number) => Promise<WorkOutcome>;
}

export interface WorkOutcome {
  readonly changes: Changes;
  /** Changes that a dry run did not write. */
  readonly preview: readonly FileChange[] | undefined;
  /** Absent: no command ran in the directory. */
  readonly commands?: CommandWork | undefined;
}

export interface WorkplaceOptions extends KnowledgeOptions {
  /** The directory is only read. */
  readonly dryRun: boolean;
  /** Memory and skills of the directory are trusted in this run, as they are now. */
  readonly trust: boolean;
}

/** The files of a directory before a run has its commands. */
export interface DirectoryFiles {
  readonly directory: string;
  readonly disk: BackendProtocol;
  /** Filled as the agent is refused. */
  readonly notWritten: readonly NotWritten[];
  /** Refuses and notes a change of a file that controls other programs: no person can approve it here. */
  readonly approve: (path: string) => boolean;
  /** More files that control other programs, relative to the directory: files of MCP servers. */
  readonly controlPaths: readonly string[];
}

/** `directory` is a real path. `more` are further files that control other programs, such as scripts of hooks. */
export async function openDirectory(
  directory: string,
  more: readonly string[] = [],
): Promise<DirectoryFiles> {
  const controlPaths = [...new Set([...(await controlPathsIn(directory)), ...more])];
  const { ProjectFiles } = await import("./project-files.ts");
  const notWritten: NotWritten[] = [];
  const approve = (path: string): boolean => {
    if (!notWritten.some((known) => known.path === path)) notWritten.push({ path, reason: "needs approval" });
    return false;
  };
  const disk = new ProjectFiles({ rootDir: directory, virtualMode: true, approve, controlPaths });
  return { directory, disk, notWritten, approve, controlPaths };
}

/** Without commands the agent has no shell. A sandbox with files of its own replaces the directory. */
export async function openWorkplace(
  files: DirectoryFiles,
  options: WorkplaceOptions,
  commands: Commands | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<Workplace> {
  const { CompositeBackend, MapBackend, StateBackend } = await import("deepwright");
  const { directory, disk, notWritten, controlPaths } = files;
  const wanted = options.memory || options.skills;
  const project = commands?.isElsewhere ? new MapBackend() : disk;
  const knowledge = wanted ? await findKnowledge(project, options, environment) : NO_KNOWLEDGE;
  const request = { directory, project, knowledge, isTrusted: options.trust };
  const trust = await directoryTrust(request, environment);
  const { place, outcome } = options.dryRun ? await previewOf(files) : await placeOf(files, commands);
  const areas = AREAS.map((area) => [`/${area}/`, new StateBackend()] as const);
  const backend = new CompositeBackend(place, { ...knowledge.mounts, ...Object.fromEntries(areas) });
  return { directory, backend, knowledge, trust, notWritten, controlPaths, outcome };
}

/** The directories for content that is too long for the context of a model. */
const AREAS = ["large_tool_results", "conversation_history"];

interface Place {
  readonly place: NonNullable<Commands["backend"]>;
  readonly outcome: Workplace["outcome"];
}

async function placeOf({ disk, directory }: DirectoryFiles, commands: Commands | undefined): Promise<Place> {
  const [{ undoTreeName }, { withCommands }, { commandWork }] = await Promise.all([
    import("deepwright/internal"),
    import("../commands/with-commands.ts"),
    import("../commands/command-work.ts"),
  ]);
  const name = undoTreeName(directory);
  return {
    place: commands?.backend ?? (commands ? withCommands(disk, commands, directory) : disk),
    outcome: async (saver, threadId, since) => ({
      changes: await changesSince(saver, threadId, since, name),
      preview: undefined,
      commands: await commandWork(saver, threadId, since, name),
    }),
  };
}

async function previewOf({ disk, approve, controlPaths }: DirectoryFiles): Promise<Place> {
  const [{ PolicyBackend, previewBackend }, { isControlPath }] = await Promise.all([
    import("deepwright"),
    import("deepwright/internal"),
  ]);
  const preview = previewBackend(disk);
  const named = new Set(controlPaths.map((name) => `/${name}`));
  const check = (operation: string, path: string): string | undefined =>
    CHANGING.has(operation) && (isControlPath(path) || named.has(path)) && !approve(path)
      ? `Error: '${path}' steers other programs: a person has to approve a change to it`
      : undefined;
  return { place: new PolicyBackend(preview, { check }), outcome: () => previewed(preview.changes()) };
}

/** Operations that a preview allows and the disk refuses. */
const CHANGING: ReadonlySet<string> = new Set(["write", "append", "edit", "delete", "upload"]);

async function previewed(files: readonly PreviewChange[]): Promise<WorkOutcome> {
  const { changeBetween, fileContent } = await import("@deepwright/checkpoint");
  const preview: FileChange[] = [];
  for (const { path, before, after } of files) {
    const change = await changeBetween(path, fileContent(before), fileContent(after));
    if (change) preview.push(change);
  }
  return { changes: changesOf(preview), preview };
}
