/**
 * Everything an app needs of the harness: a model from settings, an agent on a workspace, its events, its state, and a
 * person's answers. An app that imports only this module can exchange the harness here.
 */

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseCheckpointSaver, Command, type Interrupt } from "@langchain/langgraph";
import {
  type AnySubAgent,
  ConfigurationError,
  type CreateDeepAgentParams,
  createDeepAgent,
  type Decision,
  type DeepAgent,
  GENERAL_PURPOSE_SUBAGENT,
  type InterruptOn,
  isAsyncSubAgent,
} from "deepwright";
import { checkNames } from "deepwright/check-options";
import { buildLlm, type LlmSettings } from "./agent-core/llm.ts";
import { memoryTool } from "./agent-core/memory-tool.ts";
import { type AgentMode, checkedMode, modePrompt } from "./agent-core/prompt.ts";
import { chosenSearch, type SearchSettings } from "./agent-core/search-settings.ts";
import { type AgentEvents, eventsOf, type StreamConfig, type StreamingAgent } from "./agent-core/stream.ts";
import { type WebSearch, webSearchTool } from "./agent-core/web-search.ts";
import { openWorkspace } from "./agent-core/workspace.ts";

export type { LlmSettings } from "./agent-core/llm.ts";
export type { AgentMode } from "./agent-core/prompt.ts";
export type { SearchSettings } from "./agent-core/search-settings.ts";
export type { AgentEvent, AgentEvents } from "./agent-core/stream.ts";
export type { WebSearch } from "./agent-core/web-search.ts";
export { buildLlm };

/** null means absent. */
export interface BuildAgentOptions {
  /** An existing directory; `/` in file paths of the agent. */
  readonly workspaceDir: string;
  /** Needed when a person approves calls (`withHitl`). */
  readonly checkpointer?: BaseCheckpointSaver | null;
  /** Default `cowork`. */
  readonly mode?: AgentMode | null;
  /** The thread of runs that name no thread. */
  readonly threadId?: string | null;
  /** Whether a person approves each write_file, edit_file, delete, execute and memory. Default true. */
  readonly withHitl?: boolean | null;
  /** Whether subagents ask as well. Default true. */
  readonly childHitl?: boolean | null;
  readonly tools?: CreateDeepAgentParams["tools"];
  /** Replaces our prompt about the mode and the workspace. */
  readonly systemPrompt?: string | null;
  /** Settings of the model. Absent: the default model of the harness. */
  readonly settings?: LlmSettings | null;
  /** A model object, instead of `settings`. */
  readonly model?: BaseChatModel | null;
  readonly subagents?: readonly AnySubAgent[] | null;
  /**
   * The tool `web_search`: a search function of the app, or settings of a known search service. Absent: Tavily when
   * TAVILY_API_KEY is set, else no such tool. `false`: no such tool.
   */
  readonly search?: WebSearch | SearchSettings | false | null;
  /** Whether the prompt contains AGENTS.md of the workspace and the tool `memory` keeps notes in it. Default true. */
  readonly memory?: boolean | null;
  /**
   * Where commands run. Default `os`: in a sandbox that can change only the workspace and has no network. If this machine
   * cannot make one, `buildAgent` fails with the reason. `none`: as the user of this process, without any isolation.
   */
  readonly sandbox?: "os" | "none" | null;
  /** Environment variables of commands. They inherit none from this process. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Model calls of the agent itself in a run; each task of a subagent has as many of its own. Default 25. */
  readonly maxSteps?: number | null;
  /** Seconds a command may take. Default 60. */
  readonly commandTimeout?: number | null;
  /** Bytes of output of one command. Default 50,000. */
  readonly maxOutputBytes?: number | null;
  /** Default: `skills` in DEEPWRIGHT_HOME, else in `~/.deepwright`. Skills of the workspace win over them. */
  readonly globalSkillsDir?: string | null;
}

/** `close` ends the commands and sandboxes of the agent. Safe to call twice. */
export type AppAgent = DeepAgent & {
  readonly threadId: string | undefined;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Tools that change files of the user or run commands. */
const ASKED_TOOLS = ["write_file", "edit_file", "delete", "execute", "memory"];
const MEMORY = "/AGENTS.md";

const OPTIONS: readonly (keyof BuildAgentOptions)[] = [
  ...(["workspaceDir", "checkpointer", "mode", "threadId", "withHitl", "childHitl", "tools"] as const),
  ...(["systemPrompt", "settings", "model", "subagents", "search", "memory", "sandbox", "env"] as const),
  ...(["maxSteps", "commandTimeout", "maxOutputBytes", "globalSkillsDir"] as const),
];

export async function buildAgent(options: BuildAgentOptions): Promise<AppAgent> {
  checkOptions(options);
  const mode = checkedMode(options.mode ?? "cowork");
  const search = chosenSearch(options.search, process.env);
  const withMemory = options.memory ?? true;
  const model = options.model ?? (options.settings ? await buildLlm(options.settings) : undefined);
  const workspace = await openWorkspace({
    workspaceDir: options.workspaceDir,
    sandbox: options.sandbox ?? "os",
    timeout: options.commandTimeout ?? 60,
    maxOutputBytes: options.maxOutputBytes ?? 50_000,
    env: options.env ?? {},
    globalSkillsDir: options.globalSkillsDir ?? undefined,
  });
  try {
    const agent = createDeepAgent({
      model: model ?? null,
      tools: [
        ...(options.tools ?? []),
        ...(search ? [webSearchTool(search)] : []),
        ...(withMemory ? [memoryTool(workspace.files, MEMORY)] : []),
      ],
      systemPrompt: options.systemPrompt ?? modePrompt(mode, options.workspaceDir),
      backend: workspace.backend,
      skills: workspace.skills,
      memory: withMemory ? [MEMORY] : [],
      interruptOn: (options.withHitl ?? true) ? asking(true) : null,
      subagents: team(options, workspace.skills),
      checkpointer: options.checkpointer ?? null,
      budget: { maxStepsPerAgent: options.maxSteps ?? 25 },
    });
    const { close } = workspace;
    const own = { threadId: options.threadId ?? undefined, close, [Symbol.asyncDispose]: close };
    return Object.assign(agent, own) as unknown as AppAgent;
  } catch (error) {
    await workspace.close();
    throw error;
  }
}

/** The run starts with the first read. Events: `updates` and `messages` of the agent and its subagents. */
export function streamEvents(
  agent: StreamingAgent & { readonly threadId?: string | undefined },
  input: unknown,
  config: StreamConfig = {},
): AgentEvents {
  const configurable = {
    ...(agent.threadId !== undefined && { thread_id: agent.threadId }),
    ...config.configurable,
  };
  return eventsOf(agent, input, { ...config, configurable });
}

export interface AgentState {
  /** `messages`, `todos` and other state of the agent; empty for a new thread. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Questions to a person; answered with `resumeAgentInput`. */
  readonly interrupts: readonly Interrupt[];
  /** Steps that are still open; empty when the last run ended. */
  readonly next: readonly string[];
  /** Time when this state was stored, in ISO 8601. */
  readonly createdAt?: string;
}

export async function getAgentState(
  agent: Pick<AppAgent, "getState">,
  threadId: string,
): Promise<AgentState> {
  const snapshot = await agent.getState({ configurable: { thread_id: threadId } });
  return {
    values: publicValues(snapshot.values as Record<string, unknown>),
    interrupts: snapshot.tasks.flatMap(({ interrupts }) => interrupts),
    next: snapshot.next,
    ...(snapshot.createdAt !== undefined && { createdAt: snapshot.createdAt }),
  };
}

/** Leaves out keys that begin with `_`: they are internal state of the harness. */
function publicValues(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([key, value]) => !key.startsWith("_") && value !== undefined),
  );
}

/** One decision for each action of the question, in order. If several interrupts wait: such a list by interrupt id. */
export function resumeAgentInput(
  decisions: readonly Decision[] | Readonly<Record<string, readonly Decision[]>>,
): Command {
  if (Array.isArray(decisions)) return new Command({ resume: { decisions } });
  const byId = Object.entries(decisions).map(([id, given]) => [id, { decisions: given }]);
  return new Command({ resume: Object.fromEntries(byId) });
}

/** The `interruptOn` option: true asks a person before these tools, false never asks. */
function asking(isAsked: boolean): InterruptOn {
  return Object.fromEntries(ASKED_TOOLS.map((name) => [name, isAsked]));
}

/** Subagents inherit the questions of the agent. With `childHitl: false`, they ask only what they define themselves. */
function team(
  { subagents, withHitl, childHitl }: BuildAgentOptions,
  skills: readonly string[],
): readonly AnySubAgent[] {
  const given = subagents ?? [];
  if ((childHitl ?? true) || withHitl === false) return given;
  const hasGeneral = given.some(({ name }) => name === GENERAL_PURPOSE_SUBAGENT.name);
  const all = hasGeneral ? given : [{ ...GENERAL_PURPOSE_SUBAGENT, skills }, ...given];
  return all.map((child) =>
    isAsyncSubAgent(child) || "runnable" in child
      ? child
      : { ...child, interruptOn: { ...asking(false), ...child.interruptOn } },
  );
}

function checkOptions(options: BuildAgentOptions): void {
  if (typeof options !== "object" || options === null || typeof options.workspaceDir !== "string")
    throw new ConfigurationError("INVALID_OPTION", "buildAgent needs the option 'workspaceDir'.");
  checkNames("buildAgent", options, OPTIONS);
  const { sandbox } = options;
  if (sandbox != null && sandbox !== "os" && sandbox !== "none")
    throw new ConfigurationError("INVALID_OPTION", "The option 'sandbox' must be 'os' or 'none'.");
}
