/** createConsolidationAgent: an agent that reviews recent conversations and rewrites memory files. */

import { createDeepAgent, type DeepAgent } from "../agent.ts";
import type { AgentTool, AnyMiddleware, CreateDeepAgentParams } from "../agent-types.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { StateBackend } from "../backends/state/state.ts";
import { checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import { createFilesystemMiddleware } from "../middleware/filesystem.ts";
import { withHome } from "../middleware/home-path.ts";
import { canonicalPath } from "../paths.ts";
import { agentFiles } from "./agent-files.ts";
import {
  busy,
  type ConsolidateOptions,
  type Consolidation,
  type ConsolidationReport,
  consolidate,
} from "./consolidate.ts";
import { type ConversationSource, withoutOwnRuns } from "./conversations.ts";
import { WrittenPaths } from "./lasting-storage.ts";
import { createSearchConversationsTool } from "./search-conversations.ts";
import { CONSOLIDATION_PROMPT } from "./words.ts";

/** null means absent. */
export interface ConsolidationAgentOptions {
  readonly model?: CreateDeepAgentParams["model"];
  /** Conversations to review, and no others: the source sets the scope. */
  readonly conversations: ConversationSource;
  /** The memory files, e.g. `["/AGENTS.md"]`. The agent can read and change these alone. */
  readonly memory: readonly string[];
  /** Where the memory files are; they must outlast a thread. What routes and factories lead to is checked by `consolidate`. */
  readonly backend: BackendSource;
  /** Replaces our instructions. */
  readonly systemPrompt?: string | null;
  /** Where diffs are kept, and how far was looked. Default: `memory_history` where relative paths lie. */
  readonly historyDirectory?: string | null;
  /** The share of a file's lines a run may take away before the file is put back; 1 lets all go. Default: 0.5. */
  readonly maxRemoved?: number | null;
  /** How many conversations one run reviews; the next one goes on. Default: 50. */
  readonly maxConversations?: number | null;
  /** More than the tools for files and conversations. */
  readonly tools?: readonly AgentTool[] | null;
  readonly middleware?: readonly AnyMiddleware[] | null;
  readonly store?: CreateDeepAgentParams["store"];
  readonly checkpointer?: CreateDeepAgentParams["checkpointer"];
  readonly name?: string | null;
}

export interface ConsolidationAgent extends DeepAgent {
  /** Reviews what is new, changes memory, keeps a diff. One at a time. */
  consolidate(options?: ConsolidateOptions): Promise<ConsolidationReport>;
}

/** Like createDeepAgent synchronous and without I/O. */
export function createConsolidationAgent(options: ConsolidationAgentOptions): ConsolidationAgent {
  const settings = checked(options);
  const written = new WrittenPaths();
  const { model, tools, middleware, store, checkpointer, name, systemPrompt } = options;
  const agent = createDeepAgent({
    model: model ?? null,
    systemPrompt: systemPrompt ?? CONSOLIDATION_PROMPT,
    backend: agentFiles(settings.backend, settings.memory, (path) => written.add(path)),
    tools: [createSearchConversationsTool(settings.conversations), ...(tools ?? [])],
    middleware: [
      { todoListMiddleware: false, subAgentMiddleware: false },
      createFilesystemMiddleware({ tools: ["read_file", "edit_file", "write_file"] }),
      ...(middleware ?? []),
    ],
    store: store ?? null,
    checkpointer: checkpointer ?? null,
    name: name ?? "consolidation",
  }) as unknown as DeepAgent;
  return Object.assign(agent, { consolidate: oneAtATime({ ...settings, agent, written }) });
}

/** Also where the conversations know no claims. */
function oneAtATime(settings: Consolidation): ConsolidationAgent["consolidate"] {
  let isWorking = false;
  return async (options = {}) => {
    if (isWorking) throw busy();
    isWorking = true;
    try {
      return await consolidate(settings, options);
    } finally {
      isWorking = false;
    }
  };
}

const OPTION_NAMES = new Set([
  "model",
  "conversations",
  "memory",
  "backend",
  "systemPrompt",
  "historyDirectory",
  "maxRemoved",
  "maxConversations",
  "tools",
  "middleware",
  "store",
  "checkpointer",
  "name",
]);
/** Where relative paths lie. */
const HISTORY_DIRECTORY = "memory_history";
const MAX_REMOVED = 0.5;
const MAX_CONVERSATIONS = 50;
const SOURCE_METHODS = ["list", "read", "search"] as const;

function checked(options: ConsolidationAgentOptions): Omit<Consolidation, "agent" | "written"> {
  checkNames("createConsolidationAgent", options, OPTION_NAMES);
  const { conversations, memory, backend, store } = options ?? {};
  const missing = SOURCE_METHODS.find((method) => typeof conversations?.[method] !== "function");
  if (missing !== undefined)
    throw invalid(
      `The option 'conversations' must be a source of conversations, e.g. conversationsOf(saver); its method '${missing}' is missing.`,
    );
  if (!backend || backend instanceof StateBackend || backend === StateBackend)
    throw invalid("The option 'backend' must name where the memory files are, and outlast a thread.");
  if (!Array.isArray(memory) || memory.length === 0)
    throw invalid("The option 'memory' must be a list of at least one path.");
  const directory =
    (typeof backend === "function" ? undefined : (backend as BackendProtocol).workingDirectory) ?? "/";
  const base = { base: directory };
  return {
    conversations: withoutOwnRuns(conversations),
    memory: [...new Set(memory.map((path) => pathOption("memory", path, base)))],
    backend,
    store: store ?? undefined,
    historyDirectory: pathOption("historyDirectory", options.historyDirectory ?? HISTORY_DIRECTORY, base),
    maxRemoved: numberOption("maxRemoved", options.maxRemoved ?? MAX_REMOVED, 0, 1),
    maxConversations: Math.floor(
      numberOption("maxConversations", options.maxConversations ?? MAX_CONVERSATIONS, 1, 10_000),
    ),
  };
}

function pathOption(name: string, given: string, base: { readonly base: string }): string {
  const { path, error } = canonicalPath(typeof given === "string" ? withHome(given) : given, base);
  if (error === undefined) return path;
  throw invalid(`The option '${name}' has a path that cannot be used: ${error}.`);
}

function numberOption(name: string, value: number, least: number, most: number): number {
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw invalid(`The option '${name}' must be a number from ${least} to ${most}, not ${String(value)}.`);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
