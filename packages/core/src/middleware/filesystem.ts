/** File tools on a backend, the state they keep their files in, and a few words about them. */

import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { sameDemand } from "../backends/approval-demand.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import { checkBackend } from "../backends/check-backend.ts";
import { commandNoteOf, isSandboxProtocol } from "../backends/is-sandbox.ts";
import { offersDelete } from "../backends/offered-delete.ts";
import { type BackendSource, isMadeForRun, mayUseState, resolveBackend } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state/state.ts";
import { checkNames } from "../check-options.ts";
import { createMediaStages } from "../context/media/media-references.ts";
import { OffloadLimits } from "../context/offload/offload-limits.ts";
import { createOffloadStages } from "../context/offload/offload-stages.ts";
import { checkDurations } from "../duration.ts";
import { ConfigurationError } from "../errors.ts";
import { INHERIT } from "../internal-symbols.ts";
import { combineStages, type Stages, type StageTask, type WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { showPath } from "../paths.ts";
import { guardBackend } from "../permissions/guard.ts";
import { checkPermissions, type PermissionList, type Rules } from "../permissions/rules.ts";
import { warnAbout } from "../permissions/warnings.ts";
import type { BuiltInTool } from "../tools/built-in-tool.ts";
import { createDeleteTool } from "../tools/delete.ts";
import { createEditFileTool } from "../tools/edit-file.ts";
import { createExecuteTool, type ExecuteToolOptions } from "../tools/execute.ts";
import type { FileToolOptions } from "../tools/file-tool.ts";
import { createGlobTool } from "../tools/glob.ts";
import { createGrepTool } from "../tools/grep.ts";
import { createLsTool } from "../tools/ls.ts";
import { createReadFileTool, type ReadFileToolOptions } from "../tools/read-file.ts";
import { createWriteFileTool } from "../tools/write-file.ts";
import { type AgentDefaults, inheritedBackend, type WithInheritance } from "./inherit.ts";

/** In the order that the model sees. Providers cache this order. */
const MAKERS = {
  ls: createLsTool,
  read_file: createReadFileTool,
  write_file: createWriteFileTool,
  edit_file: createEditFileTool,
  delete: createDeleteTool,
  glob: createGlobTool,
  grep: createGrepTool,
  execute: createExecuteTool,
} as const;

/** `execute` appears with backends that can run commands. */
export type FsToolName = keyof typeof MAKERS;

export const FILESYSTEM_TOOL_NAMES = Object.keys(MAKERS) as readonly FsToolName[];

/** null means absent, unless a field says otherwise. */
export interface FilesystemMiddlewareOptions {
  /** Where the files are; default: the state of the thread. */
  readonly backend?: BackendSource | null;
  /** Replaces our section of the system prompt; `""` removes it. */
  readonly systemPrompt?: string | null;
  readonly customToolDescriptions?: Partial<Record<FsToolName, string>> | null;
  /** The tools to offer; default: all that the backend can serve. */
  readonly tools?: readonly FsToolName[] | "all" | null;
  /** Matches grep returns when the model names no number; default 1000, null: all. */
  readonly grepMaxCount?: number | null;
  /** Lets write_file replace a file; default false. */
  readonly overwrite?: boolean | null;
  /** Seconds the model may ask of execute at most; default 3600. */
  readonly maxExecuteTimeout?: number | null;
  /**
   * Paths that may be read and written, in addition to the agent's own permissions. Rules of mode `interrupt` do not
   * ask a person here: give them to the agent.
   */
  readonly permissions?: PermissionList | null;
  /** Directories the tools may touch; default: all. */
  readonly allowedPrefixes?: readonly string[] | null;
  /** Gets each canonical path and returns the path to use. If it throws, the model reads the message of the error. */
  readonly validatePath?: ((path: string) => string) | null;
  /**
   * Tokens above which results of tools and arguments of calls are kept in a file and the model sees a preview;
   * default 20,000, or a quarter of the model's window where that is less. null: never.
   */
  readonly toolTokenLimitBeforeEvict?: number | null;
  /** The same limit for messages of a person; default 50,000, or half of the window. */
  readonly humanMessageTokenLimitBeforeEvict?: number | null;
}

export type FilesystemMiddleware = AgentMiddleware<StateSchema<{ files: typeof filesValue }>> &
  WithStages &
  WithInheritance;

export function createFilesystemMiddleware(options: FilesystemMiddlewareOptions = {}): FilesystemMiddleware {
  checkOptions(options);
  const backend = guardBackend(options.backend ?? new StateBackend(), permissionsOf(options));
  const limits = new OffloadLimits({
    resultTokens: options.toolTokenLimitBeforeEvict,
    humanTokens: options.humanMessageTokenLimitBeforeEvict,
  });
  const tools = toolsOf(options, backend, limits);
  return {
    ...builtInMiddleware({
      name: "FilesystemMiddleware",
      tools,
      ...(mayUseState(backend) ? { stateSchema: new StateSchema({ files: filesValue }) } : {}),
      stages: stagesOf(options, backend, tools, limits),
    }),
    ...sameDemand(backend),
    [INHERIT]: (defaults: AgentDefaults) =>
      createFilesystemMiddleware({ ...options, backend: inheritedBackend(options.backend, defaults) }),
  };
}

function permissionsOf({ permissions }: FilesystemMiddlewareOptions): Rules {
  const rules = checkPermissions(permissions);
  warnAbout(rules);
  return rules;
}

/** Media come first: their content is not text and not counted as such. */
function stagesOf(
  { systemPrompt }: FilesystemMiddlewareOptions,
  backend: BackendSource,
  tools: readonly BuiltInTool[],
  limits: OffloadLimits,
): Stages {
  const names = new Set(tools.map(({ name }) => name));
  const stages = combineStages(
    createMediaStages({ backend }),
    createOffloadStages({ backend, limits, tools: names }),
  );
  const isKnownInRun = isMadeForRun(backend) && (names.has("execute") || names.has("delete"));
  return isKnownInRun
    ? combineStages(stages, servedStages(backend, systemPrompt, tools))
    : { ...stages, prompt: sectionOf(systemPrompt, backend) };
}

/** For a backend that a factory makes in each run: hides the tools it has no method for, and describes the others. */
function servedStages(
  source: BackendSource,
  systemPrompt: string | null | undefined,
  ours: readonly BuiltInTool[],
): Stages {
  const backends = new WeakMap<StageTask, BackendProtocol>();
  const backendOf = async (task: StageTask): Promise<BackendProtocol> => {
    const backend = backends.get(task) ?? (await resolveBackend(source, task.runtime));
    backends.set(task, backend);
    return backend;
  };
  return {
    section: async (visible, task) => {
      const backend = await backendOf(task);
      const hidden = new Set(ours.map(({ name }) => name).filter((name) => !serves(backend, name)));
      return sectionOf(systemPrompt, backend)(new Set([...visible].filter((name) => !hidden.has(name))));
    },
    outgoing: async (outgoing, task) => {
      const backend = await backendOf(task);
      const isServed = (tool: unknown): boolean =>
        !ours.includes(tool as BuiltInTool) || serves(backend, (tool as BuiltInTool).name);
      return outgoing.tools.every(isServed)
        ? outgoing
        : { ...outgoing, tools: outgoing.tools.filter(isServed) };
    },
  };
}

function toolsOf(
  options: FilesystemMiddlewareOptions,
  backend: BackendSource,
  limits: OffloadLimits,
): readonly BuiltInTool[] {
  const { tools, customToolDescriptions: descriptions } = options;
  const wanted = Array.isArray(tools) ? new Set(tools) : undefined;
  const common: FileToolOptions & ExecuteToolOptions & ReadFileToolOptions = {
    backend: (runtime) => resolveBackend(backend, runtime),
    allowedPrefixes: options.allowedPrefixes ?? undefined,
    validatePath: options.validatePath ?? undefined,
    grepMaxCount: options.grepMaxCount,
    overwrite: options.overwrite ?? false,
    maxTimeout: options.maxExecuteTimeout ?? undefined,
    pageTokens: () => limits.result,
  };
  return FILESYSTEM_TOOL_NAMES.filter((name) => wanted === undefined || wanted.has(name))
    .filter((name) => isMadeForRun(backend) || serves(backend, name))
    .map((name) => MAKERS[name]({ ...common, description: descriptions?.[name] }));
}

function serves(backend: BackendSource, tool: string): boolean {
  if (tool === "execute") return isSandboxProtocol(backend);
  return tool !== "delete" || offersDelete(backend as BackendProtocol);
}

function sectionOf(given: string | null | undefined, backend: BackendSource): NonNullable<Stages["prompt"]> {
  const { workingDirectory } = backend as BackendProtocol;
  const commandNote = commandNoteOf(backend);
  return (visible) => {
    if (!FILESYSTEM_TOOL_NAMES.some((name) => visible.has(name))) return "";
    if (given != null) return given;
    const commands = [EXECUTION_SYSTEM_PROMPT, commandNote].filter((words) => words !== "").join("\n");
    return [filesSection(visible, workingDirectory), visible.has("execute") ? commands : ""]
      .filter((part) => part !== "")
      .join("\n\n");
  };
}

/** Speaks only of tools the model can see. */
export function filesSection(visible: ReadonlySet<string>, workingDirectory = "/"): string {
  if (!FILESYSTEM_TOOL_NAMES.some((name) => name !== "execute" && visible.has(name))) return "";
  const lines = ["## Files", pathWords(workingDirectory)];
  const finders = ["glob", "grep"].filter((name) => visible.has(name)).map((name) => `\`${name}\``);
  if (finders.length > 0 && visible.has("read_file"))
    lines.push(`Find what you need with ${finders.join(" and ")} before you read it.`);
  if (visible.has("write_file")) lines.push("Keep long results and notes in files instead of messages.");
  return lines.join("\n");
}

function pathWords(workingDirectory: string): string {
  if (workingDirectory === "/") return "Paths are absolute and begin with `/`.";
  return `You work in \`${showPath(workingDirectory)}\`: relative paths lie there.`;
}

/** The part of the prompt for agents that can run commands. */
export const EXECUTION_SYSTEM_PROMPT = `## Commands
\`execute\` runs a command in a shell. Nobody can answer its questions: use flags that avoid them.
Each command starts anew: directory and variables do not last. Put paths with spaces in quotes.`;

const OPTION_NAMES = new Set([
  "backend",
  "systemPrompt",
  "customToolDescriptions",
  "tools",
  "grepMaxCount",
  "overwrite",
  "maxExecuteTimeout",
  "permissions",
  "allowedPrefixes",
  "validatePath",
  "toolTokenLimitBeforeEvict",
  "humanMessageTokenLimitBeforeEvict",
]);

function checkOptions(options: FilesystemMiddlewareOptions): void {
  checkNames("createFilesystemMiddleware", options, OPTION_NAMES);
  checkBackend(options.backend);
  const { tools, customToolDescriptions, maxExecuteTimeout } = options;
  for (const name of ["toolTokenLimitBeforeEvict", "humanMessageTokenLimitBeforeEvict"] as const)
    if (options[name] != null && !(options[name] > 0))
      throw new ConfigurationError(
        "INVALID_OPTION",
        `The option '${name}' must be more than 0 tokens, or null for never, not ${options[name]}.`,
      );
  checkDurations({ unit: "seconds", unlimited: true }, { maxExecuteTimeout });
  if (tools && tools !== "all" && !Array.isArray(tools))
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'tools' must be a list of tool names or 'all'.",
    );
  const named = [...(Array.isArray(tools) ? tools : []), ...Object.keys(customToolDescriptions ?? {})];
  const stranger = named.find((name) => !FILESYSTEM_TOOL_NAMES.includes(name as FsToolName));
  if (stranger !== undefined)
    throw new ConfigurationError("INVALID_OPTION", `There is no file tool '${stranger}'.`, {
      hint: `The file tools are: ${FILESYSTEM_TOOL_NAMES.join(", ")}.`,
    });
}
