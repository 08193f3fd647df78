/** The memory of a named agent on this machine: one file of the user, one of the project. */
import type { AgentMiddleware } from "langchain";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { checkKind, checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { memoryMiddleware } from "./memory.ts";

/** Settings that are asked for. */
export interface AgentMemorySettings {
  getUserAgentMdPath(agentName: string): string;
  /** null outside a project. */
  getProjectAgentMdPath(): string | null;
}

export interface AgentMemoryMiddlewareOptions {
  readonly settings: AgentMemorySettings;
  /** The name of the agent. */
  readonly assistantId: string;
  /**
   * Replaces our words before the files. `{user_memory}` and `{project_memory}` in it become the paths of the files,
   * which follow.
   */
  readonly systemPromptTemplate?: string | null;
}

/**
 * Reads the disk, independent of the agent's backend. The option `memory`, or `createMemoryMiddleware`, does the same
 * through any backend.
 */
export function createAgentMemoryMiddleware(
  options: AgentMemoryMiddlewareOptions,
): AgentMiddleware & WithStages {
  checkOptions(options);
  const { settings, assistantId, systemPromptTemplate } = options;
  const user = settings.getUserAgentMdPath(assistantId);
  const project = settings.getProjectAgentMdPath();
  const guide = systemPromptTemplate
    ?.replaceAll("{user_memory}", () => user)
    .replaceAll("{project_memory}", () => project ?? "(not in a project)");
  return memoryMiddleware("AgentMemoryMiddleware", "_agentMemory", {
    backend: new FilesystemBackend({ rootDir: "/" }),
    sources: project === null ? [user] : [user, project],
    systemPrompt: guide ?? null,
    nested: false,
  });
}

const OPTION_NAMES = ["settings", "assistantId", "systemPromptTemplate"];

function checkOptions(options: AgentMemoryMiddlewareOptions): void {
  checkNames("createAgentMemoryMiddleware", options, OPTION_NAMES);
  const { settings, assistantId, systemPromptTemplate } = options ?? {};
  if (
    typeof settings?.getUserAgentMdPath !== "function" ||
    typeof settings.getProjectAgentMdPath !== "function"
  )
    throw new ConfigurationError("INVALID_OPTION", "The option 'settings' must say where the files are.", {
      hint: "For example createSettings().",
    });
  if (typeof assistantId !== "string" || assistantId === "")
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'assistantId' must be the name of the agent.",
      {
        hint: 'For example "main".',
      },
    );
  checkKind("string", { systemPromptTemplate });
}
