/** File tools on a backend, the state they keep their files in, and a few words about them. */
import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state.ts";
import { ConfigurationError } from "../errors.ts";
import {
  appendSection,
  PROMPT_SECTION,
  type PromptSection,
  type WithPromptSection,
} from "../loop/prompt-section.ts";
import type { BuiltInTool } from "../tools/built-in-tool.ts";
import { createDeleteTool } from "../tools/delete.ts";
import { createEditFileTool } from "../tools/edit-file.ts";
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
} as const;

/** `execute` is a name too: it appears with backends that can run commands. */
export type FsToolName = keyof typeof MAKERS | "execute";

export const FILESYSTEM_TOOL_NAMES: readonly FsToolName[] = [
  ...(Object.keys(MAKERS) as FsToolName[]),
  "execute",
];

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
  const section = sectionOf(options.systemPrompt);
  return {
    name: "FilesystemMiddleware",
    tools: toolsOf(options, backend),
    ...(mayUseState(backend) ? { stateSchema: new StateSchema({ files: filesValue }) } : {}),
    wrapModelCall: appendSection(section),
    [PROMPT_SECTION]: section,
    [INHERIT]: (defaults: AgentDefaults) =>
      createFilesystemMiddleware({ ...options, backend: options.backend ?? defaults.backend }),
  };
}

function toolsOf(options: FilesystemMiddlewareOptions, backend: BackendSource): readonly BuiltInTool[] {
  const { tools, customToolDescriptions: descriptions } = options;
  const wanted = Array.isArray(tools) ? new Set(tools) : undefined;
  const common: FileToolOptions = {
    backend: (runtime) => resolveBackend(backend, runtime),
    allowedPrefixes: options.allowedPrefixes ?? undefined,
    validatePath: options.validatePath ?? undefined,
    grepMaxCount: options.grepMaxCount,
    overwrite: options.overwrite ?? false,
  };
  return Object.entries(MAKERS)
    .filter(([name]) => wanted === undefined || wanted.has(name as FsToolName))
    .filter(([name]) => name !== "delete" || canDelete(backend))
    .map(([name, make]) => make({ ...common, description: descriptions?.[name as FsToolName] }));
}

/** What a factory will make is not known; the tool itself then says if it cannot. */
function canDelete(backend: BackendSource): boolean {
  return typeof backend === "function" || typeof backend.delete === "function";
}

function mayUseState(backend: BackendSource): boolean {
  return typeof backend === "function" || backend instanceof StateBackend;
}

function sectionOf(given: string | null | undefined): PromptSection {
  return (visible) => {
    if (!FILESYSTEM_TOOL_NAMES.some((name) => visible.has(name))) return "";
    return given ?? filesSection(visible);
  };
}

/** Speaks only of tools the model can see. */
export const filesSection: PromptSection = (visible) => {
  const lines = ["## Files", "Paths are absolute and begin with `/`."];
  const finders = ["glob", "grep"].filter((name) => visible.has(name)).map((name) => `\`${name}\``);
  if (finders.length > 0 && visible.has("read_file"))
    lines.push(`Find what you need with ${finders.join(" and ")} before you read it.`);
  if (visible.has("write_file")) lines.push("Keep long results and notes in files instead of messages.");
  return lines.join("\n");
};

const OPTION_NAMES = new Set([
  "backend",
  "systemPrompt",
  "customToolDescriptions",
  "tools",
  "grepMaxCount",
  "overwrite",
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
  const { tools, customToolDescriptions } = options;
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
