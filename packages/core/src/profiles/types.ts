/** Profiles of a model: how an agent on it is built, and how the model is made. */
import type { AgentMiddleware } from "langchain";

/** The subagent that every agent has by default. Absent: as without a profile. */
export interface GeneralPurposeSubagentConfig {
  readonly enabled?: boolean;
  readonly name?: string;
  /** Text that the model reads when it chooses a subagent. */
  readonly description?: string;
  readonly systemPrompt?: string;
}

export type ExtraMiddleware = readonly AgentMiddleware[] | (() => readonly AgentMiddleware[]);

/** As people write it. Absent and null: inherited from a wider profile, else as without one. */
export interface HarnessProfileOptions {
  /** Takes the place of our base prompt; `""` leaves it out. */
  readonly baseSystemPrompt?: string | null;
  /** The last words of the system prompt; `""` takes those of a wider profile away. */
  readonly systemPromptSuffix?: string | null;
  /** By the name of the tool, built-in or not. Names of tools an agent does not have are passed over. */
  readonly toolDescriptionOverrides?: Readonly<Record<string, string>> | null;
  /** Neither offered nor callable, wherever they come from. */
  readonly excludedTools?: Iterable<string> | null;
  /** By name, in any case. Those of `REQUIRED_MIDDLEWARE_NAMES` are refused. */
  readonly excludedMiddleware?: Iterable<string> | null;
  /** After the user's; a function is called for each agent, for middleware that keeps something. */
  readonly extraMiddleware?: ExtraMiddleware | null;
  readonly generalPurposeSubagent?: GeneralPurposeSubagentConfig | null;
}

/** Checked and frozen. An undefined field is inherited. */
export interface HarnessProfile {
  readonly baseSystemPrompt: string | undefined;
  readonly systemPromptSuffix: string | undefined;
  readonly toolDescriptionOverrides: Readonly<Record<string, string>>;
  readonly excludedTools: ReadonlySet<string>;
  readonly excludedMiddleware: ReadonlySet<string>;
  readonly extraMiddleware: ExtraMiddleware;
  readonly generalPurposeSubagent: GeneralPurposeSubagentConfig | undefined;
}

/** Options `initChatModel` gets for models named by a `provider:model` string; an instance is used as it is. */
export interface ProviderProfile {
  readonly initOptions?: Readonly<Record<string, unknown>> | null;
  /** Another name for the same. */
  readonly initKwargs?: Readonly<Record<string, unknown>> | null;
  readonly init_kwargs?: Readonly<Record<string, unknown>> | null;
}

/** Middleware that no profile removes: files, subagents, and limits that the user set. */
export const REQUIRED_MIDDLEWARE_NAMES: ReadonlySet<string> = new Set([
  "FilesystemMiddleware",
  "SubAgentMiddleware",
  "PermissionsMiddleware",
  "BudgetMiddleware",
]);
