/** File tools on a backend, the state they keep their files in, and a few words about them. */

import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import type { BackendProtocol } from "../backends/backend.ts";
import { commandNoteOf, isSandboxProtocol } from "../backends/is-sandbox.ts";
import { type BackendSource, isMadeForRun, mayUseState, resolveBackend } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state.ts";
import { ConfigurationError } from "../errors.ts";
import {
  appendSection,
  PROMPT_SECTION,
  type PromptSection,
  type WithPromptSection,
} from "../loop/prompt-section.ts";
import { showPath } from "../paths.ts";
import { type BuiltInTool, backendRuntime, type ToolCallRuntime } from "../tools/built-in-tool.ts";
import { createDeleteTool } from "../tools/delete.ts";
import { createEditFileTool } from "../tools/edit-file.ts";
import { createExecuteTool, type ExecuteToolOptions } from "../tools/execute.ts";
import type { FileToolOptions } from "../tools/file-tool.ts";
import { createGlobTool } from "../tools/glob.ts";
import { createGrepTool } from "../tools/grep.ts";
import { createLsTool } from "../tools/ls.ts";
import { createReadFileTool } from "../tools/read-file.ts";
import { createWriteFileTool } from "../tools/write-file.ts";
import { type AgentDefaults, INHERIT, type WithInheritance } from "./inherit.ts";

/** In the order the model sees them, which is part of what providers cache. */
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

/** null means absent, except where it says otherwise. */
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
  /** Directories the tools may touch; default: all. */
  readonly allowedPrefixes?: readonly string[] | null;
  /** Gets each canonical path and returns the one to use; what it throws is told to the model. */
  readonly validatePath?: ((path: string) => string) | null;
}

export type FilesystemMiddleware = AgentMiddleware<StateSchema<{ files: typeof filesValue }>> &
  WithPromptSection &
  WithInheritance;

export function createFilesystemMiddleware(options: FilesystemMiddlewareOptions = {}): FilesystemMiddleware {
  checkOptions(options);
  const backend = options.backend ?? new StateBackend();
  const tools = toolsOf(options, backend);
  return {
    name: "FilesystemMiddleware",
    tools,
    ...(mayUseState(backend) ? { stateSchema: new StateSchema({ files: filesValue }) } : {}),
    ...promptOf(options, backend, tools),
    [INHERIT]: (defaults: AgentDefaults) =>
      createFilesystemMiddleware({ ...options, backend: options.backend ?? defaults.backend }),
  };
}

type PromptHooks = Pick<FilesystemMiddleware, "wrapModelCall" | typeof PROMPT_SECTION>;

/** What the backend can do is known now, or, when a factory makes it, in each run. */
function promptOf(
  { systemPrompt }: FilesystemMiddlewareOptions,
  backend: BackendSource,
  tools: readonly BuiltInTool[],
): PromptHooks {
  if (isMadeForRun(backend) && tools.some(({ name }) => name === "execute" || name === "delete"))
    return { wrapModelCall: offerWhatIsServed(backend, systemPrompt, new Set<unknown>(tools)) };
  const section = sectionOf(systemPrompt, backend);
  return { wrapModelCall: appendSection(section), [PROMPT_SECTION]: section };
}

type WrapModelCall = NonNullable<AgentMiddleware["wrapModelCall"]>;

/** Hides those of our tools that this run's backend has no method for, and speaks of the others. */
function offerWhatIsServed(
  source: BackendSource,
  systemPrompt: string | null | undefined,
  ours: ReadonlySet<unknown>,
): WrapModelCall {
  return async (request, handler) => {
    const runtime = { ...request.runtime, state: request.state } as unknown as ToolCallRuntime;
    const backend = await resolveBackend(source, backendRuntime(runtime));
    const tools = request.tools.filter(
      (tool) => !ours.has(tool) || serves(backend, (tool as BuiltInTool).name),
    );
    const narrowed = tools.length === request.tools.length ? request : { ...request, tools };
    return appendSection(sectionOf(systemPrompt, backend))(narrowed, handler);
  };
}

function toolsOf(options: FilesystemMiddlewareOptions, backend: BackendSource): readonly BuiltInTool[] {
  const { tools, customToolDescriptions: descriptions } = options;
  const wanted = Array.isArray(tools) ? new Set(tools) : undefined;
  const common: FileToolOptions & ExecuteToolOptions = {
    backend: (runtime) => resolveBackend(backend, runtime),
    allowedPrefixes: options.allowedPrefixes ?? undefined,
    validatePath: options.validatePath ?? undefined,
    grepMaxCount: options.grepMaxCount,
    overwrite: options.overwrite ?? false,
    maxTimeout: options.maxExecuteTimeout ?? undefined,
  };
  return FILESYSTEM_TOOL_NAMES.filter((name) => wanted === undefined || wanted.has(name))
    .filter((name) => isMadeForRun(backend) || serves(backend, name))
    .map((name) => MAKERS[name]({ ...common, description: descriptions?.[name] }));
}

function serves(backend: BackendSource, tool: string): boolean {
  if (tool === "execute") return isSandboxProtocol(backend);
  return tool !== "delete" || typeof (backend as BackendProtocol).delete === "function";
}

function sectionOf(given: string | null | undefined, backend: BackendSource): PromptSection {
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

/** Said when the model can run commands. */
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
  "allowedPrefixes",
  "validatePath",
]);

function checkOptions(options: FilesystemMiddlewareOptions): void {
  const unknown = Object.entries(options).find(
    ([key, value]) => value != null && !OPTION_NAMES.has(key),
  )?.[0];
  if (unknown !== undefined)
    throw new ConfigurationError("UNKNOWN_OPTION", `createFilesystemMiddleware has no option '${unknown}'.`, {
      hint: `Its options are: ${[...OPTION_NAMES].join(", ")}.`,
    });
  const { tools, customToolDescriptions, maxExecuteTimeout } = options;
  if (maxExecuteTimeout != null && !(maxExecuteTimeout > 0))
    throw new ConfigurationError(
      "INVALID_OPTION",
      `The option 'maxExecuteTimeout' must be more than 0 seconds, not ${maxExecuteTimeout}.`,
    );
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
